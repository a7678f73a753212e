"""Test partners: the tests of the first source files, or the sources of the first tests, join the candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from dowse.code.test_pairing import SUITE_SCORE, Pairs, partner_stems, suite_folders
from dowse.frozen import replace
from dowse.lazy_rows import read_column
from dowse.search.channels.keyword_channel import FIELD_WEIGHTS
from dowse.search.channels.request import Retrieved
from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.features.definition_names import split_stems
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Query
from dowse.types.source import Role
from dowse.types.stored import CHUNK_BITS, Filter, StoredFile, chunk_id

LEADING_FILES = 3
"""How many of the first files of an answer bring their partners along."""

PARTNER_GAP = 0.64
"""How far below the best candidate of a file its partner stands, at least, if it is surely its partner. Low enough to
come after what the query itself finds; who changes a file needs to see its tests, whatever they are called."""

NAMED_GAP = 0.4
"""The same for a file that the query names: who names it means what belongs to it too."""

MIN_PAIR_SCORE = 0.5
"""How sure a pair must be for that."""

MAX_NAMESAKES = 5
"""Files of one name that are considered."""

SUITE_FILES = 8
"""Tests that a file brings along if the query names it and they are in a folder of its name."""

SUITE_CHUNKS = 200
"""Chunks of a suite that are looked at for them: a large test has many."""

SUITE_STEP = 0.95
"""How sure each of them is as a share of the one before, so that they stay in the order the query finds them in."""


def add_test_partners(
    snapshot: Snapshot, query: Query, channels: Mapping[str, Retrieved], candidates: list[Candidate]
) -> None:
    """Add the partners of the first files, or raise them to where a partner stands.

    Files that the query names bring a whole suite of tests along. Not where the query says exactly what it wants.
    """
    filter = query.filter
    if filter.about_chunks or query.is_exact or query.frames:
        return
    named = (
        {hit.chunk >> CHUNK_BITS for hit in channels["files"].hits} if "files" in channels else frozenset()
    )
    best = find_best_by_file(candidates)
    for leader in sorted(best.values(), key=lambda c: (-c.score, c.file.path))[:LEADING_FILES]:
        partners = find_likely_partners(snapshot, leader.file, filter)
        is_named = leader.file.id in named
        gap = NAMED_GAP if is_named else PARTNER_GAP
        if is_named:
            partners += _find_suite(snapshot, query, leader.file, filter)
        for partner, sure in partners:
            score = leader.score - gap / sure
            follower = best.get(partner.id)
            why = f"belongs to {leader.file.path}"
            if follower is None:
                best[partner.id] = make_added_candidate(query, partner, score, "partners", why)
                candidates.append(best[partner.id])
            elif follower.score < score:
                follower.adjust("partners", score - follower.score, why)


def find_best_by_file(candidates: Sequence[Candidate]) -> dict[int, Candidate]:
    """Find the best candidate of each file; of equals the first."""
    best: dict[int, Candidate] = {}
    for candidate in candidates:
        other = best.get(candidate.file.id)
        if other is None or (-candidate.score, candidate.ordinal) < (-other.score, other.ordinal):
            best[candidate.file.id] = candidate
    return best


def find_likely_partners(
    snapshot: Snapshot, file: StoredFile, filter: Filter
) -> list[tuple[StoredFile, float]]:
    """Find the partners of a file that are named as is the custom, and how sure that is."""
    ids = {
        id
        for stem in partner_stems(file.path, file.role)
        for id in snapshot.find_files_named(stem, filter, MAX_NAMESAKES)
    }
    found_files = (snapshot.file(id) for id in ids if id != file.id)
    others = {other.path: other for other in found_files if other and other.parsed.chunks}
    if not others:
        return []
    pairs = Pairs({file.path: file.role, **{path: other.role for path, other in others.items()}})
    found = pairs.find_partners(file.path)
    return [(others[partner.path], partner.score) for partner in found if partner.score >= MIN_PAIR_SCORE]


def _find_suite(
    snapshot: Snapshot, query: Query, file: StoredFile, filter: Filter
) -> list[tuple[StoredFile, float]]:
    """Find the tests in a folder that is named after a file, by their rank for the query."""
    folders = suite_folders(file.path, file.role)
    languages, roles = frozenset({file.parsed.language}), frozenset({Role.TEST})
    ruled_out = filter.paths or not languages <= (filter.languages or languages)
    if not folders or ruled_out or not roles <= (filter.roles or roles):
        return []
    paths = tuple(f"**/{name}/**" for name in folders)
    within = replace(filter, paths=paths, languages=languages, roles=roles)
    hits = snapshot.lexical(query.terms, FIELD_WEIGHTS, within, SUITE_CHUNKS)
    ids = dict.fromkeys(hit.chunk >> CHUNK_BITS for hit in hits)
    found = [test for id in list(ids)[:SUITE_FILES] if (test := snapshot.file(id))]
    return [(test, SUITE_SCORE * SUITE_STEP**position) for position, test in enumerate(found)]


def make_added_candidate(query: Query, file: StoredFile, score: float, name: str, why: str) -> Candidate:
    """Make a candidate of the chunk of a file whose definitions share most words with the query."""
    wanted, names = frozenset(query.words), read_column(file.parsed.entities, "name")
    shared = [
        len(wanted.intersection(chain.from_iterable([split_stems(names[i]) for i in held])))
        for held in file.definitions
    ]
    ordinal = shared.index(max(shared))
    chunk = file.parsed.chunks[ordinal]
    return Candidate(chunk_id(file.id, ordinal), ordinal, file, chunk, score, [(name, score, why)])
