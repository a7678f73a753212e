"""Symbol lookup channel: definitions by name, in tiers from exact match to prefix, glob and fuzzy match (typos)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dowse.code import tokens
from dowse.search.channels.request import ChannelRequest, Noted
from dowse.search.query.analyze import get_last_part, is_identifier
from dowse.search.query.route_names import RouteName, find_routes
from dowse.stores.protocol import Snapshot
from dowse.types.source import Kind
from dowse.types.stored import TIER_SCORES, Filter, NameHit, NameTier, best_first, chunk_id

MAX_DEFINITIONS = 50
"""Definitions per queried name. A class that is written in parts has a few dozen: with fewer than all of them, which
are found is chance."""


SUBSTRING_MIN_LENGTH = 4
"""Shorter words are parts of too many names."""

SUBSTRING_SCORE = 0.3
"""Score of a name that contains a word which no text has: less than any other match."""


class FoundNames(NamedTuple):
    """The definitions found for one name, and how sure that is."""

    hits: Sequence[NameHit]
    score: float


def find(request: ChannelRequest) -> Noted:
    """Look up the definitions of the names in a query, by the best tier (exact to fuzzy) that finds anything for each.

    A route (``POST /login``) is a name as well. A plain word among others does not mean a variable or a field that
    happens to have that name, unless a filter asks for definitions. A word that neither a name nor any text has is
    looked for within names.
    """
    snapshot, query = request.snapshot, request.query
    scores = _find_routes(snapshot, find_routes(query.text), query.filter)
    contained: list[str] = []
    for name in query.names:
        found = find_definitions(snapshot, name, query.filter, MAX_DEFINITIONS)
        if not found and (found := _find_containing(snapshot, name, query.filter)):
            contained.append(name)
        skips_variables = len(query.names) > 1 and not is_identifier(name) and not query.filter.about_chunks
        for hit in found.hits if found else ():
            if not (skips_variables and hit.kind is Kind.VARIABLE):
                id = chunk_id(hit.file, hit.chunk)
                scores[id] = max(scores.get(id, 0.0), found.score if found else 0.0)
    quoted = ", ".join(f"'{name}'" for name in contained)
    note = f"no word is {quoted}: names that contain it count" if contained else ""
    return Noted(best_first(scores.keys(), scores.values()), note)


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


def find_definitions(snapshot: Snapshot, name: str, filter: Filter, limit: int) -> FoundNames | None:
    """Find the definitions of a name by the first tier that finds any."""
    for tier, pattern in _list_tiers(name):
        if hits := snapshot.names(pattern, tier, filter, limit):
            return FoundNames(hits, TIER_SCORES[tier])
    return None


def _find_containing(snapshot: Snapshot, name: str, filter: Filter) -> FoundNames | None:
    """Find the definitions whose name contains a word that is no token of any text."""
    word = get_last_part(name)
    if len(word) < SUBSTRING_MIN_LENGTH or not word.isidentifier():
        return None
    whole = tokens.tokenize_word(word)[:1]
    if any(map(snapshot.document_frequency, whole)):
        return None
    hits = snapshot.names(f"*{word}*", NameTier.GLOB, filter, MAX_DEFINITIONS)
    return FoundNames(hits, SUBSTRING_SCORE) if hits else None


def _list_tiers(name: str) -> list[tuple[NameTier, str]]:
    """List how a name is looked up, in steps: ``Auth*`` is a prefix, ``*Auth*`` a glob, ``a.b`` is its last part."""
    if name.endswith("*") and "*" not in name[:-1] and "?" not in name:
        return [(NameTier.PREFIX, name[:-1])]
    if "*" in name or "?" in name:
        return [(NameTier.GLOB, name)]
    last = get_last_part(name)
    tiers = [(NameTier.EXACT, last), (NameTier.CASE, last)]
    if is_identifier(name):
        tiers += [(NameTier.PREFIX, last), (NameTier.FUZZY, last)]
    return tiers
