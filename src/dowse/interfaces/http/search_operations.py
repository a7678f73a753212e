"""API operations on places: search, explain, related, read, outline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.interfaces import json_values
from dowse.interfaces.answer_packing import pack_response
from dowse.interfaces.http import answer_schemas
from dowse.interfaces.http.operations import REFRESH, REPOSITORY, ApiAnswer, ApiCall, Operation, indexed
from dowse.interfaces.http.parameters import Parameter
from dowse.multi_repo import Repositories, choose_limit
from dowse.search.query.parse import MAX_QUERY_CHARS
from dowse.types.answers import SearchOptions, SearchResponse
from dowse.types.stored import Filter

MAX_HITS = 200
"""Hits of one page."""

MAX_DEPTH_OF_PAGES = 1000
"""Hits that can be paged to; beyond them a better query helps, not more pages."""

MAX_BUDGET_TOKENS = 100_000

MAX_CONTEXT_LINES = 1000

MAX_PASTED_CHARS = 1_000_000
"""Characters of a query in a body, which may be the output of a program."""

QUERY = Parameter(
    "query",
    f"The query, in the query language; a text of more than {MAX_QUERY_CHARS} characters is read as pasted.",
    required=True,
    max_chars=MAX_PASTED_CHARS,
)
PLACE = Parameter("place", "PATH or PATH:LINE, from the root of the repository.", required=True)
LIMIT = Parameter("limit", "Hits of a page.", "integer", minimum=1, maximum=MAX_HITS)
CURSOR = Parameter("cursor", "Where the page begins, from the Link header of the page before.", max_chars=20)

FILTERS = (
    Parameter("lang", "Only this language.", many=True, max_chars=100),
    Parameter("path", "Only files like this glob.", many=True, max_chars=1000),
    Parameter("not_path", "No files like this glob.", many=True, max_chars=1000),
    Parameter("kind", "Only definitions of this kind.", many=True, max_chars=100),
    Parameter("name", "Only definitions named like this glob.", many=True, max_chars=200),
    Parameter("tests", "Only tests, or no tests.", "boolean"),
)

RANKING = (
    Parameter("min_relevance", "Hide hits of less relevance.", "number", minimum=0, maximum=1),
    Parameter("show_low_confidence", "Show all hits even if none is good.", "boolean"),
    Parameter("near", "PATH or PATH:LINE: files near it rank higher."),
    Parameter("hybrid", "Whether the dense channel is searched.", choices=("auto", "on", "off")),
)

PROFILE = Parameter("profile", "Ranking: dowse's own, or LocAgent's.", choices=("dowse", "locagent"))

SETTINGS = (
    REFRESH,
    Parameter("cache", "Which earlier answers may be given again.", choices=("all", "exact", "off")),
    PROFILE,
    Parameter("term_graph", "off: without the synonyms of the settings, which alone can name a file of them.",
              choices=("off",)),
)  # fmt: skip

_LINES: Mapping[str, Any] = {"type": "integer", "minimum": 0, "maximum": MAX_CONTEXT_LINES}

SHOWING = (
    Parameter("before", "Lines to give before a hit.", **_LINES),
    Parameter("after", "Lines to give after a hit.", **_LINES),
    Parameter("budget", "Tokens that the best mix of hits must fit.", "integer", minimum=1, maximum=MAX_BUDGET_TOKENS),
    Parameter("detail", "With a budget: how much of each hit.", choices=("ids", "signature", "preview", "full")),
    Parameter("deps", "List for each hit what it uses, what uses it, and its tests.", "boolean"),
    Parameter("text", "Give the lines of each hit.", "boolean", default=True),
)  # fmt: skip

REPOSITORIES = replace(
    REPOSITORY, many=True, description="Only this repository (default: all that are served)."
)


def build_filter(engine: Engine, values: Mapping[str, Any]) -> Filter:
    """Build the filter that the parameters ask for."""
    return engine.filter(
        languages=values["lang"],
        paths=values["path"],
        not_paths=values["not_path"],
        kinds=values["kind"],
        names=values["name"],
        tests=values["tests"],
    )


def search(call: ApiCall) -> ApiAnswer:
    """Search one repository or several."""
    values = call.values
    target = call.served.find_target(call.caller, values["repository"], **call.settings)
    engines = list(target.engines.values()) if isinstance(target, Repositories) else [target]
    start, limit = _find_page(values, choose_limit(engines))
    if values["near"] and isinstance(target, Repositories):
        raise UsageError(f"'near' belongs to one repository: say which of {', '.join(target.engines)}")
    options = _build_options(engines[0], values, limit + start)
    response = target.search(values["query"], options, progress=call.call.progress)
    goes_on = response.has_more and start + limit < MAX_DEPTH_OF_PAGES
    response = replace(response, results=response.results[start:])
    budget = values["budget"]
    packed = pack_response(response, response.results, budget, values["detail"]) if budget else None
    return ApiAnswer(
        json_values.search_values(response, packed),
        None if response.query.depends_on_time else _list_generations(response),
        start + limit if goes_on else None,
    )


def _find_page(values: Mapping[str, Any], usual: int) -> tuple[int, int]:
    """Find where a page begins and how many hits it has."""
    cursor = values["cursor"] or "0"
    if not (cursor.isascii() and cursor.isdigit() and int(cursor) < MAX_DEPTH_OF_PAGES):
        raise UsageError(
            "this cursor is not from this server: take it from the Link header of the page before"
        )
    return int(cursor), values["limit"] or usual


def _build_options(engine: Engine, values: Mapping[str, Any], limit: int) -> SearchOptions:
    return SearchOptions(
        limit=limit,
        filter=build_filter(engine, values),
        before=values["before"],
        after=values["after"],
        text=values["text"],
        min_relevance=values["min_relevance"],
        show_low_confidence=values["show_low_confidence"],
        near=engine.near(values["near"]) if values["near"] else (),
        neighbours=bool(values["deps"]),
    )


def _list_generations(response: SearchResponse) -> tuple[int, ...]:
    return tuple(report.generation for report in response.repositories) or (response.generation,)


def explain(call: ApiCall) -> ApiAnswer:
    """Explain one place in the answer to a query."""
    engine, values = call.engine, call.values
    path, line = engine.parse_place(values["place"])
    near = engine.near(values["near"]) if values["near"] else ()
    options = SearchOptions(
        limit=values["limit"],
        filter=build_filter(engine, values),
        near=near,
        min_relevance=values["min_relevance"],
        show_low_confidence=values["show_low_confidence"],
    )
    explanation = engine.explain(values["query"], path, line, options, progress=call.call.progress)
    return indexed(json_values.explanation_values(explanation), engine)


def related(call: ApiCall) -> ApiAnswer:
    """Find what belongs to a place."""
    engine, values = call.engine, call.values
    path, line = engine.parse_place(values["place"])
    options = SearchOptions(limit=values["limit"], filter=build_filter(engine, values))
    response = engine.related(path, line, options, progress=call.call.progress)
    return ApiAnswer(json_values.search_values(response), (response.generation,))


def read(call: ApiCall) -> ApiAnswer:
    """Read code at some places."""
    engine = call.engine
    found = [
        result
        for target in call.values["target"]
        for result in engine.read(target, progress=call.call.progress)
    ]
    return indexed(json_values.results_values(found), engine)


def outline(call: ApiCall) -> ApiAnswer:
    """List the definitions of a file."""
    engine = call.engine
    found = engine.read(call.values["file"], outline=True, progress=call.call.progress)
    return indexed(json_values.results_values(found), engine)


OPERATIONS = (
    Operation(
        "/search",
        "Find the places that answer a query, best first.",
        search,
        answer_schemas.SEARCH,
        (QUERY, REPOSITORIES, LIMIT, CURSOR, *FILTERS, *RANKING, *SETTINGS, *SHOWING),
        command="dowse search",
        has_body=True,
    ),
    Operation(
        "/explain",
        "Say why a place ranks where it does, or why it is not there.",
        explain,
        answer_schemas.EXPLAIN,
        (QUERY, PLACE, REPOSITORY, LIMIT, *FILTERS, *RANKING, REFRESH),
        command="dowse explain",
        has_body=True,
    ),
    Operation(
        "/related",
        "Find what belongs to a place: its tests, and code like it.",
        related,
        answer_schemas.SEARCH,
        (PLACE, REPOSITORY, LIMIT, *FILTERS, REFRESH),
        command="dowse related",
    ),
    Operation(
        "/read",
        "Read places as the index has them: PATH, PATH:FIRST-LAST, PATH:Name or Name.",
        read,
        answer_schemas.RESULTS,
        (Parameter("target", "What to read.", required=True, many=True), REPOSITORY),
    ),
    Operation(
        "/outline",
        "List the definitions of a file, in their order.",
        outline,
        answer_schemas.RESULTS,
        (Parameter("file", "Path of the file.", required=True), REPOSITORY),
    ),
)
