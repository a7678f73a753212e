"""Ground truth from the repository itself: the table of sources, and how many questions each gives.

A source offers more questions than are wanted; which are taken is decided by a seed, spread over as many files as
there are. Nothing here measures: see ``checkouts.py`` for how a mined question is kept from giving its answer away.
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
from dowse.evaluation.eval_types import Dataset, Question
from dowse.evaluation.mining import commits, docs, symbol_names
from dowse.indexing.pipeline import Progress
from dowse.search.query import parse

Source = Callable[[Engine, int, random.Random], list[Question]]
"""Gives questions about an index that is up to date, at least as many as wanted if there are."""

_SYNTAX = re.compile(r"[\"\\]|(?<=\w):(?=\S)|(?<!\S)[-/]+(?=\S)")
"""Quotes, the colon of a field, and what stands before a word to exclude it or to begin a pattern."""

SOURCES: Mapping[str, Source] = {"docs": docs.offer, "symbols": symbol_names.offer, "git": commits.offer}


def sources(given: str | None) -> tuple[str, ...]:
    """The sources of ``docs,git``; all of them if none are given."""
    chosen = tuple(dict.fromkeys(part.strip().lower() for part in (given or "").split(",") if part.strip()))
    if unknown := [name for name in chosen if name not in SOURCES]:
        raise UsageError(f"nothing can be mined from '{unknown[0]}': there are {', '.join(SOURCES)}")
    return chosen or tuple(SOURCES)


def mine(
    engine: Engine, count: int, chosen: Sequence[str], seed: int, progress: Progress | None = None
) -> Dataset:
    """So many questions, the same number from each source as far as they have them."""
    engine.index(progress)
    offered, notes = {}, []
    for name in chosen:
        try:
            offer = SOURCES[name](engine, -(-count // len(chosen)), random.Random(seed))
            found = [plain for question in offer if (plain := _plain(question))]
            offered[name] = _spread(found, random.Random(seed))
            if not found:
                notes.append(f"nothing was mined from {name}: it has no question that would tell anything")
        except UsageError as error:
            if len(chosen) == 1:
                raise
            offered[name] = []
            notes.append(f"nothing was mined from {name}: {error}")
    questions: list[Question] = []
    for name, share in _shares(count, {name: len(found) for name, found in offered.items()}).items():
        taken = offered[name][:share]
        questions += [replace(q, id=f"{name}-{number}") for number, q in enumerate(taken, 1)]
    if not questions:
        raise UsageError(
            f"nothing to mine from {', '.join(chosen)} in {engine.root}: write questions by hand"
        )
    if len(questions) < count:
        notes.append(f"{len(questions)} questions, not {count}: there are no more that would tell anything")
    return Dataset(f"{len(questions)} mined questions (seed {seed})", tuple(questions), notes=tuple(notes))


def _plain(question: Question) -> Question | None:
    """A question without what the query language would take for a filter, a phrase or a pattern; none if that fails."""
    words = _SYNTAX.sub(" ", question.query)
    query = " ".join(words.split())
    try:
        parsed = parse.parse(query)
    except UsageError:
        return None
    return replace(question, query=query) if parsed.text.split() == query.split() else None


def keep(path: Path, text: str, *, force: bool) -> None:
    """Write mined questions, but not over a file that somebody may have edited."""
    try:
        if not force and os.path.lexists(path) and not _holds(path, text.encode()):
            raise UsageError(
                f"{path} is there and differs: give --out another name, or --force to replace it"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        safe_files.write_regular(path, text.encode())  # the tree may have a link of this name
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error}") from error


def _holds(path: Path, data: bytes) -> bool:
    """Whether a file is just this; raise an error if it is no regular file."""
    try:
        return safe_files.read_regular(path, len(data)) == data
    except safe_files.TooLarge:
        return False


def _shares(count: int, available: Mapping[str, int]) -> dict[str, int]:
    """How many to take of each: equal parts, and what one cannot give from the others."""
    shares = dict.fromkeys(available, 0)
    left = count
    while left:
        open_ = [name for name in shares if shares[name] < available[name]]
        if not open_:
            break
        for name in open_[:left]:
            shares[name] += 1
        left -= min(left, len(open_))
    return shares


def _spread(questions: Sequence[Question], chance: random.Random) -> list[Question]:
    """By chance, but one of each file before the second of any: no large file decides the figures."""
    by_file: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_file[question.relevant[0].path].append(question)
    groups = [by_file[path] for path in sorted(by_file)]
    chance.shuffle(groups)
    for group in groups:
        chance.shuffle(group)
    longest = max(map(len, groups), default=0)
    return [group[turn] for turn in range(longest) for group in groups if turn < len(group)]
