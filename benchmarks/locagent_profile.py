"""The profile ``locagent`` beside LocAgent's own hits, and the constants of BM25.

LocAgent's queries come with the ten chunks that its own BM25 gave. Where fewer share a word with the query, it fills
the ten up with others, in no defined order: these have no score, and do not count.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, at_least
from benchmarks.metrics import mean, reciprocal
from benchmarks.sets.locagent import SDISTS
from dowse import Engine, SearchOptions

DEPTH = 10
MIN_OVERLAP = 0.95

PROFILES: Mapping[str, Mapping[str, Any]] = {
    "locagent": {"profile": "locagent", "embedder": "none"},
    "dowse": {"profile": "dowse"},
}

KEYWORDS_ALONE: Mapping[str, Any] = {
    "embedder": "none",
    "fusion": "scores",
    "name_weight": 0.0,
    "file_weight": 0.0,
    "show_low_confidence": True,
}

EMBEDDED = "embedded, k1 1.2, b 0.75"
CONSTANTS: Mapping[str, Mapping[str, Any]] = {
    EMBEDDED: {"store": "embedded"},
    **{
        f"memory, k1 {k1}, b {b}": {"store": "memory", "bm25_k1": k1, "bm25_b": b}
        for k1, b in ((1.2, 0.75), (1.5, 0.75), (0.9, 0.4), (2.0, 0.75))
    },
}
"""Stores and constants. The engine of the embedded store (tantivy) has its own built in; ``memory`` is exact."""


class Place(NamedTuple):
    """Lines of a file."""

    path: str
    start: int
    end: int

    def touches(self, others: Sequence[Place]) -> bool:
        """Return whether it shares a line with one of some places."""
        return any(
            self.path == other.path and self.start <= other.end and other.start <= self.end
            for other in others
        )


Answers = dict[str, list[Place]]
"""The first ten places of every query, by its id."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(_: argparse.Namespace) -> Iterator[Outcome]:
    """Search with every profile, and with keywords alone under every constant."""
    theirs = {label["id"]: _read_places(label) for label in _load_labels()}
    by_profile = {name: _search_all(settings) for name, settings in PROFILES.items()}
    by_constant = {name: _search_all({**KEYWORDS_ALONE, **settings}) for name, settings in CONSTANTS.items()}
    yield Outcome(
        "locagent-profile",
        "The profile locagent beside LocAgent's own hits, and BM25's constants",
        [*_compare_profiles(theirs, by_profile), *_compare_constants(by_constant)],
        notes=(
            f"{len(theirs)} queries; {sum(map(len, theirs.values()))} hits of LocAgent share a word with their query",
        ),
    )


@cache
def _load_labels() -> Sequence[Mapping[str, Any]]:
    text = (data.find_folder("BENCH_HOME") / "locagent_queries.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _read_places(label: Mapping[str, Any]) -> list[Place]:
    hits = (hit for hit in label["content_bm25_top10"] if hit["score"] > 0)
    return [Place(hit["file"], hit["start_line"], hit["end_line"]) for hit in hits]


def _search_all(settings: Mapping[str, Any]) -> Answers:
    found: Answers = {}
    for name, sdist in SDISTS.items():
        tree = data.find_folder("BENCH_SDISTS") / sdist
        labels = [label for label in _load_labels() if label["repo"] == name]
        with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
            found |= _search_tree(tree, Path(folder), labels, settings)
    return found


def _search_tree(
    tree: Path, index: Path, labels: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> Answers:
    with Engine.open(tree, index_dir=str(index), cache="off", **settings) as engine:
        found = {
            label["id"]: engine.search(label["text"], SearchOptions(limit=DEPTH, text=False)).results
            for label in labels
        }
    return {id: [Place(hit.path, hit.start_line, hit.end_line) for hit in hits] for id, hits in found.items()}


def _compare_profiles(theirs: Answers, by_profile: Mapping[str, Answers]) -> Iterator[Figure]:
    for name, found in by_profile.items():
        target = at_least(MIN_OVERLAP) if name == "locagent" else None
        if target:
            yield Figure("locagent: hits of LocAgent, same lines", measure_overlap(theirs, found), "", target)
        touched = measure_overlap(theirs, found, whole=False)
        yield Figure(f"{name}: hits of LocAgent, some of the same lines", touched)
        beside = f"LocAgent: {_measure_mrr(theirs):.3f}"
        yield Figure(f"{name}: MRR@10 of the right file", _measure_mrr(found), beside=beside)


def _compare_constants(by_constant: Mapping[str, Answers]) -> Iterator[Figure]:
    for name, found in by_constant.items():
        shared = measure_overlap(by_constant[EMBEDDED], found)
        beside = f"of the first ten of the embedded store: {shared:.3f}"
        yield Figure(f"keywords alone, {name}: MRR@10 of the right file", _measure_mrr(found), beside=beside)


def measure_overlap(wanted: Answers, found: Answers, *, whole: bool = True) -> float:
    """Compute the share of the wanted places that were found, by the very same lines or by some of them."""
    pairs = [(place, found[id]) for id, places in wanted.items() for place in places]
    return mean(float(place in others if whole else place.touches(others)) for place, others in pairs)


def _measure_mrr(found: Answers) -> float:
    return mean(reciprocal(_rank_file(label, found[label["id"]])) for label in _load_labels())


def _rank_file(label: Mapping[str, Any], places: Sequence[Place]) -> int:
    """Return the rank of the first place in a right file, 0 if there is none."""
    right = {id.partition(":")[0] for id in label["gold"]}
    return next((rank for rank, place in enumerate(places, 1) if place.path in right), 0)
