"""Role model: which role of file a query asks for, by the words it uses: learned odds, read from ``role_words.json``.

A logistic regression over the words of a query, its pairs of words and its beginning: "which test ..." asks for a
test, "how do I ..." for a document, "default ..." for a setting. ``training/learn_ranking.py`` learns it from written
questions and the roles of the files that answer them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from dowse.code import tokens
from dowse.types.source import Role

WORDS_FILE = Path(__file__).parents[1] / "role_words.json"

MAX_CUE_WORDS = 60
"""Words of a query that are looked at: the beginning of a long text says what is asked for."""

BEGINNING_WORDS = 3
"""Words at the beginning of a query that count as its beginning, one more at a time."""


class RoleModel(NamedTuple):
    """The weights of the roles that can be asked for: without any word, and for each cue."""

    roles: Sequence[Role]
    intercept: Sequence[float]
    cues: Mapping[str, Sequence[float]]

    def compute_odds(self, text: str) -> dict[Role, float]:
        """Compute for each role the logarithm of the odds that a query asks for it, rather than for source code."""
        found = [self.cues[cue] for cue in list_cues(text) if cue in self.cues]
        sums = [sum(column) for column in zip(self.intercept, *found, strict=True)]
        return dict(zip(self.roles, sums, strict=True))


def list_cues(text: str) -> tuple[str, ...]:
    """List what a query may ask for a role with, each once: its stems, pairs of them, and how it begins (``^``)."""
    words = tokens.split_words(text)[:MAX_CUE_WORDS]
    stems = [tokens.stem(part) for word in words for part in tokens.split_identifier(word)]
    pairs = (f"{one} {other}" for one, other in pairwise(stems))
    beginnings = ("^" + " ".join(stems[:count]) for count in range(1, BEGINNING_WORDS + 1))
    return tuple(dict.fromkeys((*stems, *pairs, *beginnings)))


@lru_cache(maxsize=1)
def load_role_model() -> RoleModel:
    """Load the model of the package."""
    return read_role_model(WORDS_FILE)


def read_role_model(path: Path) -> RoleModel:
    """Read a model from its file."""
    read = json.loads(path.read_text(encoding="utf-8"))
    return RoleModel([Role(name) for name in read["roles"]], read["intercept"], read["cues"])
