"""Asks each channel of the index for candidates. Filters act inside each channel, before its top-k."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dowse.embedders.embedder import Embedder
from dowse.errors import EmbedderError
from dowse.search.channels import frame_lookup, phrase_match, version_checks
from dowse.search.query.analyze import is_identifier, last_part
from dowse.stores.protocol import Snapshot
from dowse.types import (
    AnalysedQuery,
    ChannelReport,
    Filter,
    Kind,
    NameTier,
    ParsedQuery,
    Scored,
    StoredFile,
    best_first,
    chunk_id,
)

STEP = 50
"""Candidates by words: as many as hits that are asked for, in such steps, so that the pages of an answer are of one
ranking. Twice as many gain no more than noise, and cost time; what is not among them cannot be in the answer."""

DENSE_SHARE = 0.8
"""Candidates by meaning for each by words: meaning says less of the places further down."""

NAME_DEPTH = 50
"""Definitions per queried name; a name with more is not what tells places apart. A class that is written in parts has
a few dozen: with fewer than all of them, which are lifted is chance."""

EXACT_DEPTH = 1000
"""Places that have an exact phrase or pattern: all of them, within reason."""

FILE_DEPTH = 5
"""Files per queried file name."""

ALIKE_FILES = 20
"""Files of one name or stem that are looked at where a question is one word."""

LITERAL = frozenset({"symbol", "file"})
"""Readings of a question that mean what is written: code that is alike in meaning is not what is asked for."""

FIELD_WEIGHTS = {"name": 1.5, "path": 0.75, "signature": 0.25, "doc": 0.75, "body": 2.5}
"""What a match counts by where it is. Signature and doc are part of the body too: this is on top of that."""

PLACES_WEIGHT = 4.0
"""What a place counts that the question itself names: more than all of its words, whatever lifts what they find."""

EXACT_WEIGHT = 1.0
"""What a phrase or pattern found counts beside a keyword match: it is required anyway."""

VERSIONS_WEIGHT = 1.0
"""What a place counts that asks for the version of a language that a question names: as much as the best by its words,
which such places hardly ever say."""

TIER_SCORES = {
    NameTier.EXACT: 1.0,
    NameTier.CASE: 0.9,
    NameTier.GLOB: 0.7,
    NameTier.PREFIX: 0.5,
    NameTier.FUZZY: 0.4,
}


class Retrieved(NamedTuple):
    """What a channel brought, best first, and its report."""

    hits: Sequence[Scored]
    report: ChannelReport


def retrieve(
    snapshot: Snapshot,
    parsed: ParsedQuery,
    query: AnalysedQuery,
    filter: Filter,
    embedder: Embedder | None,
    hybrid: str = "on",
    limit: int = STEP,
) -> dict[str, Retrieved]:
    """The candidates of every channel, by its name, for so many hits.

    Where the question has exact phrases or patterns, the others only weigh what has them.
    """
    depth = STEP * steps(limit)
    channels = _retrieve(snapshot, query, filter, embedder, hybrid, depth)
    if query.frames:
        channels["places"] = timed("places", lambda: frame_lookup.find(snapshot, list(query.frames), filter))
    if query.versions:
        channels["versions"] = timed(
            "versions", lambda: version_checks.find(snapshot, query.versions, filter)
        )
    if not phrase_match.asks_for_exact(parsed):
        return channels
    required = timed("exact", lambda: phrase_match.find(snapshot, parsed, filter, EXACT_DEPTH))
    having = {hit.chunk for hit in required.hits}
    weighing = {
        name: Retrieved([hit for hit in channel.hits if hit.chunk in having], channel.report)
        for name, channel in channels.items()
    }
    return {"exact": required, **weighing}


def steps(limit: int) -> int:
    """How many steps of candidates it takes for so many hits."""
    return max(1, math.ceil(limit / STEP))


def _retrieve(
    snapshot: Snapshot,
    query: AnalysedQuery,
    filter: Filter,
    embedder: Embedder | None,
    hybrid: str,
    depth: int,
) -> dict[str, Retrieved]:
    why_not = _why_not_dense(query, embedder, hybrid)
    return {
        "lexical": _lexical(snapshot, query, filter, depth),
        "names": _names(snapshot, query, filter),
        "files": _files(snapshot, query, filter),
        "dense": _skipped("dense", why_not)
        if why_not or embedder is None
        else _dense(snapshot, query, filter, embedder, int(depth * DENSE_SHARE)),
    }


def _why_not_dense(query: AnalysedQuery, embedder: Embedder | None, hybrid: str) -> str:
    """Why meaning does not count for this question; empty if it does."""
    if embedder is None:
        return "no embedder is set"
    if hybrid == "off":
        return "hybrid search is switched off"
    if hybrid == "auto" and query.reading in LITERAL:
        return f"the question is read as a {query.reading}, not as words"
    return ""


def _lexical(snapshot: Snapshot, query: AnalysedQuery, filter: Filter, depth: int) -> Retrieved:
    if not query.terms:
        return _skipped("lexical", "the question has no words")
    return timed("lexical", lambda: snapshot.lexical(query.terms, FIELD_WEIGHTS, filter, depth))


def timed(name: str, run: Callable[[], list[Scored]]) -> Retrieved:
    """What a channel brings, best first, with its report."""
    started = time.perf_counter()
    hits = run()
    milliseconds = (time.perf_counter() - started) * 1e3
    best = hits[0].score if hits else 0.0
    return Retrieved(hits, ChannelReport(name, True, len(hits), milliseconds, best=best))


def _skipped(name: str, why: str, *, failed: bool = False) -> Retrieved:
    return Retrieved((), ChannelReport(name, False, why_not=why, failed=failed))


def _names(snapshot: Snapshot, query: AnalysedQuery, filter: Filter) -> Retrieved:
    if not query.names:
        return _skipped("names", "no word of the question looks like a name")
    return timed("names", lambda: name_hits(snapshot, query.names, filter))


def name_hits(snapshot: Snapshot, names: Sequence[str], filter: Filter) -> list[Scored]:
    """Definitions of the names, the best tier that finds anything for each.

    A plain word among others does not mean a variable or a field that happens to be called that, unless a filter asks
    for definitions.
    """
    scores: dict[int, float] = {}
    for name in names:
        in_passing = len(names) > 1 and not is_identifier(name) and not filter.about_chunks
        for tier, pattern in _tiers(name):
            hits = snapshot.names(pattern, tier, filter, NAME_DEPTH)
            if in_passing:
                hits = [hit for hit in hits if hit.kind is not Kind.VARIABLE]
            for hit in hits:
                id = chunk_id(hit.file, hit.chunk)
                scores[id] = max(scores.get(id, 0.0), TIER_SCORES[tier])
            if hits:
                break
    return best_first(scores.keys(), scores.values())


def _tiers(name: str) -> list[tuple[NameTier, str]]:
    """How a name is looked up, in steps: ``Auth*`` is a prefix, ``*Auth*`` a glob, ``a.b`` is its last part."""
    if name.endswith("*") and "*" not in name[:-1] and "?" not in name:
        return [(NameTier.PREFIX, name[:-1])]
    if "*" in name or "?" in name:
        return [(NameTier.GLOB, name)]
    last = last_part(name)
    tiers = [(NameTier.EXACT, last), (NameTier.CASE, last)]
    if is_identifier(name):
        tiers += [(NameTier.PREFIX, last), (NameTier.FUZZY, last)]
    return tiers


def _files(snapshot: Snapshot, query: AnalysedQuery, filter: Filter) -> Retrieved:
    if query.files:
        return timed("files", lambda: _beginnings(_named(snapshot, query.files, filter)))
    word = query.text.strip()
    if not word or word.split() != [word] or not (called := _called(snapshot, word, filter)):
        return _skipped("files", "no word of the question looks like a file name")
    return timed("files", lambda: _beginnings(called))


def _named(
    snapshot: Snapshot, names: Sequence[str], filter: Filter, depth: int = FILE_DEPTH
) -> list[StoredFile]:
    """The files of some names, at most so many of each."""
    ids = dict.fromkeys(id for name in names for id in snapshot.files_named(name, filter, depth))
    return [file for id in ids if (file := snapshot.file(id))]


def _called(snapshot: Snapshot, word: str, filter: Filter) -> list[StoredFile]:
    """The files that a word is the name of (``Dockerfile``, ``lexer.l``), or all but the extension, in capitals."""
    files = _named(snapshot, [word], filter, ALIKE_FILES)
    names = {file.id: file.path.rpartition("/")[2] for file in files}
    whole = [file for file in files if names[file.id].lower() == word.lower()]
    return whole or [file for file in files if word.isupper() and names[file.id].partition(".")[0] == word]


def _beginnings(files: Sequence[StoredFile]) -> list[Scored]:
    """The first chunks of files; an empty file has none."""
    return [Scored(chunk_id(file.id, 0), 1.0) for file in files if file.parsed.chunks]


def _dense(
    snapshot: Snapshot, query: AnalysedQuery, filter: Filter, embedder: Embedder, depth: int
) -> Retrieved:
    try:
        vector = embedder.embed_query(query.text)
    except EmbedderError as error:
        return _skipped("dense", str(error), failed=True)
    if not any(vector):
        return _skipped("dense", "the question has no words")
    found = timed("dense", lambda: snapshot.dense(vector, filter, depth))
    if not found.hits and not snapshot.dense(vector, Filter(), 1):
        return _skipped("dense", "the index has no vectors: 'dowse index' makes them", failed=True)
    return found
