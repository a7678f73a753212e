"""Role features: what part a file plays in its tree, and whether the query asks for such files."""

from __future__ import annotations

from collections.abc import Mapping

from dowse.search.ranking.candidates import FileCandidate
from dowse.search.ranking.features.feature import Feature, Values
from dowse.search.ranking.features.inline_tests import is_inline_test
from dowse.search.ranking.features.role_model import load_role_model
from dowse.types.queries import Query
from dowse.types.source import Role

ROLES = (Role.TEST, Role.EXAMPLE, Role.GENERATED, Role.VENDORED, Role.DOCS, Role.CONFIG)

FEATURES = {
    **{f"{role.value}_file": Feature("file_role", 0) for role in ROLES},
    "role_odds": Feature("file_role", 1),  # how far the words of the query ask for its role
    "data_role": Feature("file_role", -1, prior=-0.4),
    "schema_role": Feature("file_role", -1, prior=-0.8),
    "declaration_role": Feature("file_role", -1, prior=-0.3),
    "legacy_role": Feature("file_role", -1, prior=-0.8),
    "inline_test": Feature("file_role", -1),  # the first place is a test in a source file
    "data_file": Feature("file_role", 0),
    "hidden_folder": Feature("file_role", -1),
}

ROLE_ODDS = list(FEATURES).index("role_odds")

COUNTED_AS: Mapping[Role, Role] = {Role.DATA: Role.CONFIG, Role.SCHEMA: Role.CONFIG}
"""Roles that have the features of another as well as their own: data and schemas are a kind of configuration."""

BESIDE_ROLES = (Role.DATA, Role.SCHEMA, Role.DECLARATION, Role.LEGACY)
"""Roles of files that stand behind those which they describe, repeat or fill."""

DATA_LANGUAGES = frozenset({"json", "csv", "xml", "svg", "css", "text", "html", "po"})
"""Languages of files that are data, markup or styles rather than code."""

ASKED_ODDS = 0.0
"""Odds from which on an explanation says that a role is asked for: it is as likely as source code."""


def find_counted_role(file: FileCandidate) -> Role:
    """Find the role that a file counts as: a source file whose first place is a test is asked for like a test."""
    role = file.file.role
    return COUNTED_AS.get(role, role) if not is_inline_test(file.places[0]) else Role.TEST


class RoleFeatures:
    """The role features of the files of one query."""

    def __init__(self, query: Query) -> None:
        self._odds = load_role_model().compute_odds(query.text)
        self._by_role = {
            role: tuple(float(COUNTED_AS.get(role, role) is each) for each in ROLES) for role in Role
        }

    def compute(self, file: FileCandidate) -> Values:
        """Compute the features of one file, in the order of the table."""
        role, counted = file.file.role, find_counted_role(file)
        return (
            *self._by_role[role],
            self._odds.get(counted, 0.0),
            *[float(role is each) for each in BESIDE_ROLES],
            float(counted is Role.TEST and role is not Role.TEST),
            float(file.file.parsed.language in DATA_LANGUAGES),
            float("/." in f"/{file.file.path}"),
        )

    def describe(self, file: FileCandidate) -> str:
        """Say which role a file has."""
        counted = find_counted_role(file)
        is_asked = self._odds.get(counted, -1.0) > ASKED_ODDS
        kind = "test in a source file" if counted is Role.TEST is not file.file.role else ""
        return (kind or f"{file.file.role.value} file") + (", as the query asks for" if is_asked else "")
