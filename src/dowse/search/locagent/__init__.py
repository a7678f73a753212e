"""Ranking profile ``locagent``: BM25 over chunks that are cut as LocAgent cuts Python files, to compare with it."""
