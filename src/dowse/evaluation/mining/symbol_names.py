"""Questions by name: what people type who know what they look for."""

from __future__ import annotations

import random
from collections import defaultdict

from dowse.engine import Engine
from dowse.evaluation.eval_types import Question, Target
from dowse.evaluation.mining import definitions
from dowse.types import Entity, Kind

SHORTEST = 4
"""Letters of a name that tells anything."""

SAME = 3
"""A name with more definitions does not say which one is meant."""

QUALIFIED = 0.3
"""Share of methods that are asked for with their class: ``Session.send``."""


def offer(engine: Engine, wanted: int, chance: random.Random) -> list[Question]:
    """A name for each definition that has one of its own; all definitions of a name answer it."""
    places: dict[str, list[tuple[str, Entity]]] = defaultdict(list)
    for file, entity in definitions.of_sources(engine):
        places[entity.name].append((file.path, entity))
    found = []
    for name, defined in places.items():
        if len(name.strip("_")) < SHORTEST or name.startswith("__") or " " in name or len(defined) > SAME:
            continue
        entity = defined[0][1]
        query = name
        if len(defined) == 1 and entity.kind is Kind.METHOD and chance.random() < QUALIFIED:
            query = ".".join(entity.qualified.split(".")[-2:])
        targets = (Target(path, entity=entity.qualified) for path, entity in defined)
        found.append(Question("", query, tuple(dict.fromkeys(targets)), "symbols", source="symbols"))
    return found
