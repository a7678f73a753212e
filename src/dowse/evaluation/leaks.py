"""Does a question give its answer away? A search that only looks at file names would do well on those that do."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dowse.code import tokens
from dowse.evaluation.eval_types import Leaks, Question

SHORTEST = 3
"""Letters of a word or stem below which it says nothing: ``io``, ``db``."""

PLAIN_STEMS = frozenset({"__init__", "__main__", "index", "main", "mod", "lib", "init", "readme"})
"""File names that say nothing: the folder is the name there."""


def check(questions: Iterable[Question]) -> Leaks:
    """How many questions name a file that answers them, and how many share a word with its name."""
    found = list(questions)
    named = sum(any(names_file(q.query, t.path) for t in q.relevant) for q in found)
    hinted = sum(any(hints_at(q.query, t.path) for t in q.relevant) for q in found)
    return Leaks(len(found), named, hinted)


def names_file(query: str, path: str) -> bool:
    """Whether a question has the path, the file's name, or its stem as a word by itself."""
    lower = query.lower()
    name = path.rpartition("/")[2].lower()
    if name in lower or path.lower() in lower:
        return True
    stem = stem_of(path).lower()
    return len(stem) >= SHORTEST and re.search(rf"(?<!\w){re.escape(stem)}(?!\w)", lower) is not None


def hints_at(query: str, path: str) -> bool:
    """Whether a question has a word of the file's name, in any form."""
    words = {tokens.stem(word) for word in tokens.path_words(stem_of(path)) if len(word) >= SHORTEST}
    return not words.isdisjoint(tokens.tokens(query).split())


def stem_of(path: str) -> str:
    """The name of a file without extensions, or of its folder where the name says nothing."""
    folder, _, name = path.rpartition("/")
    stem = name.lstrip(".").partition(".")[0] or name
    return folder.rpartition("/")[2] if stem.lower() in PLAIN_STEMS and folder else stem
