"""Query clauses of OpenSearch: which rows a generation shows, and which chunks and names a filter lets through."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from dowse.filters import name_regex, path_regex
from dowse.stores.channels_protocol import FindChanged, VisibleGeneration
from dowse.types.stored import Filter

MAX_TERMS = 50_000
"""Values in one list of a query; the engine allows 65,536."""

MAX_REGEX_CHARS = 900
"""A longer pattern is refused by the engine."""

Clause = dict[str, Any]


def visible_clauses(visible: VisibleGeneration) -> list[Clause]:
    """Make the clauses that every row of a generation passes."""
    abandoned = sorted(visible.abandoned)
    clauses: list[Clause] = [
        {"term": {"identity": visible.identity}},
        {"range": {"added": {"lte": visible.generation}}},
    ]
    is_there: Clause = {"range": {"removed": {"gt": visible.generation}}}
    if abandoned:
        clauses.append(exclude({"terms": {"added": abandoned}}))
        is_there = either([is_there, {"terms": {"removed": abandoned}}])
    return [*clauses, is_there]


def file_clauses(filter: Filter, find_changed: FindChanged) -> list[Clause]:
    """Make the clauses on a file. The catalogue says which were changed lately."""
    clauses: list[Clause] = []
    if filter.languages:
        clauses.append({"terms": {"language": sorted(filter.languages)}})
    if filter.not_languages:
        clauses.append(exclude({"terms": {"language": sorted(filter.not_languages)}}))
    if filter.roles:
        clauses.append({"terms": {"role": sorted(role.value for role in filter.roles)}})
    if filter.not_roles:
        clauses.append(exclude({"terms": {"role": sorted(role.value for role in filter.not_roles)}}))
    if filter.paths:
        clauses.append(either(_match("path", path_regex(pattern)) for pattern in filter.paths))
    clauses += [exclude(_match("path", path_regex(pattern))) for pattern in filter.not_paths]
    if filter.changed_since_ns is not None:
        clauses.append(among("file", find_changed(filter.changed_since_ns)))
    return clauses


def chunk_clauses(filter: Filter) -> list[Clause]:
    """Make the clauses on the definitions of a chunk."""
    return _definition_clauses(filter, "kinds", "defined")


def entity_clauses(filter: Filter) -> list[Clause]:
    """Make the clauses on a definition that is to be a hit itself."""
    return _definition_clauses(filter, "kind", "name_key")


def _definition_clauses(filter: Filter, kind: str, name: str) -> list[Clause]:
    clauses: list[Clause] = []
    if filter.kinds:
        clauses.append({"terms": {kind: sorted(one.value for one in filter.kinds)}})
    if filter.not_kinds:
        clauses.append(exclude({"terms": {kind: sorted(one.value for one in filter.not_kinds)}}))
    if filter.names:
        clauses.append(either(match_name(name, pattern) for pattern in filter.names))
    return clauses


def match_name(field: str, pattern: str) -> Clause:
    """Make the clause for a glob of names in lower case."""
    return _match(field, name_regex(pattern))


def among(field: str, values: Collection[int]) -> Clause:
    """Make the clause for one of some numbers, however many they are."""
    listed = sorted(values)
    parts = [listed[start : start + MAX_TERMS] for start in range(0, len(listed), MAX_TERMS)]
    return either({"terms": {field: part}} for part in parts or [[]])


def either(clauses: Iterable[Clause]) -> Clause:
    """Make the clause that one of some others is enough for."""
    return {"bool": {"should": list(clauses), "minimum_should_match": 1}}


def exclude(clause: Clause) -> Clause:
    """Make the clause that another one must not hold."""
    return {"bool": {"must_not": [clause]}}


def join(clauses: Sequence[Clause]) -> Clause:
    """Make the clause that all of some others must hold, without scores."""
    return {"bool": {"filter": list(clauses)}}


def _match(field: str, regex: str) -> Clause:
    return {"regexp": {field: {"value": translate_regex(regex), "flags": "NONE"}}}


def translate_regex(regex: str) -> str:
    """Translate a regular expression for the whole text to the engine's, where a dot matches line breaks.

    Quotes and ``< > @`` are ordinary in Python's; no class or repetition of ours has them.
    """
    text = regex.replace("(?s:.*)", ".*")
    return "".join("\\" + c if c in '"<>@' else c for c in text)
