"""The web page: what a page costs beyond the engine, and 100 users of ``dowse serve`` while files change."""

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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx2

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, at_most, below
from benchmarks.soak import Log, edit_files, measure_growth, percentile_95, read_memory_mb
from dowse.engine import Engine
from dowse.interfaces.http.access import Caller
from dowse.interfaces.web.file_view import file_page
from dowse.interfaces.web.page_frame import PageRequest
from dowse.interfaces.web.search_page import search_page
from dowse.interfaces.web.web_server import ServeOptions, WebServer

USERS = 100
SECONDS = 600
PAUSE_SECONDS = (2.0, 8.0)
"""Seconds that a user reads between two requests."""

WARM_UP_SHARE = 0.2
"""Share of the run before memory is sampled: until then caches fill."""

LONG_FILE_LINES = 10_000
REPEATS = 15

TOKEN = "benchmark of the page"
QUERIES = (
    "where are migrations applied to the database",
    "template loader cached",
    "QuerySet.filter",
    "password hashing upgrade",
    "send mail with attachment",
    "csrf token rotation on login",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how long and how many."""
    group = parser.add_argument_group("page")
    group.add_argument("--page-seconds", type=int, default=SECONDS, metavar="N", help=f"how long [{SECONDS}]")
    group.add_argument("--page-users", type=int, default=USERS, metavar="N", help=f"how many [{USERS}]")


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Measure the pages of one copy of the tree, then run a server of it with many users."""
    source = data.find_folder("BENCH_BIG_TREE")
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "tree"
        shutil.copytree(source, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".dowse"))
        lines = (
            f"def long_{n}(value):  # line {n}" if n % 9 == 0 else f"    value += {n}"
            for n in range(LONG_FILE_LINES)
        )
        (root / "long.py").write_text("\n".join(lines))
        with Engine.open(root) as engine:
            engine.index()
            files = engine.status().files
        costs = _measure_costs(root)
        log, memory = Log(), list[float]()
        code = _run_load(root, args.page_seconds, args.page_users, log, memory)
    load = os.getloadavg()[0]
    yield Outcome(
        name="page",
        title="The web page",
        figures=[
            *costs,
            Figure("errors", len(log.errors), "errors", at_most(0)),
            Figure("growth of memory after warming up", measure_growth(memory), "", at_most(0.10)),
            Figure("time of a request, median", statistics.median(log.milliseconds or [0]), "ms"),
            Figure("time of a request, p95", percentile_95(log.milliseconds), "ms", below(1000)),
            Figure("requests", len(log.milliseconds), "requests"),
            Figure("memory at the end", memory[-1] if memory else 0.0, "MB"),
        ],
        notes=(
            f"{files} files; pages in CPU time, warm; {args.page_users} users for {args.page_seconds} s, each with "
            f"{PAUSE_SECONDS[0]:g}-{PAUSE_SECONDS[1]:g} s between two requests; {log.edits} edits meanwhile; "
            f"load average {load:.1f} at the end; the server left with {code}",
            *sorted(set(log.errors))[:5],
        ),
        details={"memory_mb": memory},
        official=args.page_seconds == SECONDS and args.page_users == USERS,
    )


# --- what a page costs ---


def _measure_costs(root: Path) -> list[Figure]:
    """Measure pages in CPU time of their thread, which a busy machine does not change much."""
    served = WebServer(ServeOptions(folders=(str(root),))).served
    caller = Caller("benchmark")

    def ask(path: str, **values: str) -> PageRequest:
        return PageRequest(served, caller, path, values)

    def type_text(text: str) -> float:
        return _time(search_page, ask("/", q=text, part="first"))

    beyond, whole = _measure_typing(type_text)
    paint = [_time(search_page, ask("/", q=text)) for text in QUERIES for _ in range(REPEATS)]
    rest = f"{next(iter(served.folders(caller)))}/long.py"
    views = [
        _time(file_page, ask(f"/file/{rest}", rest=rest, line=str(line)))
        for line in range(1, LONG_FILE_LINES, LONG_FILE_LINES // REPEATS)
    ]
    served.workspace.close()
    return [
        Figure("page with hits, p95", percentile_95(paint), "ms", below(200)),
        Figure("answer while typing, p95", percentile_95(whole), "ms", below(50)),
        Figure("answer while typing, beyond the engine, p95", percentile_95(beyond), "ms", below(5)),
        Figure("file of 10,000 lines, p95", percentile_95(views), "ms", below(150)),
    ]


def _measure_typing(answer: Callable[[str], float]) -> tuple[list[float], list[float]]:
    """Type the queries letter by letter; return the time of each answer without the engine's, and with it."""
    spent = 0.0
    search = Engine.search

    def timed(self: Engine, *args: Any, **more: Any) -> Any:
        nonlocal spent
        began = time.thread_time()
        try:
            return search(self, *args, **more)
        finally:
            spent += (time.thread_time() - began) * 1e3

    beyond, whole = [], []
    Engine.search = timed  # type: ignore[method-assign]
    try:
        answer("warm up")
        for query in QUERIES:
            for length in range(3, len(query) + 1):
                spent = 0.0
                taken = answer(query[:length])
                beyond.append(taken - spent)
                whole.append(taken)
    finally:
        Engine.search = search  # type: ignore[method-assign]
    return beyond, whole


def _time(render: Callable[[PageRequest], str], request: PageRequest) -> float:
    began = time.thread_time()
    render(request)
    return (time.thread_time() - began) * 1e3


# --- many users ---


def _run_load(root: Path, seconds: int, users: int, log: Log, memory: list[float]) -> int:
    words = [sys.executable, "-m", "dowse", "serve", str(root), "--no-open", "--port", "0"]
    env = {**os.environ, "DOWSE_SERVE_TOKEN": TOKEN}
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=env)
    assert process.stderr
    try:
        address = re.search(r"http://\S+", process.stderr.readline())
        assert address
        anyio.run(_load, address[0], root, process.pid, seconds, users, log, memory)
    finally:
        process.terminate()
        code = process.wait(30)
    return code


async def _load(
    url: str, root: Path, process: int, seconds: int, users: int, log: Log, memory: list[float]
) -> None:
    until = time.monotonic() + seconds
    async with anyio.create_task_group() as group:
        for number in range(users):
            group.start_soon(_use, url, number, until, log)
        group.start_soon(edit_files, root, until, log)
        await anyio.sleep(seconds * WARM_UP_SHARE)
        while time.monotonic() < until:
            memory.append(read_memory_mb(process))
            await anyio.sleep(max(1.0, seconds / 50))


async def _use(url: str, number: int, until: float, log: Log) -> None:
    """Be one user: type a query, look at the page, open a file, ask the API."""
    chance = random.Random(number)
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/html, application/json"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=120) as http:
        while time.monotonic() < until:
            await anyio.sleep(chance.uniform(*PAUSE_SECONDS))
            began = time.perf_counter()
            path = _choose_path(chance)
            try:
                answered = await http.get(path)
            except httpx2.HTTPError as error:
                log.errors.append(f"{type(error).__name__}: {error}"[:300])
                continue
            log.milliseconds.append((time.perf_counter() - began) * 1e3)
            if answered.status_code != 200:
                log.errors.append(f"{answered.status_code} {path}")


def _choose_path(chance: random.Random) -> str:
    query = chance.choice(QUERIES)
    typed = quote(
        f"{query[: chance.randrange(4, len(query) + 1)]} {chance.choice(('', chance.randrange(50)))}"
    )
    choices = (
        f"/?q={typed}&part=first",
        f"/?q={typed}&part=rest",
        f"/?q={typed}",
        f"/api/v1/search?query={typed}",
        "/file/tree/django/db/models/query.py?line=1200",
        "/preview?repo=tree&path=django/core/mail/message.py&first=200&last=260",
        "/graph?node=django/core/signing.py",
        "/symbol?repo=tree&path=django/core/signing.py&name=Signer",
    )
    return chance.choices(choices, (6, 3, 3, 3, 2, 3, 1, 1))[0]
