"""HTTP errors as problem details (RFC 9457): the exception tree of dowse mapped to statuses, with its exit codes."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from dowse.errors import (
    DowseError,
    EmbedderError,
    EntityAmbiguous,
    EntityNotFound,
    IndexLocked,
    IndexProblem,
    RootError,
    UsageError,
)

MEDIA_TYPE = "application/problem+json"

RETRY_SECONDS = 2
"""When to try again what could not be done for now."""

STATUSES: tuple[tuple[type[DowseError], int], ...] = (
    (EntityNotFound, 404),
    (EntityAmbiguous, 409),
    (RootError, 404),
    (UsageError, 400),
    (IndexLocked, 503),
    (IndexProblem, 503),
    (EmbedderError, 502),
    (DowseError, 500),
)
"""The status of each class of errors, the more special ones first."""

TITLES = {
    400: "The request cannot be answered as it is",
    401: "A token is needed",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Several things have this name",
    413: "The request is too large",
    415: "The body is of another type",
    421: "This server does not go by that name",
    429: "Too many requests",
    500: "Internal error",
    502: "A service did not answer",
    503: "Not available for now",
    504: "It took too long",
}


class HttpProblem(Exception):
    """A request that is refused with a status, before or beside what the engine says."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers or {}


def problem_response(error: Exception) -> Response:
    """Make the response that reports an error; nothing of an unexpected one is shown."""
    if isinstance(error, HttpProblem):
        return make_problem(error.status, str(error), headers=error.headers)
    if isinstance(error, DowseError):
        status = next(status for kind, status in STATUSES if isinstance(error, kind))
        headers = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {}
        return make_problem(status, str(error), type(error).__name__, error.exit_code, headers)
    return make_problem(500, "something went wrong in the server: its log says what")


def make_problem(
    status: int,
    detail: str,
    error: str = "",
    exit_code: int | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """Make a response with problem details; ``error`` and ``exit_code`` as the command line has them."""
    values: dict[str, Any] = {
        "type": f"/api#{error}" if error else "about:blank",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
    }
    if error:
        values |= {"error": error, "exit_code": exit_code}
    return Response(encode_json(values), status, headers, MEDIA_TYPE)


def encode_json(values: Any) -> bytes:
    r"""Encode values; a lone surrogate (of a name that is not UTF-8) becomes ``\udcff``, as JSON has it."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")
