"""Candidate retrieval: run every channel on a query; filters act inside each channel, before its top-k (pre-filtering).

Has the table of channels, in the order in which their contributions are listed, and their fusion weights. A channel is
a function from a request to hits, best first, and only runs where the query has something for it; see ``request.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    unwanted_words,
    version_checks,
)
from dowse.search.channels.request import Channel, ChannelRequest, Retrieved, run_channel
from dowse.search.query.route_names import find_routes
from dowse.settings import Settings
from dowse.types.answers import ChannelReport

CHANNELS: Mapping[str, Channel] = {
    "exact": Channel(phrase_match.find, lambda request: request.query.phrases or request.query.regexes),
    "lexical": Channel(keyword_channel.find, lambda request: request.query.terms, "the query has no words"),
    "names": Channel(
        name_lookup.find,
        lambda request: request.query.names or find_routes(request.query.text),
        "no word of the query looks like a name",
    ),
    "files": Channel(
        file_lookup.find,
        lambda request: request.query.files or len(request.query.text.split()) == 1,
        file_lookup.NO_FILE_NAME,
    ),
    "dense": Channel(dense_channel.find),
    "places": Channel(frame_lookup.find, lambda request: request.query.frames),
    "phrases": Channel(
        phrase_lookup.find, lambda request: not (request.query.phrases or request.query.regexes)
    ),
    "versions": Channel(version_checks.find, lambda request: request.query.versions),
    "history": Channel(history_lookup.find, lambda request: request.history is not None),
    "listing": Channel(filter_listing.find, lambda request: request.query.type == "filters"),
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
    for name, channel in CHANNELS.items():
        if channel.suits(request):
            if (found := run_channel(name, partial(channel.find, request))) is not None:
                channels[name] = found
        elif channel.why_not:
            channels[name] = Retrieved((), ChannelReport(name, False, why_not=channel.why_not))
    if "exact" in channels:
        required = {hit.chunk for hit in channels["exact"].hits}
        channels = {name: _keep(channel, required.__contains__) for name, channel in channels.items()}
    if request.query.unwanted:
        has_unwanted = unwanted_words.make_check(request.snapshot, request.query.unwanted)
        channels = {
            name: _keep(channel, lambda chunk: not has_unwanted(chunk)) for name, channel in channels.items()
        }
    return channels


def _keep(channel: Retrieved, passes: Callable[[int], bool]) -> Retrieved:
    return channel._replace(hits=[hit for hit in channel.hits if passes(hit.chunk)])


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
