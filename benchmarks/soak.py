"""Soak test: many MCP sessions over HTTP while files change; errors, memory, leftover processes."""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, at_most
from dowse import Engine

SESSIONS = 100
SECONDS = 600
PAUSE_SECONDS = (2.0, 8.0)
"""Seconds that an agent thinks between two calls."""

EDIT_SECONDS = 1.0
WARM_UP_SHARE = 0.2
"""Share of the run before memory is sampled: until then caches fill."""

TOKEN = "benchmark"
QUERIES = (
    "where is the query set evaluated",
    "csrf check",
    "session expiry",
    "migration order",
    "url resolver",
)


@dataclass
class Log:
    """Times, errors and edits of the run."""

    milliseconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    edits: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("soak")
    group.add_argument("--soak-seconds", type=int, default=SECONDS, metavar="N", help=f"how long [{SECONDS}]")
    group.add_argument(
        "--soak-sessions", type=int, default=SESSIONS, metavar="N", help=f"how many [{SESSIONS}]"
    )


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Run one server with many sessions."""
    source = data.find_folder("BENCH_BIG_TREE") / "django"
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "tree"
        shutil.copytree(source, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".dowse"))
        with Engine.open(root) as engine:
            engine.index()
            files = engine.status().files
        words = [sys.executable, "-m", "dowse", "mcp", str(root), "--http", "--port", "0"]
        env = {**os.environ, "DOWSE_MCP_TOKEN": TOKEN}
        process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=env)
        assert process.stderr
        address = re.search(r"http://\S+", process.stderr.readline())
        assert address
        log, memory = Log(), list[float]()
        try:
            anyio.run(
                _soak, address[0], root, process.pid, args.soak_seconds, args.soak_sessions, log, memory
            )
            children = _list_children(process.pid)
        finally:
            process.terminate()
            code = process.wait(30)
    growth = measure_growth(memory)
    yield Outcome(
        name="soak",
        title="Many sessions over HTTP",
        figures=[
            Figure("errors", len(log.errors), "errors", at_most(0)),
            Figure("growth of memory after warming up", growth, "", at_most(0.10)),
            Figure("processes left", len(children), "processes", at_most(0)),
            Figure("calls", len(log.milliseconds), "calls"),
            Figure("time of a call, median", statistics.median(log.milliseconds or [0]), "ms"),
            Figure("time of a call, p95", percentile_95(log.milliseconds), "ms"),
            Figure("memory at the end", memory[-1] if memory else 0.0, "MB"),
        ],
        notes=(
            f"{args.soak_sessions} sessions for {args.soak_seconds} s on {files} files; each thinks "
            f"{PAUSE_SECONDS[0]:g}-{PAUSE_SECONDS[1]:g} s between two calls; "
            f"{log.edits} edits meanwhile; the server left with {code}",
            *sorted(set(log.errors))[:5],
        ),
        details={"memory_mb": memory},
        official=args.soak_seconds == SECONDS and args.soak_sessions == SESSIONS,
    )


async def _soak(
    url: str, root: Path, process: int, seconds: int, sessions: int, log: Log, memory: list[float]
) -> None:
    until = time.monotonic() + seconds
    async with anyio.create_task_group() as group:
        for number in range(sessions):
            group.start_soon(_session, url, number, until, log)
        group.start_soon(edit_files, root, until, log)
        await anyio.sleep(seconds * WARM_UP_SHARE)
        while time.monotonic() < until:
            memory.append(read_memory_mb(process))
            await anyio.sleep(max(1.0, seconds / 50))


async def _session(url: str, number: int, until: float, log: Log) -> None:
    chance = random.Random(number)
    try:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=120) as http,
            Client(streamable_http_client(url, http_client=http), mode="legacy") as client,
        ):
            while time.monotonic() < until:
                await anyio.sleep(chance.uniform(*PAUSE_SECONDS))
                started = time.perf_counter()
                query = f"{chance.choice(QUERIES)} {chance.randrange(50)}"
                result = await client.call_tool("search", {"query": query})
                log.milliseconds.append((time.perf_counter() - started) * 1e3)
                if result.is_error:
                    log.errors.append(str(result.content)[:300])
                elif not all(hit["fresh"] for hit in (result.structured_content or {})["hits"]):
                    log.errors.append("a stale hit")
    except Exception as error:  # every way to fail is a result here
        log.errors.append("; ".join(f"{type(one).__name__}: {one}" for one in _flatten_causes(error))[:300])


def _flatten_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors inside an exception group."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _flatten_causes(inner)
    else:
        yield error


async def edit_files(root: Path, until: float, log: Log) -> None:
    """Edit a file of a tree every second."""
    chance = random.Random(0)
    files = sorted(root.rglob("*.py"))
    while time.monotonic() < until:
        path = chance.choice(files)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n# edit {log.edits}\n")
        log.edits += 1
        await anyio.sleep(EDIT_SECONDS)


def read_memory_mb(process: int) -> float:
    """Read the memory that a process has now."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmRSS:")), 0.0)


def measure_growth(memory: list[float]) -> float:
    """Compare the medians of the first and the last fifth of the samples: a single one may fall into a merge."""
    some = max(1, len(memory) // 5)
    before = statistics.median(memory[:some] or [0.0])
    return statistics.median(memory[-some:]) / before - 1 if before else 0.0


def _list_children(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []


def percentile_95(values: list[float]) -> float:
    """Return the value that 95 of 100 do not exceed."""
    return sorted(values)[int(0.95 * (len(values) - 1))] if values else 0.0
