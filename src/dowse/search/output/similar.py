"""What belongs to a place: the tests of a source file or the source of a test, and code that is alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from dowse.code import tokens
from dowse.code.test_pairing import SUITE_SCORE, Pairs, partner_stems, suite_folders
from dowse.lazy_rows import column
from dowse.search.channels.frame_lookup import chunk_at
from dowse.search.channels.retrieve import FIELD_WEIGHTS
from dowse.search.query.keywords import informative_terms
from dowse.search.ranking.signals import Candidate
from dowse.stores.protocol import Snapshot
from dowse.types import (
    CHUNK_BITS,
    AnalysedQuery,
    Filter,
    QueryWord,
    Role,
    Scored,
    StoredFile,
    Term,
    chunk_id,
)

TERMS = 25
"""Terms of a piece of code by which others are called alike."""

FIELDS = {"name": 1.0, "signature": 0.5, "body": 1.0}
"""Where alike code says the same; its path and its comments may say anything."""

DEPTH = 50
"""Alike places that are considered."""

LED_BY = 2
"""How many of the first files of an answer bring their partners along."""

PARTNER_SHARE = 0.4
"""What the partner of a file is worth of that file's best place, if it is surely its partner. Low enough to come
after what the question itself finds; who changes a file needs to see its tests, whatever they are called."""

LEAST_PAIR = 0.5
"""How sure a pair must be for that."""

ALIKE_NAMES = 5
"""Files of one name that are considered."""

SUITE = 8
"""Tests that a file brings along if the question names it and they are in a folder of its name."""

SUITE_DEPTH = 200
"""Places of a suite that are looked at for them: a large test has many."""

SUITE_STEP = 0.95
"""What each of them counts of the one before, so that they stay in the order in which the question finds them."""


def partners(snapshot: Snapshot, file: StoredFile) -> list[Scored]:
    """The first definitions of the tests of a source file, or of the sources of a test, best first."""
    pairs = Pairs(list(snapshot.manifest()))
    found = ((snapshot.file_at(partner.path), partner.score) for partner in pairs.partners(file.path))
    return [
        Scored(chunk_id(other.id, next((n for n, held in enumerate(other.definitions) if held), 0)), score)
        for other, score in found
        if other and other.parsed.chunks
    ]


def with_partners(
    snapshot: Snapshot,
    query: AnalysedQuery,
    candidates: Sequence[Candidate],
    filter: Filter,
    named: Container[int],
) -> list[Candidate]:
    """The candidates, with the partners of the first files among them: added, or lifted to what a partner is worth.

    ``named`` are the files that the question names: they bring a whole suite of tests along.
    """
    best = _best_by_file(candidates)
    added: list[Candidate] = []
    for leader in sorted(best.values(), key=lambda c: (-c.score, c.file.path))[:LED_BY]:
        belonging = _likely_partners(snapshot, leader.file, filter)
        if leader.file.id in named:
            belonging += _suite(snapshot, query, leader.file, filter)
        for partner, sure in belonging:
            worth = leader.score * PARTNER_SHARE * sure
            follower = best.get(partner.id)
            if follower is None:
                why = f"belongs to {leader.file.path}"
                best[partner.id] = brought(query, partner, worth, "partners", why)
                added.append(best[partner.id])
            elif 0 < follower.score < worth:
                follower.weigh("partner", worth / follower.score, f"belongs to {leader.file.path}")
    return [*candidates, *added]


def _best_by_file(candidates: Sequence[Candidate]) -> dict[int, Candidate]:
    """The best place of each file; of equals the first."""
    best: dict[int, Candidate] = {}
    for candidate in candidates:
        other = best.get(candidate.file.id)
        if other is None or (-candidate.score, candidate.ordinal) < (-other.score, other.ordinal):
            best[candidate.file.id] = candidate
    return best


def _likely_partners(snapshot: Snapshot, file: StoredFile, filter: Filter) -> list[tuple[StoredFile, float]]:
    """The partners of a file that are called as is the custom, and how sure that is."""
    ids = {
        id
        for stem in partner_stems(file.path, file.role)
        for id in snapshot.files_named(stem, filter, ALIKE_NAMES)
    }
    found_files = (snapshot.file(id) for id in ids if id != file.id)
    others = {other.path: other for other in found_files if other and other.parsed.chunks}
    if not others:
        return []
    pairs = Pairs({file.path: file.role, **{path: other.role for path, other in others.items()}})
    found = pairs.partners(file.path)
    return [(others[partner.path], partner.score) for partner in found if partner.score >= LEAST_PAIR]


def _suite(
    snapshot: Snapshot, query: AnalysedQuery, file: StoredFile, filter: Filter
) -> list[tuple[StoredFile, float]]:
    """The tests in a folder that is named after a file, those first that the question finds first."""
    folders = suite_folders(file.path, file.role)
    languages, roles = frozenset({file.parsed.language}), frozenset({Role.TEST})
    ruled_out = filter.paths or not languages <= (filter.languages or languages)
    if not folders or ruled_out or not roles <= (filter.roles or roles):
        return []
    paths = tuple(f"**/{name}/**" for name in folders)
    within = replace(filter, paths=paths, languages=languages, roles=roles)
    hits = snapshot.lexical(query.terms, FIELD_WEIGHTS, within, SUITE_DEPTH)
    ids = dict.fromkeys(hit.chunk >> CHUNK_BITS for hit in hits)
    found = [test for id in list(ids)[:SUITE] if (test := snapshot.file(id))]
    return [(test, SUITE_SCORE * SUITE_STEP**position) for position, test in enumerate(found)]


def brought(query: AnalysedQuery, file: StoredFile, worth: float, name: str, why: str) -> Candidate:
    """The place of a file whose definitions share most words with the question; the first of equals."""
    wanted, names = frozenset(query.words), column(file.parsed.entities, "name")
    shared = [
        len(tokens.among(" ".join([names[i] for i in held]).encode("utf-8", "replace"), wanted))
        for held in file.definitions
    ]
    ordinal = shared.index(max(shared))
    chunk = file.parsed.chunks[ordinal]
    return Candidate(chunk_id(file.id, ordinal), ordinal, file, chunk, worth, [(name, worth, why)])


def similar(snapshot: Snapshot, file: StoredFile, line: int, filter: Filter) -> list[Scored]:
    """Chunks that say what the chunk around a line says, this one left out, best first.

    Line 0 stands for the whole file: of each other file, what is most like it.
    """
    if not file.parsed.chunks:
        return []
    chunks = range(len(file.parsed.chunks)) if line < 1 else (chunk_at(file, line),)
    own = {chunk_id(file.id, ordinal) for ordinal in chunks}
    hits = snapshot.lexical(_terms(snapshot, file, chunks), FIELDS, filter, DEPTH + len(own))
    others = [hit for hit in hits if hit.chunk not in own]
    if line > 0:
        return others
    return list({hit.chunk >> CHUNK_BITS: hit for hit in reversed(others)}.values())[::-1]


def _terms(snapshot: Snapshot, file: StoredFile, chunks: Iterable[int]) -> tuple[Term, ...]:
    content = snapshot.content(file.id)
    found: Counter[str] = Counter()
    for ordinal in chunks:
        chunk = file.parsed.chunks[ordinal]
        found.update(tokens.tokens(content[chunk.start : chunk.end]).split())
    words = [QueryWord(token, times) for token, times in found.items()]
    return informative_terms(words, snapshot.frequency, snapshot.chunk_count(), TERMS).terms
