"""Incremental indexing: discover files, diff the tree against the index, parse, embed and store what changed."""
