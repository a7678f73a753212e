"""Role features: what part a file plays in its tree, and whether the query asks for such files."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dowse.search.ranking.candidates import FileCandidate
from dowse.search.ranking.features.feature import Feature, Values
from dowse.search.ranking.features.inline_tests import is_inline_test
from dowse.types.queries import Query
from dowse.types.source import Role

ROLES = (Role.TEST, Role.EXAMPLE, Role.GENERATED, Role.VENDORED, Role.DOCS, Role.CONFIG)

FEATURES = {
    **{
        f"{role.value}_unasked": Feature("file_role", 0 if role in (Role.DOCS, Role.CONFIG) else -1)
        for role in ROLES
    },
    **{f"{role.value}_asked": Feature("file_role", 0) for role in ROLES},
    "data_unasked": Feature("file_role", -1, prior=-0.4),
    "schema_unasked": Feature("file_role", -1, prior=-0.8),
    "declaration_unasked": Feature("file_role", -1, prior=-0.3),
    "legacy_unasked": Feature("file_role", -1, prior=-0.8),
    "inline_test": Feature("file_role", -1),  # the first place is a test in a source file
    "data_file": Feature("file_role", 0),
    "hidden_folder": Feature("file_role", -1),
}

COUNTED_AS: Mapping[Role, Role] = {Role.DATA: Role.CONFIG, Role.SCHEMA: Role.CONFIG}
"""Roles that have the features of another as well as their own: data and schemas are a kind of configuration."""

BESIDE_ROLES = (Role.DATA, Role.SCHEMA, Role.DECLARATION, Role.LEGACY)
"""Roles of files that stand behind those which they describe, repeat or fill, unless the query asks for them."""

DATA_LANGUAGES = frozenset({"json", "csv", "xml", "svg", "css", "text", "html", "po"})
"""Languages of files that are data, markup or styles rather than code."""

ROLE_WORDS: Mapping[Role, frozenset[str]] = {
    Role.TEST: frozenset("assert fixtur mock spec test".split()),
    Role.EXAMPLE: frozenset("benchmark demo exampl sampl".split()),
    Role.GENERATED: frozenset({"generat"}),
    Role.VENDORED: frozenset({"vendor", "vendored"}),
    Role.DOCS: frozenset("changelog doc docs document explain guid manual readm tutori".split()),
    Role.CONFIG: frozenset(
        "build ci config configur contain default depend deploy docker env helm imag ingress kubernet lint namespac "
        "packag pipelin pod releas replica set terraform toml version workflow yaml".split()
    ),
    Role.DATA: frozenset("data dataset fixtur lock translat".split()),
    Role.SCHEMA: frozenset("crd definit schema valid".split()),
    Role.DECLARATION: frozenset("declar header interfac prototyp type".split()),
    Role.LEGACY: frozenset("deprec legaci old".split()),
}
"""Stems in a query that ask for files of a role."""

HOW_TO_QUERY = re.compile(r"\s*how (?:to|(?:do|can|should|would) (?:i|you))\b", re.IGNORECASE)
"""How a query begins that asks for instructions: "how do I build this", not "how does it build"."""


def find_asked_roles(query: Query) -> frozenset[Role]:
    """Find the roles of files that a query asks for."""
    words = frozenset(query.words)
    asked = {role for role, own in ROLE_WORDS.items() if not words.isdisjoint(own)}
    if HOW_TO_QUERY.match(query.text):
        asked.add(Role.DOCS)
    return frozenset(asked)


class RoleFeatures:
    """The role features of the files of one query."""

    def __init__(self, query: Query) -> None:
        self._asked = find_asked_roles(query)
        self._by_role = {role: self._compute_role(role) for role in Role}

    def _compute_role(self, role: Role) -> Values:
        beside = [float(role is each and each not in self._asked) for each in BESIDE_ROLES]
        role = COUNTED_AS.get(role, role)
        is_asked = role in self._asked
        return (
            *[float(role is each and not is_asked) for each in ROLES],
            *[float(role is each and is_asked) for each in ROLES],
            *beside,
        )

    def compute(self, file: FileCandidate) -> Values:
        """Compute the features of one file, in the order of the table."""
        role = file.file.role
        may_be_test = Role.TEST not in self._asked and role is not Role.TEST
        return (
            *self._by_role[role],
            float(may_be_test and is_inline_test(file.places[0])),
            float(file.file.parsed.language in DATA_LANGUAGES),
            float("/." in f"/{file.file.path}"),
        )

    def describe(self, file: FileCandidate) -> str:
        """Say which role a file has."""
        role = file.file.role
        is_asked = role in self._asked or COUNTED_AS.get(role, role) in self._asked
        return f"{role.value} file" + (", as the query asks for" if is_asked else "")
