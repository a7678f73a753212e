"""Holds an answer against the truth: which result covers which target."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dowse.evaluation.eval_types import Judged, Place, Target


def judge(targets: Sequence[Target], places: Sequence[Place], *, suffix_paths: bool = False) -> Judged:
    """Ranks of the targets, and of the files they are in.

    A result covers a file if it is in it; it covers lines if it has one of them; it covers a definition whose lines
    are not known if it points at it. Every result has a rank of its own, also the second of one file.
    """
    same = _ends_alike if suffix_paths else str.__eq__
    files = dict.fromkeys(target.path for target in targets)
    precise = [target for target in targets if target.start or target.entity]
    return Judged(
        grades=tuple(target.grade for target in targets),
        ranks=tuple(_rank(target, places, same) for target in targets),
        relevant=tuple(any(_covers(place, target, same) for target in targets) for place in places),
        costs=tuple(place.tokens for place in places),
        span_ranks=tuple(_rank(target, places, same) for target in precise),
        file_ranks=tuple(_rank(Target(path), places, same) for path in files),
    )


def first_of_each_file(places: Sequence[Place]) -> list[Place]:
    """The results as a list of files: of each file the best result."""
    found: dict[str, Place] = {}
    for place in places:
        found.setdefault(place.path, place)
    return list(found.values())


def _rank(target: Target, places: Sequence[Place], same: Callable[[str, str], bool]) -> int:
    return next((rank for rank, place in enumerate(places, 1) if _covers(place, target, same)), 0)


def _covers(place: Place, target: Target, same: Callable[[str, str], bool]) -> bool:
    if not same(place.path, target.path):
        return False
    if target.start:
        return place.start <= target.end and target.start <= place.end
    return not target.entity or place.entity == target.entity


def _ends_alike(a: str, b: str) -> bool:
    """Whether two paths are the same, or one is the end of the other: the roots they start from may differ."""
    return a == b or a.endswith("/" + b) or b.endswith("/" + a)
