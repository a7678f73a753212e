"""The learned ranking model: a weight for every feature and trait of a query, read from ``weights.json``.

Linear, so that the contributions of features add up to the score. ``training/learn_ranking.py`` learns the weights and
``docs/ranking.md`` is the model card.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

from dowse.code import tokens
from dowse.search.channels.retrieve import get_channel_weights
from dowse.search.ranking.calibration import EVIDENCE, RelevanceModel
from dowse.search.ranking.features import FILE_FEATURES, PLACE_FEATURES, TEXT_FEATURES
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.feature import Feature, Values
from dowse.settings import Settings

WEIGHTS_FILE = Path(__file__).with_name("weights.json")

TRAITS = ("any", "long", "short", "matched", "unmatched", "name", "no_vectors")
"""What weights depend on: each trait has weights of its own, which count as far as a query has the trait."""

NAME_TRAIT, NO_VECTORS_TRAIT = TRAITS.index("name"), TRAITS.index("no_vectors")

SHORT_WORDS, LONG_WORDS = 4, 24
"""Words up to which a query is wholly short, and from which on it is wholly long; in between it is both in part."""

UNMATCHED_STRENGTH, MATCHED_STRENGTH = 1.0, 5.5
"""Best keyword score, as a share of what the query's terms are worth, of a query that is worded unlike the code, and
of one that is worded like it."""

NAME_WORDS = 3
"""Words up to which a query names its subject."""


class RankingModel(NamedTuple):
    """The weights for one query, in the order of the tables of features."""

    file: Values
    text: Values
    place: Values
    file_share: float  # how much the score of its file counts in that of a place
    further_place: float  # by how much each further place of a file is behind the one before
    relevance: RelevanceModel


def measure_traits(context: FeatureContext) -> Values:
    """Measure how far a query has each trait, from 0 to 1."""
    query = context.query
    long = _measure_share(len(tokens.split_words(query.text)), SHORT_WORDS, LONG_WORDS)
    lexical = context.channels["lexical"].hits if "lexical" in context.channels else ()
    strength = lexical[0].score / context.total_worth if lexical else 0.0
    matched = _measure_share(strength, UNMATCHED_STRENGTH, MATCHED_STRENGTH)
    is_name = query.type in ("symbol", "file") or len(query.words) <= NAME_WORDS
    return (
        1.0,
        long,
        1.0 - long,
        matched,
        1.0 - matched,
        float(is_name),
        float(not is_name and not context.cosines),
    )


def _measure_share(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))


def list_disabled_groups(settings: Settings) -> tuple[str, ...]:
    """List the groups of features of weight 0: those switched off, and those of channels of weight 0."""
    off = {name for name, weight in get_channel_weights(settings).items() if not weight}
    if "dense" in off:
        off.update(("file_vectors", "soft_coverage"))
    return tuple(sorted(off.union(settings.disabled_features)))


def make_model(traits: Values, disabled: tuple[str, ...] = ()) -> RankingModel:
    """Make the model for a query with some traits; disabled groups of features have the weight 0."""
    file, text, place, gap_weight, intercept, evidence = (
        mix_weights(rows, traits) for rows in _load_tables(disabled)
    )
    weights = _read_weights()
    return RankingModel(
        file,
        text,
        place,
        weights["file_share"],
        0.0 if "place" in disabled else weights["further_place"],
        RelevanceModel(intercept[0], evidence, gap_weight[0]),
    )


def mix_weights(rows: Sequence[Values], traits: Values) -> Values:
    """Add up the weights of the traits of a query, each as far as the query has the trait."""
    return tuple([sum(map(mul, row, traits)) for row in rows])


@lru_cache(maxsize=32)
def _load_tables(disabled: tuple[str, ...]) -> tuple[Sequence[Values], ...]:
    """Load the weights of every feature by trait: of files, their text, places, and of what relevance is made of."""
    weights = _read_weights()

    def choose(table: str, features: Mapping[str, Feature]) -> Sequence[Values]:
        rows: Mapping[str, Sequence[float]] = weights[table]
        return [
            (0.0,) * len(TRAITS) if feature.group in disabled else tuple(rows.get(name) or start_at(feature))
            for name, feature in features.items()
        ]

    relevance: Mapping[str, Sequence[float]] = weights["relevance"]
    return (
        choose("file", FILE_FEATURES),
        choose("file", TEXT_FEATURES),
        choose("place", PLACE_FEATURES),
        [tuple(relevance["gap_weight"])],
        [tuple(relevance["intercept"])],
        [tuple(relevance[name]) for name in EVIDENCE],
    )


def start_at(feature: Feature) -> Values:
    """Return the weights of a feature that was added after the others were learned: its prior, for any query."""
    return (feature.prior, *(0.0 for _ in TRAITS[1:]))


@lru_cache(maxsize=1)
def _read_weights() -> dict[str, Any]:
    weights: dict[str, Any] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    return weights
