"""Relevance judgement: match ranked hits against gold targets (file, lines or definition), with the rank of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dowse.evaluation.eval_types import GoldTarget, Judgement, RankedHit


def judge(
    targets: Sequence[GoldTarget], hits: Sequence[RankedHit], *, suffix_paths: bool = False
) -> Judgement:
    """Find the rank of each target, and of each file that has one.

    A hit covers a file if it is in it; it covers lines if it has one of them; it covers a definition whose lines are
    not known if it is a hit on that definition. Every hit has its own rank, also the second of one file.
    """
    is_same_path = _is_path_suffix if suffix_paths else str.__eq__
    files = dict.fromkeys(target.path for target in targets)
    precise = [target for target in targets if target.start or target.entity]
    return Judgement(
        grades=tuple(target.grade for target in targets),
        ranks=tuple(_find_rank(target, hits, is_same_path) for target in targets),
        relevant=tuple(any(_covers(hit, target, is_same_path) for target in targets) for hit in hits),
        costs=tuple(hit.tokens for hit in hits),
        span_ranks=tuple(_find_rank(target, hits, is_same_path) for target in precise),
        file_ranks=tuple(_find_rank(GoldTarget(path), hits, is_same_path) for path in files),
    )


def keep_best_per_file(hits: Sequence[RankedHit]) -> list[RankedHit]:
    """Keep the best hit of each file."""
    found: dict[str, RankedHit] = {}
    for hit in hits:
        found.setdefault(hit.path, hit)
    return list(found.values())


def _find_rank(
    target: GoldTarget, hits: Sequence[RankedHit], is_same_path: Callable[[str, str], bool]
) -> int:
    return next((rank for rank, hit in enumerate(hits, 1) if _covers(hit, target, is_same_path)), 0)


def _covers(hit: RankedHit, target: GoldTarget, is_same_path: Callable[[str, str], bool]) -> bool:
    if not is_same_path(hit.path, target.path):
        return False
    if target.start:
        return hit.start <= target.end and target.start <= hit.end
    return not target.entity or hit.entity == target.entity


def _is_path_suffix(a: str, b: str) -> bool:
    """Tell whether two paths are equal, or one is the end of the other: their roots may differ."""
    return a == b or a.endswith("/" + b) or b.endswith("/" + a)
