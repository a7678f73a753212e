"""MCP server over stdio: JSON-RPC, one message a line, for one client; implemented without the SDK for a fast start.

The official SDK takes half a second of CPU time to import, and agents start a server with every session. So it carries
HTTP only (``http_server.py``), and is the client of all tests. Both forms of the protocol are supported: the handshake
(up to 2025-11-25), and requests that carry their version (2026-07-28).
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

from dowse.interfaces.call_context import Call, Cancelled, Notify
from dowse.interfaces.command_socket import CommandSocket
from dowse.interfaces.mcp.service import INTERNAL_ERROR, INVALID_PARAMS, ProtocolError, Service
from dowse.interfaces.mcp.session import ClientSession

HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
ENVELOPE_VERSIONS = ("2026-07-28",)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNSUPPORTED_VERSION = -32022

META_PREFIX = "io.modelcontextprotocol/"
"""Prefix of the protocol's own keys in ``_meta``."""

MAX_MESSAGE_BYTES = 4_000_000
"""Longest message that is read; a longer one is refused without being kept in memory."""

MAX_CONCURRENT_CALLS = 8

ROOTS_SECONDS = 5.0
"""Time that a client may take to say which folders it works on."""

PARENT_CHECK_SECONDS = 2.0
"""Pause between two checks that the parent process still runs."""

CLOSE_SECONDS = 3.0
"""Time that running calls may take to notice their cancellation."""


def serve(service: Service) -> None:
    """Serve until standard input ends or the parent is gone."""
    wire, sys.stdout = sys.stdout.buffer, sys.stderr  # whatever prints by mistake must not break the wire
    threading.Thread(target=_exit_with_parent, daemon=True, name="dowse-parent").start()
    server, commands = StdioServer(service, wire), CommandSocket(service.workspace)
    commands.start()
    try:
        server.run(sys.stdin.buffer)
    finally:
        commands.close()
        server.close()


def _exit_with_parent() -> None:
    """Exit when the parent has gone without closing standard input."""
    if os.name == "nt":
        return  # there, the pipe breaks with the parent
    parent = os.getppid()
    never = threading.Event()
    while os.getppid() == parent:
        never.wait(PARENT_CHECK_SECONDS)
    os._exit(0)


class StdioServer:
    """The JSON-RPC server of one client: reads messages, dispatches requests to threads, writes responses."""

    def __init__(self, service: Service, out: BinaryIO) -> None:
        self._service = service
        self._out = out
        self._write_lock = threading.Lock()
        self._session = ClientSession()
        self._pool = ThreadPoolExecutor(MAX_CONCURRENT_CALLS, thread_name_prefix="dowse-call")
        self._calls: dict[Any, Call] = {}
        self._pending: dict[str, _PendingRequest] = {}
        self._request_numbers = itertools.count(1)
        self._client_has_roots = False
        self._roots_lock = threading.Lock()

    def run(self, source: BinaryIO) -> None:
        """Read messages until there are no more."""
        while line := source.readline(MAX_MESSAGE_BYTES):
            if not line.endswith(b"\n") and len(line) == MAX_MESSAGE_BYTES:
                while (rest := source.readline(MAX_MESSAGE_BYTES)) and not rest.endswith(b"\n"):
                    pass
                self._refuse(None, INVALID_REQUEST, f"a message may have {MAX_MESSAGE_BYTES} bytes")
            elif line.strip():
                self._receive(line)

    def close(self) -> None:
        """Cancel the running calls and close the index."""
        for call in list(self._calls.values()):
            call.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)
        waiter = threading.Thread(target=self._pool.shutdown, daemon=True)
        waiter.start()
        waiter.join(CLOSE_SECONDS)
        if waiter.is_alive():
            os._exit(0)  # a call that does not listen must not keep the process
        self._service.close()

    # --- messages in ---

    def _receive(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            self._refuse(None, PARSE_ERROR, f"not JSON: {error}")
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._refuse(None, INVALID_REQUEST, "a message is a JSON-RPC 2.0 object")
            return
        id, method, params = message.get("id"), message.get("method"), message.get("params", {})
        if method is None and ("result" in message or "error" in message):
            self._handle_reply(message)
        elif not isinstance(method, str) or (id is not None and not _is_id(id)):
            self._refuse(id if _is_id(id) else None, INVALID_REQUEST, "a request has a method and an id")
        elif params is not None and not isinstance(params, dict):
            self._refuse(id, INVALID_PARAMS, "'params' must be an object")
        elif id is None:
            self._handle_notification(method, params or {})
        else:
            self._handle_request(id, method, params or {})

    def _handle_reply(self, message: Mapping[str, Any]) -> None:
        pending = self._pending.pop(str(message.get("id")), None)
        if pending:
            pending.result = message.get("result")
            pending.answered.set()

    def _handle_notification(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "notifications/cancelled":
            id = params.get("requestId")
            if _is_id(id) and (call := self._calls.get(id)):
                call.cancel()
        elif method == "notifications/roots/list_changed":
            self._session.roots = None

    def _handle_request(self, id: Any, method: str, params: Mapping[str, Any]) -> None:
        if method in ("initialize", "server/discover") or self._service.is_quick(method):
            self._respond(id, method, params, Call())
            return
        token = _meta(params).get("progressToken")
        call = Call(self._notifier(token) if _is_id(token) else None)
        self._calls[id] = call
        self._pool.submit(self._respond, id, method, params, call)

    def _respond(self, id: Any, method: str, params: Mapping[str, Any], call: Call) -> None:
        try:
            call.check()
            result = self._dispatch(method, params, call)
            if not call.cancelled.is_set():
                self._send({"jsonrpc": "2.0", "id": id, "result": result})
        except Cancelled:
            pass  # the protocol wants no answer then
        except ProtocolError as error:
            self._refuse(id, error.code, str(error))
        except Exception as error:  # the outermost edge: the server outlives any call
            summary = " ".join(f"{type(error).__name__}: {error}".split())
            self._refuse(id, INTERNAL_ERROR, f"internal error: {summary}")
        finally:
            self._calls.pop(id, None)

    def _dispatch(self, method: str, params: Mapping[str, Any], call: Call) -> dict[str, Any]:
        if method == "initialize":
            return self._initialize(params)
        version = _meta(params).get(f"{META_PREFIX}protocolVersion")
        if version is None and method != "server/discover":
            if not self._service.is_quick(method):
                self._ask_roots()
            return self._service.answer(self._session, method, params, call)
        if version not in ENVELOPE_VERSIONS:
            raise ProtocolError(
                UNSUPPORTED_VERSION, f"version {version!r}; known are {', '.join(ENVELOPE_VERSIONS)}"
            )
        return self._answer_enveloped(method, params, call)

    # --- the two forms of the protocol ---

    def _initialize(self, params: Mapping[str, Any]) -> dict[str, Any]:
        requested, capabilities = params.get("protocolVersion"), params.get("capabilities")
        if not isinstance(requested, str):
            raise ProtocolError(INVALID_PARAMS, "'protocolVersion' must be given")
        self._client_has_roots = isinstance(capabilities, dict) and capabilities.get("roots") is not None
        version = requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]
        return {"protocolVersion": version, **self._service.about}

    def _ask_roots(self) -> None:
        """Ask the client, once, which folders it works on."""
        with self._roots_lock:
            if self._session.roots is None:
                found = self._request_from_client("roots/list") if self._client_has_roots else None
                self._session.roots = _parse_roots(found)

    def _answer_enveloped(self, method: str, params: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Answer a request that carries its own version; the client's folders are asked for in the answer."""
        about = self._service.about
        stamp = {"_meta": {f"{META_PREFIX}serverInfo": about["serverInfo"]}}
        if method == "server/discover":
            versions = [*ENVELOPE_VERSIONS, *HANDSHAKE_VERSIONS]
            description = {key: value for key, value in about.items() if key != "serverInfo"}
            return {
                "supportedVersions": versions,
                **description,
                "resultType": "complete",
                **_CACHE_FIELDS,
                **stamp,
            }
        capabilities = _meta(params).get(f"{META_PREFIX}clientCapabilities")
        has_roots = isinstance(capabilities, dict) and capabilities.get("roots") is not None
        if has_roots and self._session.roots is None and not self._service.is_quick(method):
            replies = params.get("inputResponses")
            if method in ("tools/call", "resources/read") and not isinstance(replies, dict):
                ask = {"roots": {"method": "roots/list"}}
                return {"resultType": "input_required", "inputRequests": ask, **stamp}
            self._session.roots = _parse_roots(replies.get("roots") if isinstance(replies, dict) else None)
        result = self._service.answer(self._session, method, params, call)
        cacheable = {} if method in ("tools/call", "prompts/get") else _CACHE_FIELDS
        return {**result, "resultType": "complete", **cacheable, **stamp}

    # --- messages out ---

    def _request_from_client(self, method: str) -> Any:
        id = f"dowse-{next(self._request_numbers)}"
        pending = self._pending[id] = _PendingRequest()
        self._send({"jsonrpc": "2.0", "id": id, "method": method})
        pending.answered.wait(ROOTS_SECONDS)
        self._pending.pop(id, None)
        return pending.result

    def _notifier(self, token: Any) -> Notify:
        def notify(progress: float, total: float, message: str) -> None:
            params = {"progressToken": token, "progress": progress, "total": total, "message": message}
            self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

        return notify

    def _refuse(self, id: Any, code: int, message: str) -> None:
        self._send({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})

    def _send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message, separators=(",", ":")).encode("utf-8") + b"\n"
        try:
            with self._write_lock:
                self._out.write(line)
                self._out.flush()
        except (OSError, ValueError):
            pass  # the client has gone; standard input will end


_CACHE_FIELDS = {"ttlMs": 0, "cacheScope": "private"}


class _PendingRequest:
    """A request to the client that waits for its reply."""

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.result: Any = None


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _meta(params: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _parse_roots(result: Any) -> tuple[str, ...]:
    """Return the URIs in a reply to ``roots/list``; none if it is not valid."""
    listed = result.get("roots") if isinstance(result, dict) else None
    items = listed if isinstance(listed, list) else []
    return tuple(item["uri"] for item in items if isinstance(item, dict) and isinstance(item.get("uri"), str))
