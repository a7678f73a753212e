"""API operations on the code graph: callers, callees, deps, impact, hierarchy, path, hubs, cycles, affected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.interfaces import render_graph
from dowse.interfaces.http import answer_schemas
from dowse.interfaces.http.operations import REFRESH, REPOSITORY, ApiAnswer, ApiCall, Operation, indexed
from dowse.interfaces.http.parameters import Parameter
from dowse.interfaces.http.search_operations import FILTERS, LIMIT, PROFILE, build_filter
from dowse.types.graph_values import (
    ALL_STEPS,
    DEFAULT_DEPTHS,
    Direction,
    GraphAnswer,
    Relation,
    Walk,
    format_depth,
    parse_depth,
)

MAX_NODES = 1000
"""Nodes of an answer."""

MAX_DEPTH = 100

MAX_DIFF_CHARS = 3_000_000

MAX_THRESHOLD = 1000

TARGET = Parameter("target", "A path, PATH:Name, a qualified name or a name.", required=True)
AMBIGUOUS = Parameter("ambiguous", "Also what is known by name only.", "boolean", default=False)
EXTERNAL = Parameter("external", "Also what lies outside of the tree.", "boolean", default=False)
NODES = Parameter("limit", "Nodes at most.", "integer", minimum=1, maximum=MAX_NODES, default=MAX_NODES)
KIND = Parameter("kind", "Only this kind.", many=True, max_chars=100)


def _depth(question: str) -> Parameter:
    default = format_depth(DEFAULT_DEPTHS[question])
    text = f"Steps to follow; {ALL_STEPS}: all."
    return Parameter("depth", text, "integer", minimum=ALL_STEPS, maximum=MAX_DEPTH, default=default)


def build_walk(engine: Engine, values: Mapping[str, Any]) -> Walk:
    """Build the walk that the parameters ask for."""
    return Walk(
        direction=Direction(values.get("direction", "uses")),
        depth=parse_depth(values.get("depth", 1)),
        relations=frozenset(map(Relation, values.get("relation", ()))),
        kinds=engine.filter(kinds=values.get("kind", ())).kinds,
        ambiguous=values.get("ambiguous", False),
        external=values.get("external", False),
        limit=values.get("limit", MAX_NODES),
    )


GraphQuery = Callable[[Engine, Mapping[str, Any], Walk], GraphAnswer]


def _walk_operation(
    question: str, summary: str, ask: GraphQuery, parameters: Sequence[Parameter]
) -> Operation:
    """Make the operation of one walk through the graph."""

    def run(call: ApiCall) -> ApiAnswer:
        engine = call.engine
        answer = ask(engine, call.values, build_walk(engine, call.values))
        return indexed(render_graph.answer_values(answer), engine)

    return Operation(
        f"/graph/{question}",
        summary,
        run,
        answer_schemas.GRAPH,
        (*parameters, REPOSITORY, REFRESH),
        command=f"dowse {question}",
    )


def hubs(call: ApiCall) -> ApiAnswer:
    """List the nodes with the most dependents."""
    engine, values = call.engine, call.values
    found = engine.graph.hubs(engine.filter(kinds=values["kind"]).kinds, values["limit"])
    return indexed(render_graph.hubs_values(found), engine)


def cycles(call: ApiCall) -> ApiAnswer:
    """List files that import each other in a circle."""
    engine = call.engine
    return indexed(render_graph.cycles_values(engine.graph.cycles()), engine)


def affected(call: ApiCall) -> ApiAnswer:
    """List what a change reaches."""
    since, diff = call.values["since"], call.values["diff"]
    if since and diff:
        raise UsageError("'since' and 'diff' exclude each other: give one of them")
    walk = Walk(depth=parse_depth(call.values["depth"]))
    found = call.engine.graph.find_affected(since or "HEAD", diff, walk)
    return ApiAnswer(render_graph.affected_values(found))


def entities(call: ApiCall) -> ApiAnswer:
    """Find entities by name."""
    engine, values = call.engine, call.values
    filter = build_filter(engine, values)
    found = engine.graph.entities(values["query"], filter, values["limit"], values["threshold"])
    return indexed(render_graph.entities_values(found), engine)


def show(call: ApiCall) -> ApiAnswer:
    """Give the whole code of entities."""
    engine, values = call.engine, call.values
    return indexed(render_graph.code_values(engine.graph.retrieve(values["id"], values["context"])), engine)


OPERATIONS = (
    Operation(
        "/entities",
        "Find entities by id, name, prefix or content.",
        entities,
        answer_schemas.ENTITIES,
        (
            Parameter("query", "An id, a name, a prefix (Auth*) or words.", required=True),
            REPOSITORY,
            LIMIT,
            *FILTERS,
            Parameter("threshold", "Search the contents too if names find fewer than this.", "integer", minimum=0,
                      maximum=MAX_THRESHOLD),
            PROFILE,
            REFRESH,
        ),
        command="dowse entities",
    ),
    Operation(
        "/show",
        "Give the whole code of entities.",
        show,
        answer_schemas.CODE,
        (
            Parameter("id", "A path, or PATH:Class.method; a name if only one thing has it.", required=True, many=True),
            Parameter("context", "Lines around each.", "integer", minimum=0, maximum=MAX_NODES, default=0),
            REPOSITORY,
            REFRESH,
        ),
        command="dowse show",
    ),
    _walk_operation(
        "callers",
        "Show who calls a function, a method or a class.",
        lambda engine, values, walk: engine.graph.callers(values["target"], walk),
        (TARGET, AMBIGUOUS),
    ),
    _walk_operation(
        "callees",
        "Show what something calls.",
        lambda engine, values, walk: engine.graph.callees(values["target"], walk),
        (TARGET, AMBIGUOUS, EXTERNAL),
    ),
    _walk_operation(
        "deps",
        "Show the files that a file depends on.",
        lambda engine, values, walk: engine.graph.deps(values["target"], walk),
        (TARGET, _depth("deps"), NODES),
    ),
    _walk_operation(
        "impact",
        "Show what depends on a file or a symbol.",
        lambda engine, values, walk: engine.graph.impact(values["target"], walk),
        (TARGET, _depth("impact"), NODES, AMBIGUOUS),
    ),
    _walk_operation(
        "traverse",
        "Show what is around nodes of the code graph.",
        lambda engine, values, walk: engine.graph.traverse(values["id"], walk),
        (
            Parameter("id", "Where to begin.", required=True, many=True),
            Parameter("direction", "Which way edges are followed.", choices=tuple(Direction), default="uses"),
            Parameter("relation", "Only edges of this kind.", many=True, choices=tuple(Relation)),
            _depth("traverse"),
            NODES,
            KIND,
            AMBIGUOUS,
            EXTERNAL,
        ),
    ),
    _walk_operation(
        "hierarchy",
        "Show the classes above and below a class.",
        lambda engine, values, walk: engine.graph.hierarchy(values["target"], walk.depth),
        (TARGET, _depth("hierarchy")),
    ),
    _walk_operation(
        "path",
        "Show how one thing reaches another.",
        lambda engine, values, walk: engine.graph.path(
            values["target"], values["to"], ambiguous=walk.ambiguous
        ),
        (TARGET, Parameter("to", "Where the path ends.", required=True), AMBIGUOUS),
    ),
    Operation(
        "/graph/hubs",
        "Show what most of the tree depends on.",
        hubs,
        answer_schemas.HUBS,
        (Parameter("limit", "Rows.", "integer", minimum=1, maximum=MAX_NODES, default=20), KIND, REPOSITORY, REFRESH),
        command="dowse hubs",
    ),
    Operation(
        "/graph/cycles",
        "Show files that import each other in a circle.",
        cycles,
        answer_schemas.CYCLES,
        (REPOSITORY, REFRESH),
        command="dowse cycles",
    ),
    Operation(
        "/affected",
        "Show what a change reaches, and the tests to run.",
        affected,
        answer_schemas.AFFECTED,
        (
            Parameter("since", "Changes since this commit, branch or tag (default: HEAD).", max_chars=200),
            Parameter("diff", "The change as a unified diff.", max_chars=MAX_DIFF_CHARS),
            _depth("affected"),
            REPOSITORY,
            REFRESH,
        ),
        command="dowse affected",
        has_body=True,
    ),
)  # fmt: skip
