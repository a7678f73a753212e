"""Input of a ranking signal beside the candidates: query, snapshot of the index, options and channel results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from dowse.search.channels.request import Retrieved
from dowse.search.ranking.candidates import Candidate
from dowse.stores.protocol import Snapshot
from dowse.types.answers import ResolvedOptions
from dowse.types.queries import Query


class SignalContext(NamedTuple):
    """The input of a signal: the query, the snapshot it is searched in, the options, and what the channels found."""

    snapshot: Snapshot
    query: Query
    options: ResolvedOptions
    channels: Mapping[str, Retrieved]


Signal = Callable[[SignalContext, list[Candidate]], None]
"""Boosts and demotes candidates in place, and may append some. They are best first when the first signal acts."""
