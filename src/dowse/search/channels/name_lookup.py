"""Symbol lookup channel: definitions by name, in tiers from exact match to prefix, glob and fuzzy match (typos)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dowse.search.channels.request import ChannelRequest, Noted
from dowse.search.query.analyze import get_last_part, is_identifier
from dowse.search.query.name_spelling import is_pattern
from dowse.search.query.route_names import RouteName, find_routes
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Spelling
from dowse.types.source import Kind
from dowse.types.stored import TIER_SCORES, Filter, NameHit, NameTier, best_first, chunk_id

MAX_DEFINITIONS = 50
"""Definitions per queried name. A class that is written in parts has a few dozen: with fewer than all of them, which
are found is chance."""

PART_SCORE = 0.3
"""Score of a name that contains a word which no text has: less than any other match."""

_NOTES = {
    NameTier.PREFIX: "nothing is called '{}'; names that begin so: {}",
    NameTier.GLOB: "nothing is called '{}'; names that contain it: {}",
    NameTier.FUZZY: "nothing is called '{}'; names that are nearly so: {}",
    None: "no word is '{}'; words that contain it: {}",
}
"""What the answer says of a name that is found by another, by how it was found."""

MAX_NAMED = 3
"""Names that the answer says were found."""


class FoundNames(NamedTuple):
    """The definitions found for one name, and how sure that is."""

    hits: Sequence[NameHit]
    score: float


def find(request: ChannelRequest) -> Noted:
    """Look up the definitions of the names in a query: as they are written, else as the index writes them.

    A route (``POST /login``) is a name as well, and so is a hierarchical one (``Deployment/api``), which looks like a
    path. A plain word among others does not mean a variable or a field that happens to have that name, unless a filter
    asks for definitions.
    """
    snapshot, query = request.snapshot, request.query
    spellings = {spelling.asked: spelling for spelling in query.spellings}
    scores = _find_routes(snapshot, find_routes(query.text), query.filter)
    for name in query.files:
        for hit in find_hierarchical(snapshot, name, query.filter):
            scores[chunk_id(hit.file, hit.chunk)] = TIER_SCORES[NameTier.EXACT]
    for name in query.names:
        found = _find_spelled(snapshot, name, spellings.get(name), query.filter)
        skips_variables = len(query.names) > 1 and not is_identifier(name) and not query.filter.about_chunks
        for hit in found.hits if found else ():
            if not (skips_variables and hit.kind is Kind.VARIABLE):
                id = chunk_id(hit.file, hit.chunk)
                scores[id] = max(scores.get(id, 0.0), found.score if found else 0.0)
    notes = [_write_note(spelling) for spelling in query.spellings if not is_pattern(spelling.asked)]
    return Noted(best_first(scores.keys(), scores.values()), "; ".join(notes))


def _find_routes(snapshot: Snapshot, routes: Sequence[RouteName], filter: Filter) -> dict[int, float]:
    """Look up routes by method and path, and return how sure it is for each chunk that it answers one of them."""
    scores: dict[int, float] = {}
    for route in routes:
        for pattern in route.patterns:
            for hit in snapshot.names(pattern, NameTier.GLOB, filter, MAX_DEFINITIONS):
                if hit.kind is Kind.ROUTE and (file := snapshot.file(hit.file)) is not None:
                    id = chunk_id(hit.file, hit.chunk)
                    sure = route.score(file.parsed.entities[hit.entity].name)
                    scores[id] = max(scores.get(id, 0.0), sure)
    return scores


def has_route(snapshot: Snapshot, text: str, filter: Filter) -> bool:
    """Return whether the index has a route that a query names."""
    return any(_find_routes(snapshot, find_routes(text), filter).values())


def find_hierarchical(snapshot: Snapshot, name: str, filter: Filter) -> Sequence[NameHit]:
    """Find the entities of a name with slashes, ``Deployment/api``, letter case apart if nothing has just that."""
    if "/" not in name:
        return ()
    found: dict[str, list[NameHit]] = {}
    for hit in snapshot.names(name.rpartition("/")[2], NameTier.CASE, filter, MAX_DEFINITIONS):
        file = snapshot.file(hit.file)
        qualified = file.parsed.entities[hit.entity].qualified if file is not None else ""
        if qualified.casefold() == name.casefold():
            found.setdefault(qualified, []).append(hit)
    return found.get(name) or [hit for hits in found.values() for hit in hits]


def find_definitions(snapshot: Snapshot, name: str, filter: Filter, limit: int) -> FoundNames | None:
    """Find the definitions of a name as it is written, letter case apart if nothing has just that.

    A template of Helm has a name with dots; elsewhere what is before the last dot says where it is defined.
    """
    spellings = dict.fromkeys((name, get_last_part(name)))
    for tier in (NameTier.EXACT, NameTier.CASE):
        for spelling in spellings:
            if hits := snapshot.names(spelling, tier, filter, limit):
                return FoundNames(hits, TIER_SCORES[tier])
    return None


def _find_spelled(
    snapshot: Snapshot, name: str, spelling: Spelling | None, filter: Filter
) -> FoundNames | None:
    """Find the definitions of a name by the spelling that the index has of it."""
    if spelling is None and name in filter.names and is_pattern(name):
        tier = NameTier.GLOB
        return FoundNames(snapshot.names(name, tier, filter, MAX_DEFINITIONS), TIER_SCORES[tier])
    if spelling is None or spelling.tier is None:
        return find_definitions(snapshot, name, filter, MAX_DEFINITIONS)
    is_part = spelling.tier is NameTier.GLOB and not is_pattern(name)
    hits = snapshot.names(spelling.pattern, spelling.tier, filter, MAX_DEFINITIONS)
    return FoundNames(hits, PART_SCORE if is_part else TIER_SCORES[spelling.tier])


def _write_note(spelling: Spelling) -> str:
    """Say by which name or word something was found."""
    more = ", ..." if len(spelling.found) > MAX_NAMED else ""
    return _NOTES[spelling.tier].format(spelling.asked, ", ".join(spelling.found[:MAX_NAMED]) + more)
