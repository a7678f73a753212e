"""Search quality of other engines, on the same queries and trees.

semble, plain BM25 over dowse's own tokens, and ripgrep; an engine that is not available is skipped, and
the notes say why.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

from benchmarks import quality
from benchmarks.bench_types import Figure, Outcome
from benchmarks.competitors import COMPETITORS
from benchmarks.data import MissingDataError
from benchmarks.sets import SETS, QuerySet

PEER_SETS = ("repositories", "swe-qa")
"""Sets that need only paths and lines from an engine."""

PEERS = tuple(name for name in COMPETITORS if name != quality.ENGINE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("peers")
    group.add_argument("--peer", action="append", choices=PEERS, dest="peers", help="only this engine")


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Measure every engine on every set that needs only paths and lines."""
    for name in PEER_SETS:
        if name in (args.sets or PEER_SETS):
            yield _make_outcome(SETS[name], args.peers or PEERS, official=not args.peers)


def _make_outcome(query_set: QuerySet, peers: tuple[str, ...], *, official: bool) -> Outcome:
    figures: list[Figure] = []
    notes: list[str] = []
    for peer in peers:
        try:
            rows = quality.run_variants(query_set, peer, {"": {}}, {})[""]
        except MissingDataError as error:
            notes.append(f"{peer} is not available: {error}")
            continue
        found = query_set.figures(rows)
        figures += [replace(figure, name=f"{peer}: {figure.name}", beside="") for figure in found]
        notes.append(f"{peer}: {COMPETITORS[peer].version()}")
    return Outcome(
        name=f"peers-{query_set.name}",
        title=f"Others: {query_set.title}",
        figures=figures,
        notes=notes,
        official=official,
    )
