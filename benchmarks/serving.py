"""The MCP server over standard input and output: start-up time, protocol overhead, freshness.

A copy of a tree of about 7,000 files is indexed. Then, each from the start of a process: the handshake and the list
of tools, and the first search. Then a search over the protocol beside the same search by the engine itself, each in
a process of its own. Then files are edited, deleted and renamed and a branch is switched, each followed at once by a
search for what changed.
"""

from __future__ import annotations

import argparse
import json
import operator
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, at_least, below
from dowse import Engine
from dowse.search.output.token_estimate import estimate_tokens

STARTS = 7
QUERIES = (
    "where is the query set evaluated",
    "csrf token check",
    "how are migrations ordered",
    "session expiry",
    "template loader cache",
)
PROCESSES = 5
ROUNDS = 4
CHANGES = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Measure everything on one copy of the tree."""
    source = data.find_folder("BENCH_BIG_TREE")
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "tree"
        shutil.copytree(source, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".dowse"))
        _git(root, "init", "-q", "-b", "main")
        _git(root, "add", "-A")
        _git(root, "commit", "-qm", "all")
        with Engine.open(root) as engine:
            engine.index()
        figures = [*_measure_starts(root), *_measure_overhead(root), *_measure_freshness(root)]
    yield Outcome(
        name="serving",
        title="The MCP server",
        figures=figures,
        notes=(
            f"from process start: median of {STARTS}; overhead: median over "
            f"{PROCESSES * ROUNDS * len(QUERIES)} searches in {PROCESSES} processes, each beside the same one by "
            "the engine; extra: of a search at once after a change, over one before it, "
            f"median of {CHANGES}",
        ),
    )


class Server:
    """A server process and a client of it."""

    def __init__(self, root: Path) -> None:
        self.started = time.perf_counter()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dowse", "mcp", str(root)], stdin=pipe, stdout=pipe
        )

    def request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Send a request; return its result."""
        assert self.process.stdin and self.process.stdout
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]

    def handshake(self) -> Any:
        """Initialise and list the tools."""
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
        return self.request("tools/list")

    def search(self, query: str, **more: Any) -> Any:
        """Search, including hits that were sent before."""
        arguments = {"query": query, "repeat": True, **more}
        return self.request("tools/call", {"name": "search", "arguments": arguments})

    def close(self) -> None:
        """Close the server, as a client does."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    @property
    def cpu_ms(self) -> float:
        """CPU time of the process so far, in steps of ten; 0 where the system does not say."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) * 1e3 / os.sysconf("SC_CLK_TCK")

    @property
    def milliseconds(self) -> float:
        """Milliseconds since the process was started."""
        return (time.perf_counter() - self.started) * 1e3


def _measure_starts(root: Path) -> list[Figure]:
    handshakes, firsts, tokens = [], [], 0
    cpu: list[tuple[float, float]] = []
    for _ in range(STARTS):
        server = Server(root)
        tokens = estimate_tokens(json.dumps(server.handshake()))
        handshakes.append(server.milliseconds)
        before = server.cpu_ms
        server.search(QUERIES[0])
        firsts.append(server.milliseconds)
        cpu.append((before, server.cpu_ms))
        server.close()
    return [
        Figure(
            "handshake and list of tools, from process start", statistics.median(handshakes), "ms", below(300)
        ),
        Figure(
            "first search on a warm index, from process start", statistics.median(firsts), "ms", below(500)
        ),
        Figure("handshake and list of tools, CPU time", statistics.median(first for first, _ in cpu), "ms"),
        Figure(
            "first search, CPU time from process start", statistics.median(second for _, second in cpu), "ms"
        ),
        Figure("list of tools", tokens, "tokens", below(2000)),
    ]


class LatencyWorker:
    """A process that searches without the protocol and reports its time (see ``latency_worker.py``)."""

    def __init__(self, mode: str, root: Path) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.latency_worker", mode, str(root)],
            stdin=pipe,
            stdout=pipe,
            encoding="utf-8",
            cwd=Path(__file__).parent.parent,
        )

    def time_query(self, query: str) -> float:
        """Return the milliseconds that a query takes."""
        assert self.process.stdin and self.process.stdout
        print(query, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def _measure_overhead(root: Path) -> list[Figure]:
    """Measure what the protocol adds to the engine's time; each runs in its own process, and no query repeats.

    Two processes differ by up to a tenth for the same work, because of their memory layout; several of each are
    measured to even that out.
    """
    rows = [row for _ in range(PROCESSES) for row in _time_side_by_side(root)]
    own, service, server = zip(*rows, strict=True)
    return [
        Figure(
            "search by the engine, disk looked at, packed into the budget",
            statistics.median(own),
            "ms",
        ),
        Figure(
            "search over the protocol, more than the engine",
            statistics.median(map(operator.sub, server, own)),
            "ms",
            below(2),
        ),
        Figure("of it, carrying the message", statistics.median(map(operator.sub, server, service)), "ms"),
    ]


def _time_side_by_side(root: Path) -> list[tuple[float, float, float]]:
    """Time the same queries by the engine, by the service, and over the protocol."""
    server, engine, service = Server(root), LatencyWorker("engine", root), LatencyWorker("service", root)
    server.handshake()
    queries = [f"{query} {round}" for round in range(ROUNDS + 1) for query in QUERIES]
    rows = [
        (engine.time_query(query), service.time_query(query), _time_call(server.search, query))
        for query in queries
    ]
    for process in (server, engine, service):
        process.close()
    return rows[len(QUERIES) :]


def _measure_freshness(root: Path) -> list[Figure]:
    server = Server(root)
    server.handshake()
    server.search(QUERIES[0])
    plain = statistics.median(_time_call(server.search, f"{QUERIES[0]} x") for _ in range(CHANGES))
    checks: dict[str, list[tuple[float, bool]]] = {
        "edited": [],
        "deleted": [],
        "renamed": [],
        "branch switched": [],
    }
    files = sorted(root.glob("django/**/*.py"))
    chosen = [path for path in files if path.stat().st_size > 500][: 3 * CHANGES]
    for number in range(CHANGES):
        edited, deleted, renamed = chosen[3 * number : 3 * number + 3]
        name = f"put_here_by_benchmark_{number}"
        edited.write_text(edited.read_text() + f"\n\ndef {name}():\n    return 1\n")
        checks["edited"].append(_time_and_check(server, name, f"def {name}():", there=True))
        edited.write_text(edited.read_text().replace(name, f"{name}_again"))
        checks["edited"].append(_time_and_check(server, name, f"def {name}():", there=False))
        deleted.unlink()
        checks["deleted"].append(
            _time_and_check(server, deleted.name, f"{_relative_path(root, deleted)}:", there=False)
        )
        moved = renamed.with_name(f"moved_by_benchmark_{number}.py")
        renamed.rename(moved)
        checks["renamed"].append(
            _time_and_check(server, moved.name, f"{_relative_path(root, moved)}:", there=True)
        )
        checks["renamed"].append(
            _time_and_check(server, renamed.name, f"{_relative_path(root, renamed)}:", there=False)
        )
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "changed")
    for number in range(CHANGES):
        old = number % 2 == 0
        _git(root, "checkout", "-q", "main~1" if old else "main")
        name = "put_here_by_benchmark_0_again"
        checks["branch switched"].append(_time_and_check(server, name, f"def {name}():", there=not old))
    server.close()
    figures = []
    for change, found in checks.items():
        extra = statistics.median(milliseconds for milliseconds, _ in found) - plain
        figures += [
            Figure(f"{change}: extra of the search after it", extra, "ms", below(300)),
            Figure(
                f"{change}: right at once", sum(right for _, right in found) / len(found), "", at_least(1.0)
            ),
        ]
    return figures


def _relative_path(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _time_and_check(server: Server, query: str, phrase: str, *, there: bool) -> tuple[float, bool]:
    """Time a search, and check that its answer contains a phrase, or does not."""
    started = time.perf_counter()
    text = server.search(query)["content"][0]["text"]
    return (time.perf_counter() - started) * 1e3, (phrase in text) == there


def _time_call(work: Callable[..., object], *args: Any) -> float:
    started = time.perf_counter()
    work(*args)
    return (time.perf_counter() - started) * 1e3


def _git(root: Path, *args: str) -> None:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *identity, *args], check=True, capture_output=True)
