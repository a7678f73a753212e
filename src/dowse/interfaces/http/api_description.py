"""OpenAPI 3.1 description of the HTTP API, made from the table of operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dowse import __version__
from dowse.interfaces.http import problems
from dowse.interfaces.http.answer_schemas import COUNT, SHARED, TEXT
from dowse.interfaces.http.json_schemas import describe_object
from dowse.interfaces.http.operations import API_PATH, Operation
from dowse.interfaces.http.parameters import Parameter

OPENAPI_VERSION = "3.1.0"

EVENT_STREAM = "text/event-stream"

_COMMON_ERRORS = (401, 403, 421, 429, 500, 503, 504)
"""Errors that any operation may have."""

_OWN_ERRORS = (400, 404, 409)

HEALTH = describe_object({"status": {"const": "ok"}, "version": TEXT})


def describe_api(operations: Sequence[Operation]) -> dict[str, Any]:
    """Describe the API."""
    paths = {f"{API_PATH}{one.path}": _describe_path(one) for one in operations}
    paths[f"{API_PATH}/health"] = {"get": _describe_plain("health", "Say that the server is there.", HEALTH)}
    paths[f"{API_PATH}/metrics"] = {"get": _describe_plain("metrics", "Metrics for Prometheus.", None)}
    return {
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": "dowse",
            "version": __version__,
            "description": "Code search, the code graph and the state of indexes. Answers have the fields of the "
            "command line's --json. Errors are problem details (RFC 9457).",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": SHARED,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {f"Error{status}": _describe_error(status) for status in problems.TITLES},
        },
    }


def _describe_path(operation: Operation) -> dict[str, Any]:
    methods: dict[str, Any] = {}
    if not operation.only_body:
        parameters = [_describe_parameter(parameter) for parameter in operation.parameters]
        methods["get"] = _describe(operation, "") | {"parameters": parameters}
    if operation.has_body or operation.only_body:
        suffix = "_with_body" if operation.has_body else ""
        methods["post"] = _describe(operation, suffix) | {"requestBody": _describe_body(operation)}
    return methods


def _describe(operation: Operation, suffix: str) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": operation.answer}}
    if operation.only_body:
        content[EVENT_STREAM] = {"schema": {"type": "string"}}
    ok: dict[str, Any] = {"description": operation.summary, "content": content}
    if not operation.only_body:
        ok["headers"] = {
            "ETag": {"description": "Changes with the index.", "schema": TEXT},
            "Link": {"description": "The next page, if there may be one.", "schema": TEXT},
        }
    responses = {"200": ok} | ({} if operation.only_body else {"304": {"description": "As it was (ETag)."}})
    has_texts = operation.has_body or operation.only_body
    errors = (*_OWN_ERRORS, *((413, 415) if has_texts else ()), *_COMMON_ERRORS, 502)
    same = f" The same as `{operation.command} --json`." if operation.command else ""
    return {
        "operationId": operation.name + suffix,
        "summary": operation.summary,
        "description": f"Needs the scope `{operation.permission}`.{same}",
        "responses": responses | {str(s): {"$ref": f"#/components/responses/Error{s}"} for s in errors},
    }


def _describe_parameter(parameter: Parameter) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "required": parameter.required,
        "schema": parameter.schema(),
    }
    return described | ({"style": "form", "explode": True} if parameter.many else {})


def _describe_body(operation: Operation) -> dict[str, Any]:
    fields = {p.name: p.schema() | {"description": p.description} for p in operation.parameters}
    optional = [p.name for p in operation.parameters if not p.required]
    schema = describe_object(fields, optional) | {"additionalProperties": False}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _describe_plain(name: str, summary: str, schema: dict[str, Any] | None) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}} if schema else {"text/plain": {"schema": TEXT}}
    errors = {str(s): {"$ref": f"#/components/responses/Error{s}"} for s in (401, 421, 429)}
    described: dict[str, Any] = {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": summary, "content": content}, **errors},
    }
    return described | ({"security": []} if name == "health" else {})


def _describe_error(status: int) -> dict[str, Any]:
    headers = {"Retry-After": {"schema": COUNT}} if status in (429, 503) else {}
    return {
        "description": problems.TITLES[status],
        "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    } | ({"headers": headers} if headers else {})
