"""HTTP server (uvicorn) with limits on what a client may take: request timeouts, idle time, number of connections."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import logging
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11
import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from dowse.errors import UsageError
from dowse.interfaces.http.problems import RETRY_SECONDS, make_problem

KEEP_ALIVE_SECONDS = 300
"""Time that a connection stays open between two calls. Agents think for longer than the usual five seconds, and a call
on a connection that is just being closed fails."""

BACKLOG = 1024
"""Connections that wait to be taken."""

SHUTDOWN_SECONDS = 5
"""Time that requests have to finish when the server is told to stop."""


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """Limits on what a client may take of the server."""

    header_seconds: float = (
        15.0  # from the connection, or the first byte of a request, to the end of its headers
    )
    body_seconds: float = 30.0  # from there to the end of its body
    idle_seconds: int = KEEP_ALIVE_SECONDS
    connections: int = 500  # half of what a process may usually have open

    refused: int = 200  # connections beyond these that are told so; more are closed without a word


DEFAULT_LIMITS = ClientLimits()

MAX_HEAPS = 2
_M_ARENA_MAX = -8
"""Heaps of the GNU C library that all threads share; with one for each thread, a server of a hundred clients took 1.5
times the memory, and more with time."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens, and the files of its certificate if it speaks TLS."""

    host: str
    port: int
    certificate: Path | None = None
    certificate_key: Path | None = None

    @property
    def scheme(self) -> str:
        """The scheme of the server's URLs."""
        return "https" if self.certificate else "http"

    def url(self, port: int) -> str:
        """Return the URL of the server at the port that it was given."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{port}"


def run_server(
    app: ASGIApp,
    address: Address,
    *,
    ready: Callable[[str], None],
    limits: ClientLimits = DEFAULT_LIMITS,
) -> None:
    """Serve until interrupted; ``ready`` is told the URL once it is listened on."""
    _share_heaps()
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    listening = _listen(address)
    server = _AnnouncingServer(make_config(app, address, limits), address, ready)
    try:
        server.run([listening])
    finally:
        listening.close()


def _listen(address: Address) -> socket.socket:
    """Listen at an address; an error that says what to do if that cannot be."""
    try:
        family = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((address.host, address.port), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = (
            "is taken" if error.errno == errno.EADDRINUSE else f"cannot be listened on ({error.strerror})"
        )
        raise UsageError(
            f"port {address.port} of {address.host} {reason}: choose another with --port; 0 is any free one"
        ) from error


def make_config(app: ASGIApp, address: Address, limits: ClientLimits = DEFAULT_LIMITS) -> uvicorn.Config:
    """Make the configuration of uvicorn that enforces some limits."""
    return uvicorn.Config(
        app,
        host=address.host,
        port=address.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        http=limit_protocol(limits),
        ws="none",
        ssl_certfile=address.certificate,
        ssl_keyfile=address.certificate_key,
    )


def _share_heaps() -> None:
    """Have threads share few heaps where the C library gives each its own, whose free memory others cannot use."""
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, MAX_HEAPS)
    except (AttributeError, OSError):
        return  # another C library, which has no need of it


class _LimitedProtocol(H11Protocol):
    """The HTTP protocol, with slow requests and excess connections closed."""

    limits = DEFAULT_LIMITS
    _timer: asyncio.TimerHandle | None = None
    _timed_request: object = None  # the request whose body is waited for
    _is_refused = False  # there are too many connections: the first request is told so

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        excess = len(self.connections) - self.limits.connections
        if excess > self.limits.refused:
            transport.abort()
        else:
            self._is_refused = excess > 0
            self._start_timer(self.limits.header_seconds)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            self._send_refusal()
            return
        if self._timer is None and (self.cycle is None or self.cycle.response_complete):
            self._start_timer(self.limits.header_seconds)
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            return
        if not self.cycle.more_body:
            self._stop_timer()
        elif self._timed_request is not self.cycle:
            self._timed_request = self.cycle
            self._start_timer(self.limits.body_seconds)

    def on_response_complete(self) -> None:
        self._stop_timer()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or has more headers than there is room for."""
        self._send_problem(make_problem(400, msg, headers={"Connection": "close"}))

    def _send_refusal(self) -> None:
        """Say that there are too many connections, whatever is asked."""
        headers = {"Connection": "close", "Retry-After": str(RETRY_SECONDS)}
        self._send_problem(
            make_problem(503, "the server has too many clients: try again soon", headers=headers)
        )

    def _send_problem(self, problem: Response) -> None:
        """Send a response from outside of the application, and close the connection."""
        for event in (
            h11.Response(status_code=problem.status_code, headers=problem.raw_headers),
            h11.Data(data=bytes(problem.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def limit_protocol(limits: ClientLimits) -> type[H11Protocol]:
    """Make the protocol class that enforces some limits."""
    return type("LimitedProtocol", (_LimitedProtocol,), {"limits": limits})


class _AnnouncingServer(uvicorn.Server):
    """A server that calls back with the URL it listens on."""

    def __init__(self, config: uvicorn.Config, address: Address, ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._address = address
        self._ready = ready

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready(self._address.url(self.servers[0].sockets[0].getsockname()[1]))
