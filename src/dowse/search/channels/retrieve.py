"""Candidate retrieval: run every channel on a query; filters act inside each channel, before its top-k (pre-filtering).

Has the table of channels, in the order in which their contributions are listed, and their fusion weights. A channel is
a function from a request to hits, best first; see ``request.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from dowse.search.channels import (
    dense_channel,
    file_lookup,
    filter_listing,
    frame_lookup,
    history_lookup,
    keyword_channel,
    name_lookup,
    phrase_lookup,
    phrase_match,
    version_checks,
)
from dowse.search.channels.request import Channel, ChannelRequest, Retrieved, run_channel
from dowse.settings import Settings

CHANNELS: Mapping[str, Channel] = {
    "exact": phrase_match.find,
    "lexical": keyword_channel.find,
    "names": name_lookup.find,
    "files": file_lookup.find,
    "dense": dense_channel.find,
    "places": frame_lookup.find,
    "phrases": phrase_lookup.find,
    "versions": version_checks.find,
    "history": history_lookup.find,
    "listing": filter_listing.find,
}

PLACES_WEIGHT = 4.0
"""Weight of a file and line that the query names: more than all of its words together."""

EXACT_WEIGHT = 1.0
"""Weight of a phrase or pattern beside a keyword match: it is required anyway."""

PHRASES_WEIGHT = 2.0
"""Weight of a literal that gave the whole message: more than that its words are somewhere in a chunk."""

VERSIONS_WEIGHT = 1.0
"""Weight of a check for the language version that the query names: as much as the best by keywords, which such code
hardly ever has."""


def retrieve(request: ChannelRequest) -> dict[str, Retrieved]:
    """Retrieve the candidates of every channel, by its name.

    Where the query has exact phrases or patterns, the other channels only rank what has them.
    """
    channels: dict[str, Retrieved] = {}
    for name, find in CHANNELS.items():
        if (found := run_channel(name, partial(find, request))) is not None:
            channels[name] = found
    if "exact" not in channels:
        return channels
    required = {hit.chunk for hit in channels["exact"].hits}
    return {
        name: channel._replace(hits=[hit for hit in channel.hits if hit.chunk in required])
        for name, channel in channels.items()
    }


def get_channel_weights(settings: Settings) -> Mapping[str, float]:
    """Return the weight of each channel in fusion."""
    return {
        "exact": EXACT_WEIGHT,
        "places": PLACES_WEIGHT,
        "phrases": PHRASES_WEIGHT,
        "versions": VERSIONS_WEIGHT,
        "history": settings.history_weight,
        "listing": 1.0,
        "lexical": settings.lexical_weight,
        "names": settings.name_weight,
        "files": settings.file_weight,
        "dense": settings.dense_weight,
    }
