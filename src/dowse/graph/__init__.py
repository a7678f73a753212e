"""The code graph: resolves names to definitions, and answers who calls, imports, inherits from or depends on what."""
