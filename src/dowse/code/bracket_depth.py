"""Nesting depth limit for brackets: detect input that would blow up a tree-sitter parser (denial of service).

A GLR parser keeps every open bracket in each of its stacks: 30 kB of ``A<A<A<`` takes two gigabytes in C#, after the
last byte was read. It cannot be stopped there, so a file that nests deeply is parsed in a worker process. The check
runs on every file, and takes less than a hundredth of the time of parsing.
"""

from __future__ import annotations

from itertools import accumulate

SUSPICIOUS_DEPTH = 150
"""Brackets open at once; code by hand has some twenty, data in JSON a few more."""

_BRACKETS = b"()[]{}"
_STEPS = {ord(opening): 1 for opening in "([{<"} | {ord(closing): -1 for closing in ")]}>"}
_NON_BRACKET_BYTES = bytes(set(range(256)) - set(_BRACKETS))
_NON_ANGLE_BYTES = bytes(set(range(256)) - set(b"<>"))
_ARROWS_AND_SHIFTS = (b"->", b"=>", b"<<", b"<-", b"<=", b">=")


def nests_deeply(content: bytes) -> bool:
    """Return whether more brackets are open somewhere than anybody writes by hand."""
    if _count_openings(content) > SUSPICIOUS_DEPTH and _exceeds_depth(
        content.translate(None, _NON_BRACKET_BYTES)
    ):
        return True
    return content.count(b"<") > SUSPICIOUS_DEPTH and _exceeds_depth(_extract_angles(content))


def _count_openings(content: bytes) -> int:
    return content.count(b"(") + content.count(b"[") + content.count(b"{")


def _extract_angles(content: bytes) -> bytes:
    """Extract the angles that may be brackets."""
    for sign in _ARROWS_AND_SHIFTS:
        content = content.replace(sign, b"")
    return content.translate(None, _NON_ANGLE_BYTES)


def _exceeds_depth(brackets: bytes) -> bool:
    """Return whether too many of these are open at once; superfluous closing brackets hide nothing."""
    steps = list(accumulate(map(_STEPS.__getitem__, brackets), initial=0))
    lows = accumulate(steps, min)
    return any(map(SUSPICIOUS_DEPTH.__lt__, map(int.__sub__, steps, lows)))
