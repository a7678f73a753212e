"""Tokens that a scripted agent spends until it has seen the cited lines, with each set of search tools.

For each SWE-QA query whose answer cites lines, the agent searches with the tool's defaults, asks once for more hits,
and then opens the hits in order, in one of two ways: a hundred lines on either side of each hit, or whole files. It
stops as soon as half of a cited range of lines has been shown. The tokens of all answers are counted, by the same
estimate for every tool.

- dowse: ``search``, its next page, over its MCP server.
- semble: ``search``; once more for ten whole chunks, as the description of its tool says; over its MCP server.
- ripgrep: the files with the most lines that contain a word of the query; the matching lines of the first three.

Files are opened as coding agents do it: numbered lines, at most two thousand.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import anyio
from mcp import Client, StdioServerParameters

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, Tree, at_least, at_most
from benchmarks.competitors import COMPETITORS, find_semble_server, get_semble_model
from benchmarks.metrics import mean
from benchmarks.sets import swe_qa
from benchmarks.token_counter import count_exactly, load_counter
from dowse.search.output.token_estimate import estimate_tokens

OPEN_LIMITS = {"places": 5, "files": 3}
"""Hits, or files, that the agent opens before it gives up."""

CONTEXT_LINES = 100
"""Lines shown on either side of a hit that is opened."""

MAX_FILE_LINES = 2000
MIN_SEEN_SHARE = 0.5
"""Share of a cited range that must have been shown."""

MAX_GREPPED_FILES = 3
MAX_MATCHING_LINES = 50
"""Files whose matching lines are shown, and how many of each."""

Lines = dict[str, set[int]]
"""Line numbers that were shown, by path."""


@dataclass
class Transcript:
    """Lines that the agent has been shown, and their cost in tokens."""

    tokens: int = 0
    exact: int = 0  # by cl100k, if it is there
    lines: Lines = field(default_factory=dict)

    def add(self, text: str, lines: Mapping[str, set[int]]) -> None:
        """Add an answer: its tokens and the lines it shows."""
        self.tokens += estimate_tokens(text)
        self.exact += count_exactly(text)
        for path, numbers in lines.items():
            self.lines.setdefault(path, set()).update(numbers)

    def copy(self) -> Transcript:
        """Copy the transcript, so that two ways of opening can continue from it."""
        return Transcript(
            self.tokens, self.exact, {path: set(numbers) for path, numbers in self.lines.items()}
        )

    def has(self, spans: Mapping[str, Sequence[tuple[int, int]]]) -> bool:
        """Return whether enough lines of one of the ranges were shown."""
        return any(
            len(self.lines.get(path, set()) & set(range(first, last + 1)))
            >= MIN_SEEN_SHARE * (last - first + 1)
            for path, ranges in spans.items()
            for first, last in ranges
        )


Locations = list[tuple[str, int]]
"""Path and line of each hit of an answer, best first."""


class Tools(Protocol):
    """Search tools that an agent can call."""

    async def search(self, query: str, transcript: Transcript) -> Locations:
        """Search with the default options; return where the hits are, best first."""
        ...

    async def search_more(self, query: str, transcript: Transcript) -> Locations:
        """Ask for more hits of the same query."""
        ...


class AgentRun(NamedTuple):
    """Cost of a run in tokens, and the step at which the cited lines were seen."""

    tokens: int
    step: str
    exact: int


async def run_agent(tools: Tools, root: Path, query: str, spans: Mapping[str, Any]) -> dict[str, AgentRun]:
    """Search, search for more, then open the hits; return the result of each way of opening."""
    transcript = Transcript()
    found = await tools.search(query, transcript)
    if transcript.has(spans):
        return dict.fromkeys(OPEN_LIMITS, AgentRun(transcript.tokens, "first", transcript.exact))
    found += await tools.search_more(query, transcript)
    if transcript.has(spans):
        return dict.fromkeys(OPEN_LIMITS, AgentRun(transcript.tokens, "more", transcript.exact))
    return {way: _open_files(transcript.copy(), root, found, spans, way) for way in OPEN_LIMITS}


def _open_files(
    transcript: Transcript, root: Path, found: Locations, spans: Mapping[str, Any], way: str
) -> AgentRun:
    locations = found if way == "places" else [(path, 0) for path in dict.fromkeys(path for path, _ in found)]
    for path, line in list(dict.fromkeys(locations))[: OPEN_LIMITS[way]]:
        text = (root / path).read_text(encoding="utf-8", errors="replace").split("\n")
        first, last = (max(1, line - CONTEXT_LINES), line + CONTEXT_LINES) if line else (1, MAX_FILE_LINES)
        shown = list(enumerate(text, 1))[first - 1 : last]
        transcript.add(
            "\n".join(f"{number:>6}\t{row}" for number, row in shown), {path: {n for n, _ in shown}}
        )
        if transcript.has(spans):
            return AgentRun(transcript.tokens, "opened", transcript.exact)
    return AgentRun(transcript.tokens, "never", transcript.exact)


# --- the tools -----------------------------------------------------------------------------------


class Dowse:
    """dowse's MCP server."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._cursor: str | None = None

    async def search(self, query: str, transcript: Transcript) -> Locations:
        """Search with the default token budget."""
        return await self._search({"query": query}, transcript)

    async def search_more(self, query: str, transcript: Transcript) -> Locations:
        """Fetch the next page, if there is one."""
        return (
            await self._search({"query": query, "cursor": self._cursor}, transcript) if self._cursor else []
        )

    async def _search(self, arguments: dict[str, Any], transcript: Transcript) -> Locations:
        result = await self._client.call_tool("search", arguments)
        assert not result.is_error, result.content
        text = _join_text(result)
        cursor = re.search(r"more with cursor (\S+?)(;|$)", text, re.MULTILINE)
        self._cursor = cursor[1] if cursor else None
        transcript.add(text, parse_shown_lines(text))
        headers = re.findall(r"^(\S+):(\d+)-\d+(?: |$)", text, re.MULTILINE)
        return [(path, int(first)) for path, first in headers]


class Semble:
    """semble's MCP server."""

    def __init__(self, client: Client, root: Path) -> None:
        self._client = client
        self._root = root

    async def search(self, query: str, transcript: Transcript) -> Locations:
        """Search with the defaults: five results of ten lines."""
        return await self._search({"query": query}, transcript)

    async def search_more(self, query: str, transcript: Transcript) -> Locations:
        """Search for ten whole chunks."""
        return await self._search({"query": query, "top_k": 10, "max_snippet_lines": None}, transcript)

    async def _search(self, arguments: dict[str, Any], transcript: Transcript) -> Locations:
        result = await self._client.call_tool("search", arguments | {"repo": str(self._root)})
        text = _join_text(result)
        lines: Lines = {}
        hits = json.loads(text).get("results", ())
        for hit in hits:
            shown = hit.get("content", "").count("\n") + 1 if hit.get("content") else 0
            last = min(hit["end_line"], hit["start_line"] + shown - 1)
            lines.setdefault(hit["file_path"], set()).update(range(hit["start_line"], last + 1))
        transcript.add(text, lines)
        return [(hit["file_path"], hit["start_line"]) for hit in hits]


class Ripgrep:
    """ripgrep with every word of the query."""

    def __init__(self, root: Path, program: str) -> None:
        self._root = root
        self._program = program
        self._files: list[str] = []

    async def search(self, query: str, transcript: Transcript) -> Locations:
        """List the files with the most matching lines."""
        counted = self._run(query, "--count")
        rows = [
            (int(line.rpartition(":")[2]), line.rpartition(":")[0]) for line in counted.splitlines() if line
        ]
        ranked = sorted(rows, key=lambda row: (-row[0], row[1]))[:10]
        self._files = [path.removeprefix("./") for _, path in ranked]
        transcript.add("\n".join(f"{path}:{count}" for count, path in ranked), {})
        return [(path, 1) for path in self._files]

    async def search_more(self, query: str, transcript: Transcript) -> Locations:
        """Show the matching lines of the first files."""
        for path in self._files[:MAX_GREPPED_FILES]:
            found = self._run(query, "--line-number", "--no-filename", path).splitlines()[:MAX_MATCHING_LINES]
            numbers = {int(line.partition(":")[0]) for line in found if line.partition(":")[0].isdigit()}
            transcript.add(f"{path}\n" + "\n".join(found), {path: numbers})
        return []

    def _run(self, query: str, *args: str) -> str:
        words = {word for word in re.findall(r"\w+", query) if len(word) > 3}
        pattern = "|".join(sorted(map(re.escape, words)))
        options = [arg for arg in args if arg.startswith("-")]
        where = [arg for arg in args if not arg.startswith("-")] or ["."]
        command = [
            self._program,
            "--ignore-case",
            "--no-messages",
            "--glob",
            "*.py",
            *options,
            "-e",
            pattern,
            *where,
        ]
        return subprocess.run(command, cwd=self._root, capture_output=True, text=True, check=False).stdout


def parse_shown_lines(text: str) -> Lines:
    """Parse the lines that an answer of dowse shows: those below a header, except the ones that a mark skips."""
    lines: Lines = {}
    path, number, last, is_after_header = "", 1, 0, False
    for line in text.split("\n"):
        if mark := re.fullmatch(r"\.\.\. \d+ lines? \(\d+-(\d+)\)", line):
            number = int(mark[1]) + 1
        elif header := re.match(r"(\S+):(\d+)-(\d+)(?: |$)", line):
            path, number, last = header[1], int(header[2]), int(header[3])
            lines.setdefault(path, set())
            is_after_header = True
            continue
        elif (is_after_header and not line) or re.match(r"hits \d+-\d+", line):
            path = ""  # a hit that is only named, or the end
        elif path and number <= last:
            lines[path].add(number)
            number += 1
        is_after_header = False
    return lines


def _join_text(result: Any) -> str:
    return "\n".join(content.text for content in result.content)


# --- the run -------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("agents")
    group.add_argument("--tools", action="append", choices=TOOLS, help="only these tools")
    group.add_argument("--queries", type=int, metavar="N", help="only the first N queries of each tree")


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Run every set of tools on every query whose answer cites lines."""
    chosen = args.tools or list(TOOLS)
    rows: dict[str, list[dict[str, AgentRun]]] = {}
    listings: dict[str, int] = {}
    notes = []
    for name in chosen:
        try:
            rows[name], listings[name] = anyio.run(_run_tools, name, args.queries)
        except data.MissingDataError as error:
            notes.append(f"{name} is not available: {error}")
    yield Outcome(
        name="agents",
        title="Tokens until an agent has seen the cited lines",
        figures=_make_figures(rows, listings),
        notes=(
            f"{max(map(len, rows.values()), default=0)} SWE-QA questions whose answers cite lines; a range counts as "
            f"seen when {MIN_SEEN_SHARE:.0%} of it was shown; {describe_semble()}",
            f"opening places: {CONTEXT_LINES} lines on either side of up to {OPEN_LIMITS['places']}; "
            f"opening files: up to {OPEN_LIMITS['files']}, {MAX_FILE_LINES} lines of each",
            "tokens of the answers, by dowse's estimate; those of a question that is never answered count too",
            *notes,
        ),
        official=not (args.tools or args.queries),
    )


def describe_semble() -> str:
    """Name the version and the model of semble."""
    return f"semble 0.7.0, model {get_semble_model()}"


def _make_figures(
    rows: Mapping[str, Sequence[Mapping[str, AgentRun]]], listings: Mapping[str, int]
) -> list[Figure]:
    figures = []
    for name, found in rows.items():
        for way in OPEN_LIMITS:
            figures += [
                Figure(f"{name}, opening {way}: mean tokens", _mean_tokens(found, way), "tokens"),
                Figure(f"{name}, opening {way}: success", _success_rate(found, way)),
            ]
            if load_counter():
                exact = mean(row[way].exact for row in found)
                figures.append(Figure(f"{name}, opening {way}: mean tokens by cl100k", exact, "tokens"))
        steps = [row["files"].step for row in found]
        figures += [
            Figure(f"{name}: seen in the first answer", mean(step == "first" for step in steps)),
            Figure(
                f"{name}: seen without opening anything", mean(step in ("first", "more") for step in steps)
            ),
        ]
        if listings[name]:
            figures.append(Figure(f"{name}: list of tools", listings[name], "tokens"))
    if not {"semble", "dowse"} <= rows.keys():
        return figures
    for way in OPEN_LIMITS:
        share = _mean_tokens(rows["dowse"], way) / _mean_tokens(rows["semble"], way)
        gain = _success_rate(rows["dowse"], way) - _success_rate(rows["semble"], way)
        figures += [
            Figure(f"dowse over semble, opening {way}: mean tokens", share, "x", at_most(0.7)),
            Figure(f"dowse minus semble, opening {way}: success", gain, "", at_least(0.0)),
        ]
    return figures


def _mean_tokens(rows: Sequence[Mapping[str, AgentRun]], way: str) -> float:
    return mean(row[way].tokens for row in rows)


def _success_rate(rows: Sequence[Mapping[str, AgentRun]], way: str) -> float:
    return mean(row[way].step != "never" for row in rows)


async def _run_tools(name: str, limit: int | None) -> tuple[list[dict[str, AgentRun]], int]:
    found: list[dict[str, AgentRun]] = []
    listing = 0
    for tree in swe_qa.trees():
        cited = [q for q in tree.queries if swe_qa.cited_spans(q.id)][:limit]
        if not cited:
            continue
        async with TOOLS[name](tree) as (tools, tokens):
            listing = tokens
            found += [
                await run_agent(tools, tree.path, query.text, swe_qa.cited_spans(query.id)) for query in cited
            ]
    return found, listing


async def _count_listing_tokens(client: Client) -> int:
    tools = (await client.list_tools()).tools
    return sum(estimate_tokens(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in tools)


@asynccontextmanager
async def _start_dowse(tree: Tree) -> AsyncIterator[tuple[Tools, int]]:
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as index:
        words = ["-m", "dowse", "mcp", str(tree.path), "--index-dir", f"{index}/index", "--no-memory"]
        server = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with Client(server, mode="legacy") as client:
            yield Dowse(client), await _count_listing_tokens(client)


@asynccontextmanager
async def _start_semble(tree: Tree) -> AsyncIterator[tuple[Tools, int]]:
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as cache:
        program, environment = find_semble_server(cache)
        server = StdioServerParameters(command=program, args=[], env={**os.environ, **environment})
        async with Client(server, mode="legacy") as client:
            yield Semble(client, tree.path), await _count_listing_tokens(client)


@asynccontextmanager
async def _start_ripgrep(tree: Tree) -> AsyncIterator[tuple[Tools, int]]:
    program = COMPETITORS["ripgrep"].launch().environment["BENCH_RG"]
    yield Ripgrep(tree.path, program), 0


TOOLS = {"dowse": _start_dowse, "semble": _start_semble, "ripgrep": _start_ripgrep}
