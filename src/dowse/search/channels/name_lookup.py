"""Symbol lookup channel: definitions by name, in tiers from exact match to prefix, glob and fuzzy match (typos)."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.search.channels.request import ChannelRequest, NotRun
from dowse.search.query.analyze import get_last_part, is_identifier
from dowse.types.source import Kind
from dowse.types.stored import TIER_SCORES, NameTier, Scored, best_first, chunk_id

MAX_DEFINITIONS = 50
"""Definitions per queried name. A class that is written in parts has a few dozen: with fewer than all of them, which
are found is chance."""


def find(request: ChannelRequest) -> Sequence[Scored] | NotRun:
    """Look up the definitions of the names in a query, by the best tier (exact to fuzzy) that finds anything for each.

    A plain word among others does not mean a variable or a field that happens to have that name, unless a filter asks
    for definitions.
    """
    snapshot, query = request.snapshot, request.query
    if not query.names:
        return NotRun("no word of the query looks like a name")
    scores: dict[int, float] = {}
    for name in query.names:
        skips_variables = len(query.names) > 1 and not is_identifier(name) and not query.filter.about_chunks
        for tier, pattern in _list_tiers(name):
            hits = snapshot.names(pattern, tier, query.filter, MAX_DEFINITIONS)
            if skips_variables:
                hits = [hit for hit in hits if hit.kind is not Kind.VARIABLE]
            for hit in hits:
                id = chunk_id(hit.file, hit.chunk)
                scores[id] = max(scores.get(id, 0.0), TIER_SCORES[tier])
            if hits:
                break
    return best_first(scores.keys(), scores.values())


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
