"""Learn which role of file a query asks for, from the words of queries: ``search/ranking/features/role_model.py``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from ranking_examples import PRIMARY, Example
from scipy.optimize import minimize

from dowse.search.ranking.features.role_model import RoleModel, list_cues
from dowse.types.source import Role

Array = NDArray[np.float64]

ASKED_ROLES = (Role.TEST, Role.DOCS, Role.CONFIG, Role.EXAMPLE)
"""Roles that queries ask for often enough to learn from; the odds are those against source code."""

MIN_QUERIES = 3
"""A cue that fewer queries have says nothing."""

L2 = 1.0
INTERCEPT_L2 = 0.01
"""How strongly the weights are pulled to zero: those of cues, and those that every query has."""

MAX_ITERATIONS = 100

MIN_WEIGHT = 0.1
"""The least weight of a cue that is kept: smaller ones fill the file and change nothing."""


def learn_roles(examples: Sequence[Example]) -> RoleModel:
    """Learn from queries whose right files all have one role: source code, or one that can be asked for."""
    labelled = [(list_cues(e.query), role) for e in examples if (role := _find_role(e)) is not None]
    counts = Counter(cue for cues, _ in labelled for cue in cues)
    cues = sorted(cue for cue, count in counts.items() if count >= MIN_QUERIES)
    columns = {cue: n for n, cue in enumerate(cues, 1)}
    features = np.zeros((len(labelled), len(cues) + 1))
    features[:, 0] = 1.0
    for row, (own, _) in enumerate(labelled):
        features[row, [columns[cue] for cue in own if cue in columns]] = 1.0
    labels = np.zeros((len(labelled), len(ASKED_ROLES) + 1))
    labels[np.arange(len(labelled)), [_number(role) for _, role in labelled]] = 1.0
    weights = _fit(features, labels)
    return RoleModel(
        ASKED_ROLES, weights[0].tolist(), {cue: weights[n].tolist() for cue, n in columns.items()}
    )


def _find_role(example: Example) -> Role | None:
    """Find the role of the right files of a query, if it is one that is learned."""
    roles = {file.role for file in example.files if file.grade == PRIMARY}
    role = roles.pop() if len(roles) == 1 else None
    return role if role in (Role.SOURCE, *ASKED_ROLES) else None


def _number(role: Role) -> int:
    return ASKED_ROLES.index(role) + 1 if role in ASKED_ROLES else 0


def _fit(features: Array, labels: Array) -> Array:
    """Fit a multinomial logistic regression; the first class, source code, is what the others are compared with."""
    shape = features.shape[1], labels.shape[1] - 1
    pulls = np.full(shape, L2)
    pulls[0] = INTERCEPT_L2

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(shape)
        scores = np.hstack([np.zeros((len(features), 1)), features @ weights])
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        gradient = features.T @ (np.exp(logs) - labels)[:, 1:] + pulls * weights
        return -(labels * logs).sum() + (pulls * weights**2).sum() / 2, gradient.ravel()

    start, options = np.zeros(shape).ravel(), {"maxiter": MAX_ITERATIONS}
    found: Array = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return found.reshape(shape)


def export_roles(model: RoleModel) -> str:
    """Write the model as readable JSON: a line for each cue, a number for each role; without cues that say little."""
    rows = {cue: [round(weight, 2) for weight in row] for cue, row in model.cues.items()}
    lines = [
        f"  {json.dumps(cue)}: {json.dumps(row)}"
        for cue, row in rows.items()
        if max(map(abs, row)) >= MIN_WEIGHT
    ]
    head = f' "roles": {json.dumps([role.value for role in model.roles])},\n'
    head += f' "intercept": {json.dumps([round(weight, 2) for weight in model.intercept])},\n'
    return "{\n" + head + ' "cues": {\n' + ",\n".join(lines) + "\n }\n}\n"
