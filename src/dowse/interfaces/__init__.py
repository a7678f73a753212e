"""Ways to talk to the engine: each parses, calls the engine and renders; none decides what an answer is."""
