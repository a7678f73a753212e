"""Test queries from symbol names: known-item search by people who know the name of what they look for."""

from __future__ import annotations

import random
from collections import defaultdict

from dowse.engine import Engine
from dowse.evaluation.eval_types import EvalQuery, GoldTarget
from dowse.evaluation.mining import definitions
from dowse.types.source import Entity, Kind

MIN_NAME_LETTERS = 4
"""Letters of a name; shorter names are not distinctive."""

MAX_DEFINITIONS = 3
"""A name with more definitions does not say which one is meant."""

QUALIFIED_SHARE = 0.3
"""Share of methods that are queried with their class: ``Session.send``."""


def mine_queries(engine: Engine, wanted: int, rng: random.Random) -> list[EvalQuery]:
    """Mine one query per distinctive name; all definitions of the name answer it."""
    definitions_by_name: dict[str, list[tuple[str, Entity]]] = defaultdict(list)
    for file, entity in definitions.iter_source_definitions(engine):
        definitions_by_name[entity.name].append((file.path, entity))
    found = []
    for name, defined in definitions_by_name.items():
        if (
            len(name.strip("_")) < MIN_NAME_LETTERS
            or name.startswith("__")
            or " " in name
            or len(defined) > MAX_DEFINITIONS
        ):
            continue
        entity = defined[0][1]
        query = name
        if len(defined) == 1 and entity.kind is Kind.METHOD and rng.random() < QUALIFIED_SHARE:
            query = ".".join(entity.qualified.split(".")[-2:])
        targets = (GoldTarget(path, entity=entity.qualified) for path, entity in defined)
        found.append(EvalQuery("", query, tuple(dict.fromkeys(targets)), "symbols", source="symbols"))
    return found
