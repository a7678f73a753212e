"""Fuzzy name matching: exact, case-insensitive, prefix, glob, and edit distance (Damerau-Levenshtein) with few typos.

The one definition that every store follows. Letter case matters in the exact tier only.
"""

from __future__ import annotations

import re

from dowse.filters import name_regex
from dowse.types.stored import NameTier

FUZZY_MIN_LENGTH = 4
"""Shorter names have no typos: too many other names are one letter away."""


def matches(tier: NameTier, pattern: str, name: str) -> bool:
    """Whether a name matches a pattern in this way."""
    if tier is NameTier.EXACT:
        return name == pattern
    pattern, name = pattern.lower(), name.lower()
    if tier is NameTier.CASE:
        return name == pattern
    if tier is NameTier.PREFIX:
        return name.startswith(pattern)
    if tier is NameTier.GLOB:
        return re.fullmatch(name_regex(pattern), name) is not None
    return is_within_typos(pattern, name)


def max_typos(pattern: str) -> int:
    """Return how many letters may be wrong: none in short names, one in most, two in long ones."""
    return 0 if len(pattern) < FUZZY_MIN_LENGTH else 1 if len(pattern) < 9 else 2


def is_within_typos(pattern: str, name: str) -> bool:
    """Whether the two differ by at most the allowed insertions, deletions, substitutions and swaps."""
    allowed = max_typos(pattern)
    return abs(len(pattern) - len(name)) <= allowed and edit_distance(pattern, name, allowed) <= allowed


def edit_distance(a: str, b: str, most: int | None = None) -> int:
    """Compute the edit distance in which swapping two neighbours is one edit; beyond ``most``, any larger number."""
    most = len(a) + len(b) if most is None else most
    before, last = [0] * (len(b) + 1), list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        first, end = max(1, i - most), min(len(b), i + most)
        row = [i] + [most + 1] * len(b)  # what is farther from the diagonal takes more edits
        for j in range(first, end + 1):
            cb = b[j - 1]
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (ca != cb))
            if i > 1 and j > 1 and ca == b[j - 2] and a[i - 2] == cb:
                cost = min(cost, before[j - 2] + 1)
            row[j] = cost
        if min(row) > most and min(last) > most:  # a swap builds on the row before the last
            return most + 1
        before, last = last, row
    return last[-1]


def path_ends_with(path: str, tail: str) -> bool:
    """Whether the last parts of a path are these; the last one may lack its extension. Lower-case tail."""
    parts, wanted = path.lower().split("/"), tail.split("/")
    if len(wanted) > len(parts) or parts[-len(wanted) : -1] != wanted[:-1]:
        return False
    return wanted[-1] in (parts[-1], parts[-1].lstrip(".").partition(".")[0])
