"""The learned ranking model: a weight for every feature and kind of query, read from ``weights.json``.

Linear, so that the contributions of features add up to the score. ``training/learn_ranking.py`` learns the weights and
``docs/ranking.md`` is the model card.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from dowse.search.channels.retrieve import get_channel_weights
from dowse.search.ranking.calibration import RelevanceModel
from dowse.search.ranking.features import FILE_FEATURES, PLACE_FEATURES, TEXT_FEATURES
from dowse.search.ranking.features.feature import Feature, Values
from dowse.settings import Settings
from dowse.types.queries import Query

WEIGHTS_FILE = Path(__file__).with_name("weights.json")

QUERY_KINDS = ("words", "description", "name", "keywords")
"""Kinds of queries that have weights of their own; ``keywords`` are words or a description without vectors."""

DESCRIPTION_WORDS = 12
"""Words from which on a query describes a place."""

NAME_WORDS = 3
"""Words up to which a query names its subject."""


class RankingModel(NamedTuple):
    """The weights for one kind of query, in the order of the tables of features."""

    file: Values
    text: Values
    place: Values
    file_share: float  # how much the score of its file counts in that of a place
    further_place: float  # by how much each further place of a file is behind the one before
    relevance: RelevanceModel


def classify_kind(query: Query, *, has_vectors: bool = True) -> str:
    """Classify a query by which weights it is ranked with."""
    if query.type in ("symbol", "file") or len(query.words) <= NAME_WORDS:
        return "name"
    if not has_vectors:
        return "keywords"
    return "description" if len(query.words) >= DESCRIPTION_WORDS else "words"


def list_disabled_groups(settings: Settings) -> tuple[str, ...]:
    """List the groups of features of weight 0: those switched off, and those of channels of weight 0."""
    off = {name for name, weight in get_channel_weights(settings).items() if not weight}
    if "dense" in off:
        off.add("file_vectors")
    return tuple(sorted(off.union(settings.disabled_features)))


@lru_cache(maxsize=32)
def load_model(kind: str, disabled: tuple[str, ...] = ()) -> RankingModel:
    """Load the model for a kind of query; disabled groups of features have the weight 0."""
    weights = _read_weights()
    column = QUERY_KINDS.index(kind)

    def choose(table: str, features: Mapping[str, Feature]) -> Values:
        rows: Mapping[str, Sequence[float]] = weights[table]
        return tuple(
            0.0 if feature.group in disabled else rows[name][column] for name, feature in features.items()
        )

    return RankingModel(
        choose("file", FILE_FEATURES),
        choose("file", TEXT_FEATURES),
        choose("place", PLACE_FEATURES),
        weights["file_share"],
        0.0 if "place" in disabled else weights["further_place"],
        RelevanceModel.parse(weights["relevance"][kind]),
    )


@lru_cache(maxsize=1)
def _read_weights() -> dict[str, Any]:
    weights: dict[str, Any] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    return weights
