"""Says whether blocks nest deeper than a grammar stands: a scanner that overflows ends the whole process.

What counts is at how many columns blocks may begin anywhere in a file. That is an upper bound of how deep they nest,
whatever is open at which line, and small for long files: their blocks begin at the same few columns.
"""

from __future__ import annotations

import re
from functools import cache

from dowse.code.languages.spec import Language

_FIRST = re.compile(r"(?<![^ \t])(?![ \t])")
"""A place after a blank or at the beginning, and before something else."""


def is_too_deep(language: Language, content: bytes) -> bool:
    """Whether blocks may begin at more columns than the grammar of the language stands."""
    if len(content) < language.deepest or not language.deepest:
        return False
    text = content.decode("utf-8-sig", "replace").replace("\r", "\n")
    heads, runs = _patterns(language.marks)
    is_narrow = " " * (language.deepest // 2) not in text and "\t" not in text
    if is_narrow and not runs.search(text):
        return False  # a line begins with blanks, a mark and blanks at most: seen in a fraction of the time
    columns: set[int] = set()
    for head in set(heads.findall(text)):
        columns.update(first.start() for first in _FIRST.finditer(head))
    for run in runs.finditer(text):
        start = run.start() - text.rfind("\n", 0, run.start()) - 1
        columns.update(start + first.start() for first in _FIRST.finditer(run.group()))
        if len(columns) > language.deepest:
            break  # also because looking for the beginning of one long line again and again takes time
    return len(columns) > language.deepest


@cache
def _patterns(marks: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What a line begins with, and marks in a row anywhere: after an error they open blocks within a line."""
    mark = f"[{re.escape(marks)}]"
    heads = re.compile(rf"^[ \t]*(?:{mark}+[ \t]+)*", re.MULTILINE)
    return heads, re.compile(rf"{mark}(?<!\S\S)[ \t]+(?:{mark}(?:[ \t]+|$))+", re.MULTILINE)
