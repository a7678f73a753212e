"""Ground truth mining: generate test queries with known answers from docstrings, symbol names and git history.

A source returns more queries than are wanted; a random seed decides which are taken, spread over as many files as
possible. Nothing is measured here; ``checkouts.py`` makes sure that the tree does not give answers away.
"""

from __future__ import annotations

import os
import random
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dowse import safe_files
from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.evaluation.eval_types import Dataset, EvalQuery
from dowse.evaluation.mining import commits, docs, symbol_names
from dowse.indexing.pipeline import Progress
from dowse.search.query import parse

Source = Callable[[Engine, int, random.Random], list[EvalQuery]]
"""Mines queries from an up-to-date index, at least as many as wanted if it has them."""

_SYNTAX = re.compile(r"[\"\\]|(?<=\w):(?=\S)|(?<!\S)[-/]+(?=\S)")
"""Query syntax: quotes, the colon of a field, and the signs that exclude a word or begin a pattern."""

SOURCES: Mapping[str, Source] = {
    "docs": docs.mine_queries,
    "symbols": symbol_names.mine_queries,
    "git": commits.mine_queries,
}


def parse_sources(given: str | None) -> tuple[str, ...]:
    """Parse sources like ``docs,git``; all of them if none are given."""
    chosen = tuple(dict.fromkeys(part.strip().lower() for part in (given or "").split(",") if part.strip()))
    if unknown := [name for name in chosen if name not in SOURCES]:
        raise UsageError(f"nothing can be mined from '{unknown[0]}': there are {', '.join(SOURCES)}")
    return chosen or tuple(SOURCES)


def mine(
    engine: Engine, count: int, chosen: Sequence[str], seed: int, progress: Progress | None = None
) -> Dataset:
    """Mine that many queries, the same number from each source as far as they have them."""
    engine.index(progress)
    mined, notes = {}, []
    for name in chosen:
        try:
            candidates = SOURCES[name](engine, -(-count // len(chosen)), random.Random(seed))
            found = [plain for eval_query in candidates if (plain := _strip_syntax(eval_query))]
            mined[name] = _shuffle_by_file(found, random.Random(seed))
            if not found:
                notes.append(f"nothing was mined from {name}: it has no query that would tell anything")
        except UsageError as error:
            if len(chosen) == 1:
                raise
            mined[name] = []
            notes.append(f"nothing was mined from {name}: {error}")
    eval_queries: list[EvalQuery] = []
    for name, share in _allocate(count, {name: len(found) for name, found in mined.items()}).items():
        chosen_queries = mined[name][:share]
        eval_queries += [replace(q, id=f"{name}-{number}") for number, q in enumerate(chosen_queries, 1)]
    if not eval_queries:
        raise UsageError(f"nothing to mine from {', '.join(chosen)} in {engine.root}: write queries by hand")
    if len(eval_queries) < count:
        notes.append(f"{len(eval_queries)} queries, not {count}: there are no more that would tell anything")
    return Dataset(
        f"{len(eval_queries)} mined queries (seed {seed})", tuple(eval_queries), notes=tuple(notes)
    )


def _strip_syntax(eval_query: EvalQuery) -> EvalQuery | None:
    query = strip_syntax(eval_query.query)
    return replace(eval_query, query=query) if query else None


def strip_syntax(text: str) -> str:
    """Remove what the query language would read as a filter, a phrase or a pattern; all of it if something remains."""
    query = " ".join(_SYNTAX.sub(" ", text).split())
    try:
        parsed = parse.parse_query(query)
    except UsageError:
        return ""
    return query if parsed.text.split() == query.split() else ""


def write_queries(path: Path, text: str, *, force: bool) -> None:
    """Write mined queries, but not over a file that somebody may have edited."""
    try:
        if not force and os.path.lexists(path) and not _holds(path, text.encode()):
            raise UsageError(f"{path} exists and differs: give --out another name, or --force to replace it")
        path.parent.mkdir(parents=True, exist_ok=True)
        safe_files.write_regular(path, text.encode())  # the tree may have a link of this name
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error}") from error


def _holds(path: Path, data: bytes) -> bool:
    """Return whether a file is just this; raise an error if it is no regular file."""
    try:
        return safe_files.read_regular(path, len(data)) == data
    except safe_files.TooLarge:
        return False


def _allocate(count: int, available: Mapping[str, int]) -> dict[str, int]:
    """Decide how many to take from each source: equal shares, and what one lacks from the others."""
    shares = dict.fromkeys(available, 0)
    left = count
    while left:
        available_names = [name for name in shares if shares[name] < available[name]]
        if not available_names:
            break
        for name in available_names[:left]:
            shares[name] += 1
        left -= min(left, len(available_names))
    return shares


def _shuffle_by_file(eval_queries: Sequence[EvalQuery], rng: random.Random) -> list[EvalQuery]:
    """Shuffle, but with one of each file before the second of any: no large file dominates the figures."""
    by_file: dict[str, list[EvalQuery]] = defaultdict(list)
    for eval_query in eval_queries:
        by_file[eval_query.relevant[0].path].append(eval_query)
    groups = [by_file[path] for path in sorted(by_file)]
    rng.shuffle(groups)
    for group in groups:
        rng.shuffle(group)
    longest = max(map(len, groups), default=0)
    return [group[turn] for turn in range(longest) for group in groups if turn < len(group)]
