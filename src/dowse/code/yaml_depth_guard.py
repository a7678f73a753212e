"""Indentation depth limit for YAML: detect nesting that overflows the grammar's scanner and crashes the process.

Counts at how many columns blocks may begin anywhere in the file: an upper bound of the nesting depth that needs no
parser. Brackets are the business of ``bracket_depth``.
"""

from __future__ import annotations

import re
from functools import cache

from dowse.code.languages.spec import Language

_BLOCK_START = re.compile(r"(?<![^ \t])(?![ \t])")
"""A position after a blank or at the beginning, and before something else."""


def is_too_deep(language: Language, content: bytes) -> bool:
    """Return whether blocks may begin at more columns than the grammar of the language supports."""
    if len(content) < language.deepest or not language.deepest:
        return False
    text = content.decode("utf-8-sig", "replace").replace("\r", "\n")
    heads, runs = _compile_patterns(language.marks)
    is_narrow = " " * (language.deepest // 2) not in text and "\t" not in text
    if is_narrow and not runs.search(text):
        return False  # the frequent case, in a fraction of the time: few blanks, and no marks in a row
    columns: set[int] = set()
    for head in set(heads.findall(text)):
        columns.update(first.start() for first in _BLOCK_START.finditer(head))
    for run in runs.finditer(text):
        start = run.start() - text.rfind("\n", 0, run.start()) - 1
        columns.update(start + first.start() for first in _BLOCK_START.finditer(run.group()))
        if len(columns) > language.deepest:
            break  # also because finding the start of one long line again and again takes time
    return len(columns) > language.deepest


@cache
def _compile_patterns(marks: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile patterns for the start of a line, and for marks in a row, which open blocks after an error anywhere."""
    mark = f"[{re.escape(marks)}]"
    heads = re.compile(rf"^[ \t]*(?:{mark}+[ \t]+)*", re.MULTILINE)
    return heads, re.compile(rf"{mark}(?<!\S\S)[ \t]+(?:{mark}(?:[ \t]+|$))+", re.MULTILINE)
