"""Understands source text: languages, definitions, chunks, tokens. Pure: no disk, no database."""
