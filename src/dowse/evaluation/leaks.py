"""Test set leakage check: queries that contain the name of the file they look for, so that file names alone would find
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dowse.code import tokens
from dowse.evaluation.eval_types import EvalQuery, Leaks

MIN_WORD_LETTERS = 3
"""Shorter words and stems say nothing: ``io``, ``db``."""

GENERIC_STEMS = frozenset({"__init__", "__main__", "index", "main", "mod", "lib", "init", "readme"})
"""File names that say nothing: the name of their folder counts instead."""


def count_leaks(eval_queries: Iterable[EvalQuery]) -> Leaks:
    """Count the queries that name a file that answers them, and those that share a word with its name."""
    found = list(eval_queries)
    named = sum(any(names_file(q.query, t.path) for t in q.relevant) for q in found)
    hinted = sum(any(hints_at(q.query, t.path) for t in q.relevant) for q in found)
    return Leaks(len(found), named, hinted)


def names_file(query: str, path: str) -> bool:
    """Tell whether a query has the path, the file's name, or its stem as a whole word."""
    lower = query.lower()
    name = path.rpartition("/")[2].lower()
    if name in lower or path.lower() in lower:
        return True
    stem = get_stem(path).lower()
    return len(stem) >= MIN_WORD_LETTERS and re.search(rf"(?<!\w){re.escape(stem)}(?!\w)", lower) is not None


def hints_at(query: str, path: str) -> bool:
    """Tell whether a query has a word of the file's name, in any inflection."""
    words = {
        tokens.stem(word) for word in tokens.split_path_words(get_stem(path)) if len(word) >= MIN_WORD_LETTERS
    }
    return not words.isdisjoint(tokens.tokenize(query).split())


def get_stem(path: str) -> str:
    """Return the name of a file without extensions, or that of its folder where the name is generic."""
    folder, _, name = path.rpartition("/")
    stem = name.lstrip(".").partition(".")[0] or name
    return folder.rpartition("/")[2] if stem.lower() in GENERIC_STEMS and folder else stem
