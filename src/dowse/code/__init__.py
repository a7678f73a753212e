"""Analyze source text: languages, syntax, definitions, chunks, tokens. Pure: no disk, no database."""
