"""The HTTP API as routes: requests are read, run in threads, and answered as JSON with ETag and Link."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from dowse import __version__
from dowse.errors import DowseError
from dowse.interfaces.call_context import Call
from dowse.interfaces.http.access import Caller
from dowse.interfaces.http.api_description import EVENT_STREAM, describe_api
from dowse.interfaces.http.operations import API_PATH, ApiAnswer, ApiCall, Operation, list_operations
from dowse.interfaces.http.parameters import read_body, read_query
from dowse.interfaces.http.problems import HttpProblem, encode_json, problem_response
from dowse.interfaces.http.request_guard import CALLER_KEY
from dowse.interfaces.http.request_metrics import OPERATION_KEY, RequestMetrics
from dowse.interfaces.http.request_threads import RequestThreads
from dowse.interfaces.http.served import Served

MAX_BODY_BYTES = 4_000_000

HEALTH_PATH = f"{API_PATH}/health"
OPENAPI_PATH = "/api/openapi.json"

Endpoint = Callable[[Request], Any]

log = logging.getLogger("dowse.http")


class Api:
    """The operations of the API as routes."""

    def __init__(self, served: Served, threads: RequestThreads, metrics: RequestMetrics) -> None:
        self._served = served
        self._threads = threads
        self._metrics = metrics
        self.operations = list_operations()
        self._description = encode_json(describe_api(self.operations))

    def routes(self) -> list[BaseRoute]:
        """List the routes of all operations."""
        return [
            *(
                Route(f"{API_PATH}{one.path}", self._endpoint(one), methods=list(one.methods))
                for one in self.operations
            ),
            Route(HEALTH_PATH, self._say_health),
            Route(f"{API_PATH}/metrics", self._write_metrics),
            Route(OPENAPI_PATH, self._describe),
        ]

    def _endpoint(self, operation: Operation) -> Endpoint:
        async def answer(request: Request) -> Response:
            request.scope[OPERATION_KEY] = operation.name
            if operation.permission not in find_caller(request).permissions:
                raise HttpProblem(403, f"this token has not the scope '{operation.permission}'")
            if request.method in ("GET", "HEAD"):
                values = read_query(operation.parameters, request.query_params.multi_items())
            else:
                values = read_body(operation.parameters, await _read_json(request))
            if EVENT_STREAM in request.headers.get("accept", "") and operation.only_body:
                return self._stream(request, operation, values)
            unlimited = Call() if operation.permission == "index" else None
            run = partial(self._run, request, operation, values)
            answered = await self._threads.run(request, run, unlimited)
            return make_response(request, answered)

        return answer

    def _run(self, request: Request, operation: Operation, values: dict[str, Any], call: Call) -> ApiAnswer:
        return operation.run(ApiCall(self._served, find_caller(request), values, call))

    def _stream(self, request: Request, operation: Operation, values: dict[str, Any]) -> Response:
        """Answer with server-sent events: ``progress`` as it goes, then ``done`` or ``problem``."""
        if operation.permission == "index":
            self._served.require_index(find_caller(request))
        events: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def notify(done: float, total: float, message: str) -> None:
            event = {"done": done, "total": total, "message": message}
            loop.call_soon_threadsafe(events.put_nowait, ("progress", event))

        async def work() -> None:
            try:
                run = partial(self._run, request, operation, values)
                answered = await self._threads.run(request, run, Call(notify))
                events.put_nowait(("done", answered.values))
            except Exception as error:
                events.put_nowait(("problem", json.loads(bytes(report(error).body))))

        async def send() -> AsyncIterator[bytes]:
            task = asyncio.create_task(work())
            kind = ""
            while kind not in ("done", "problem"):
                kind, event = await events.get()
                yield b"event: %s\ndata: %s\n\n" % (kind.encode(), encode_json(event))
            await task

        return StreamingResponse(send(), media_type=EVENT_STREAM, headers={"Cache-Control": "no-store"})

    async def _say_health(self, request: Request) -> Response:
        request.scope[OPERATION_KEY] = "health"
        return Response(encode_json({"status": "ok", "version": __version__}), media_type="application/json")

    async def _write_metrics(self, request: Request) -> Response:
        request.scope[OPERATION_KEY] = "metrics"

        def work(call: Call) -> str:
            caller = find_caller(request)
            rows = []
            for name in self._served.folders(caller):
                with suppress(DowseError):  # one whose folder is gone has no figures
                    rows.append((name, self._served.engine(caller, name).status()))
            return self._metrics.write(rows)

        return Response(await self._threads.run(request, work), media_type="text/plain; version=0.0.4")

    async def _describe(self, request: Request) -> Response:
        return Response(self._description, media_type="application/json")


def find_caller(request: Request) -> Caller:
    """Return who makes a request, as the guard found out."""
    caller: Caller = request.scope[CALLER_KEY]
    return caller


async def _read_json(request: Request) -> Any:
    """Read the body as JSON, up to a size; no other type, which a form of another site could send."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HttpProblem(415, "the body must be JSON (Content-Type: application/json)")
    length = request.headers.get("content-length", "")
    is_waiting = request.headers.get("expect", "").lower() == "100-continue"
    if is_waiting and length.isdigit() and int(length) > MAX_BODY_BYTES:
        raise _too_large()
    body, size = b"", 0
    async for part in request.stream():
        size += len(part)
        body = body + part if size <= MAX_BODY_BYTES else b""
    if size > MAX_BODY_BYTES:  # read to its end: who still sends would not see an answer
        raise _too_large()
    try:
        return json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise HttpProblem(400, f"the body is not JSON: {error}") from error


def _too_large() -> HttpProblem:
    return HttpProblem(413, f"the body has more than {MAX_BODY_BYTES} bytes", {"Connection": "close"})


def make_response(request: Request, answer: ApiAnswer) -> Response:
    """Make the response of an answer: not the body again if the client has it already."""
    headers = {"Cache-Control": "no-store"}
    if answer.generations is not None and request.method != "POST":
        generations = "-".join(map(str, answer.generations))
        asked = hashlib.sha256(f"{request.url.path}?{request.url.query}".encode()).hexdigest()[:16]
        headers = {"Cache-Control": "private, no-cache", "ETag": f'W/"{generations}.{asked}"'}
        if headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
    if answer.next_start is not None and request.method != "POST":
        items = [item for item in request.query_params.multi_items() if item[0] != "cursor"]
        query = urlencode([*items, ("cursor", answer.next_start)])
        headers["Link"] = f'<{request.url.path}?{query}>; rel="next"'
    return Response(encode_json(answer.values), headers=headers, media_type="application/json")


def report(error: Exception) -> Response:
    """Make the response of an error; an unexpected one goes to the log, which is shown to nobody else."""
    if not isinstance(error, DowseError | HttpProblem):
        log.error("internal error", exc_info=error)
    return problem_response(error)


async def handle_error(request: Request, error: Exception) -> Response:
    """Answer a request that failed."""
    if isinstance(error, HTTPException):
        headers = dict(error.headers or {})
        details = {
            404: "there is no such address here: /api lists what there is",
            405: f"this address answers {headers.get('Allow', 'other methods')} only",
        }
        detail = details.get(error.status_code, error.detail)
        return problem_response(HttpProblem(error.status_code, detail, headers))
    if isinstance(error, ClientDisconnect):
        error = HttpProblem(400, "the client left before its request was whole")
    return report(error)
