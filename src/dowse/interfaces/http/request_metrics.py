"""Request metrics in the text format of Prometheus, and the audit log with a line for each request."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dowse.errors import UsageError
from dowse.interfaces.http.request_guard import CALLER_KEY
from dowse.types.stored import IndexStatus

BUCKETS_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram of request times."""

OPERATION_KEY = "dowse.operation"
"""Key of a request's scope under which the application says what was asked."""

MAX_QUERY_CHARS_LOGGED = 1000


class RequestMetrics:
    """Counts requests and their times."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: Counter[float] = Counter()
        self._seconds = 0.0
        self._count = 0
        self.running = 0

    def add(self, operation: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        with self._lock:
            self._requests[operation, status] += 1
            self._buckets.update(bound for bound in BUCKETS_SECONDS if seconds <= bound)
            self._seconds += seconds
            self._count += 1

    def write(self, indexes: Iterable[tuple[str, IndexStatus]]) -> str:
        """Write all metrics, with those of some indexes by the names of their repositories."""
        with self._lock:
            lines = ["# TYPE dowse_requests_total counter"]
            lines += [
                f'dowse_requests_total{{operation="{operation}",status="{status}"}} {count}'
                for (operation, status), count in sorted(self._requests.items())
            ]
            lines.append("# TYPE dowse_request_seconds histogram")
            lines += [f'dowse_request_seconds_bucket{{le="{b}"}} {self._buckets[b]}' for b in BUCKETS_SECONDS]
            lines.append(f'dowse_request_seconds_bucket{{le="+Inf"}} {self._count}')
            lines += [
                f"dowse_request_seconds_sum {self._seconds:.6f}",
                f"dowse_request_seconds_count {self._count}",
            ]
        lines += ["# TYPE dowse_requests_running gauge", f"dowse_requests_running {self.running}"]
        return "\n".join([*lines, *_index_lines(indexes)]) + "\n"


def _index_lines(indexes: Iterable[tuple[str, IndexStatus]]) -> Iterable[str]:
    rows = list(indexes)
    for field in ("generation", "files", "chunks", "entities", "size_bytes"):
        yield f"# TYPE dowse_index_{field} gauge"
        for name, status in rows:
            label = name.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
            yield f'dowse_index_{field}{{repository="{label}"}} {getattr(status, field)}'


class AuditLog:
    """A file with a JSON object for each request: when, who, from where, what, how it ended."""

    def __init__(self, file: Path) -> None:
        try:
            self._number = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError as error:
            raise UsageError(f"the audit log {file} cannot be written: {error.strerror}") from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._number)

    def write(self, scope: Scope, status: int, seconds: float) -> None:
        """Write the line of a request, at once and whole."""
        caller = scope.get(CALLER_KEY)
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "who": caller.name if caller else "",
            "address": (scope.get("client") or ("",))[0],
            "method": scope["method"],
            "path": scope["path"],
            "query": scope["query_string"].decode("latin-1")[:MAX_QUERY_CHARS_LOGGED],
            "status": status,
            "milliseconds": round(1000 * seconds, 1),
        }
        os.write(self._number, (json.dumps(line) + "\n").encode())


class RequestRecorder:
    """Middleware that counts every request and writes it into the audit log, if there is one."""

    def __init__(self, inner: ASGIApp, metrics: RequestMetrics, log: AuditLog | None) -> None:
        self._inner = inner
        self._metrics = metrics
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and record how it ended."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        status = 499  # the client left before there was an answer

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        began = time.monotonic()
        self._metrics.running += 1
        try:
            await self._inner(scope, receive, watch)
        finally:
            self._metrics.running -= 1
            seconds = time.monotonic() - began
            self._metrics.add(scope.get(OPERATION_KEY, "other"), status, seconds)
            if self._log is not None:
                self._log.write(scope, status, seconds)
