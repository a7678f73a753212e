"""JSON Schema of every answer of the API, made from the types that ``json_values`` and ``render_graph`` convert."""

from __future__ import annotations

from typing import Any

from dowse.interfaces.http.json_schemas import (
    Schema,
    describe_list,
    describe_object,
    describe_type,
    describe_value,
)
from dowse.interfaces.json_values import SCHEMA
from dowse.types.answers import (
    ChannelReport,
    Packed,
    RepositoryReport,
    SearchResponse,
    SearchResult,
    Stage,
)
from dowse.types.commit_values import BlamedEntity, HistoryAnswer
from dowse.types.discovered import IndexReport, Skipped
from dowse.types.explanations import Explanation
from dowse.types.graph_values import Affected, EntityCode, EntityHit, GraphAnswer, Node, Step
from dowse.types.queries import Query, RewriteTrace
from dowse.types.source import ParseHealth, Role
from dowse.types.stored import IndexState, IndexStatus

TEXT: Schema = {"type": "string"}
TEXTS = describe_list(TEXT)
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
NULL: Schema = {"type": "null"}
VERSION: Schema = {"const": SCHEMA}


def _refer(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _answer(**fields: Schema) -> Schema:
    return describe_object({"schema": VERSION, **fields})


_NODE_ID = {"from": TEXT, "to": TEXT, "relation": TEXT}

SHARED: dict[str, Schema] = {
    "Query": describe_type(Query, drop=("filter", "phrases", "unwanted", "regexes", "rewrite", "depends_on_time"),
                           views={"type": "object", "additionalProperties": TEXT}),
    "Rewrite": describe_type(RewriteTrace),
    "Result": describe_type(SearchResult, channel_scores={"type": "object", "additionalProperties": NUMBER}),
    "Channel": describe_type(ChannelReport),
    "Stage": describe_type(Stage),
    "RepositoryReport": describe_type(RepositoryReport),
    "Packed": describe_type(Packed, drop=("hits",)),
    "Node": describe_type(Node),
    "Step": describe_type(Step, drop=("parent", "node", "edge", "backward"), **_NODE_ID, certainty=TEXT, line=COUNT,
                          candidates=TEXTS),
    "Walk": describe_type(GraphAnswer, schema=VERSION, nodes=describe_list(_refer("Node")),
                          steps=describe_list(_refer("Step"))),
    "IndexReport": describe_type(IndexReport),
    "Index": describe_type(IndexStatus, drop=("report",)),
    "Problem": describe_object(
        {"type": TEXT, "title": TEXT, "status": COUNT, "detail": TEXT, "error": TEXT, "exit_code": COUNT},
        optional=("error", "exit_code"),
    ),
}  # fmt: skip
"""Parts that several answers have."""

_SEARCH_FIELDS: dict[str, Schema] = {
    "schema": VERSION,
    "query": _refer("Query"),
    "channels": describe_list(_refer("Channel")),
    "results": describe_list(_refer("Result")),
    "stages": describe_list(_refer("Stage")),
    "repositories": describe_list(_refer("RepositoryReport")),
    "rewrite": _refer("Rewrite"),
}


def _describe_search() -> Schema:
    described = describe_type(SearchResponse, ("has_more",), **_SEARCH_FIELDS)
    described["properties"]["packed"] = _refer("Packed")
    return described


SEARCH = _describe_search()
EXPLAIN = describe_type(
    Explanation,
    schema=VERSION,
    query=_refer("Query"),
    result={"anyOf": [_refer("Result"), NULL]},
    stages=describe_list(_refer("Stage")),
)
RESULTS = _answer(results=describe_list(_refer("Result")))
GRAPH = _refer("Walk")
ENTITIES = _answer(entities=describe_list(describe_type(EntityHit)))
CODE = _answer(entities=describe_list(describe_type(EntityCode)))
HUBS = _answer(hubs=describe_list(describe_type(Node, dependents=COUNT, rank=NUMBER)))
CYCLES = _answer(cycles=describe_list(TEXTS))
AFFECTED = describe_type(
    Affected,
    schema=VERSION,
    changed=describe_list(_refer("Node")),
    dependents=_refer("Walk"),
    tests=describe_list(describe_object({"path": TEXT, "why": TEXT})),
    companions=describe_list(describe_object({"path": TEXT, "share": NUMBER, "commits": COUNT})),
)
HISTORY = describe_type(HistoryAnswer, schema=VERSION)
BLAME = _answer(entities=describe_list(describe_type(BlamedEntity)))
REPOSITORIES = _answer(
    repositories=describe_list(
        describe_object(
            {
                "name": TEXT,
                "root": TEXT,
                "state": {"enum": ["", *IndexState]},
                "generation": COUNT,
                "files": COUNT,
                "problem": TEXT,
            }
        )
    )
)
_STATUS: dict[str, Any] = {
    "root": TEXT,
    "index": _refer("Index"),
    "pending": {"anyOf": [COUNT, NULL]},
    "report": {"anyOf": [_refer("IndexReport"), NULL]},
    "notes": TEXTS,
}
STATUS = _answer(**_STATUS)
INDEX = _answer(root=TEXT, report=_refer("IndexReport"), index=_refer("Index"), notes=TEXTS)
WHY = _answer(path=TEXT, indexed=FLAG, reason=TEXT, detail=TEXT)
FILES = _answer(
    root=TEXT,
    files=describe_list(
        describe_object(
            {
                "path": TEXT,
                "language": TEXT,
                "role": describe_value(Role),
                "health": describe_value(ParseHealth),
                "chunks": COUNT,
                "definitions": COUNT,
            }
        )
    ),
)
SKIPPED = _answer(root=TEXT, skipped=describe_list(describe_type(Skipped)))
LANGUAGES = _answer(
    languages=describe_list(
        describe_object(
            {"name": TEXT}
            | dict.fromkeys(("aliases", "extensions", "filenames", "interpreters"), TEXTS)
            | dict.fromkeys(("symbols", "imports", "calls"), FLAG)
            | {"grammar": TEXT, "written_in": TEXTS}
        )
    )
)
EVALUATIONS = _answer(evaluations=TEXTS)
EVALUATION = _answer(kind=TEXT, root=TEXT, made=TEXT, version=TEXT, truth=TEXT, runs={"type": "array"})
