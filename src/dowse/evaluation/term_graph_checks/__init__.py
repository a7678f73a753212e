"""Synonym list quality: lint a term graph, measure whether its query expansion helps, and suggest missing synonyms."""
