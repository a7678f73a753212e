"""What the tools do: take the arguments, ask the engine, write the answer."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.indexing.freshness import patiently
from dowse.interfaces import render, render_explanation, render_index
from dowse.interfaces.mcp import responses
from dowse.interfaces.mcp.call_context import Call
from dowse.interfaces.mcp.responses import Answer, Wish
from dowse.interfaces.mcp.session import Session
from dowse.interfaces.mcp.tools import BUDGET
from dowse.interfaces.mcp.workspace import Workspace
from dowse.interfaces.theme import escape_text
from dowse.multi_repo import Repositories
from dowse.search.output import read_place as reading
from dowse.search.output.budget import cut_places
from dowse.search.pipeline import NO_GOOD
from dowse.types import (
    Candidate,
    Detail,
    IndexState,
    PackedHit,
    Revision,
    SearchOptions,
    SearchResponse,
    SearchResult,
    Skipped,
    SkipReason,
)

LIMIT = 10
"""Hits of an answer."""

NOT_THERE = (SkipReason.MISSING, SkipReason.OUTSIDE, SkipReason.NOT_A_FILE)

WEAK = f"{NO_GOOD} (weak: true shows all hits)"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Context:
    """What a call works with."""

    workspace: Workspace
    session: Session
    call: Call
    budget: int = BUDGET
    memory: bool = True

    def engines(self, wanted: str = "") -> dict[str, Engine]:
        """The engines that are asked, each told to look at the disk."""
        chosen = self.workspace.chosen(self.session.roots or (), wanted)
        for engine in chosen.values():
            engine.check_soon()
        return chosen

    def wish(self, asked: Mapping[str, Any], words: Sequence[str] = ()) -> Wish:
        """How the client wants its answer."""
        return Wish(
            budget=asked.get("budget", self.budget),
            detail=Detail(asked["detail"]) if "detail" in asked else None,
            words=words,
            repeat=asked.get("repeat", not self.memory),
        )


def search(context: Context, asked: Mapping[str, Any]) -> Answer:
    """Ranked places for a question, a page at a time."""
    engines = context.engines(asked.get("repo", ""))
    start = _start(asked)
    limit = asked.get("limit", LIMIT)
    near = asked.get("near", "")
    if near:  # belongs to one repository, which then is the one that is searched
        engines, near = one(engines, near)
    around = next(iter(engines.values())).near(near) if near else ()
    more = limit + 1  # one more tells whether there is more
    options = SearchOptions(limit=start + more, show_weak=asked.get("weak"), near=around)
    response = _search(engines, asked["query"], options, context.call)
    return _found(context, engines, response, asked, start, limit)


def related(context: Context, asked: Mapping[str, Any]) -> Answer:
    """What belongs to a place."""
    engines, written = one(context.engines(asked.get("repo", "")), asked["place"])
    ((name, engine),) = engines.items()
    path, line = _place(engine, written)
    limit = asked.get("limit", LIMIT)
    options = SearchOptions(limit=limit + 1)
    response = engine.related(path, line, options, progress=context.call.progress)
    if len(context.engines()) > 1:
        response = _named(response, name)
    return _found(context, engines, response, asked, 0, limit)


def explain(context: Context, asked: Mapping[str, Any]) -> Answer:
    """Why a place is found, or why not."""
    engines, written = one(context.engines(asked.get("repo", "")), asked["place"])
    (engine,) = engines.values()
    path, line = _place(engine, written)
    told = engine.explain(asked["query"], path, line, progress=context.call.progress)
    text = render_explanation.explanation_text(told, render.View(cwd=told.root, explain=True, whole=False))
    notes = [f"note: {escape_text(note)}" for note in told.notes]
    values = {
        "at": written,
        "verdict": told.verdict.value,
        "rank": told.rank,
        "detail": told.detail,
        "text": text,
        "notes": list(told.notes),
    }
    return Answer("\n".join([text, *notes]), values)


def read(context: Context, asked: Mapping[str, Any]) -> Answer:
    """What stands at some places."""
    all_engines = context.engines(asked.get("repo", ""))
    found: list[SearchResult] = []
    problems: list[str] = []
    for target in asked["targets"]:
        try:
            found += _read(context, all_engines, target, asked)
        except UsageError as error:
            problems.append(str(error))
    if not found:
        return responses.failed("; ".join(problems))
    states = states_of(all_engines, found)

    def footer(shown: Sequence[PackedHit], omitted: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
        cut = cut_places(shown)
        lines = [
            *map(escape_text, problems),
            *responses.left_out([*cut, *omitted]),
            responses.state_line(states),
        ]
        return lines, {"problems": problems, "cut": cut, "index": responses.state_values(states)}

    return responses.listed(found, context.wish(asked), context.session.sent, footer)


def status(context: Context, asked: Mapping[str, Any]) -> Answer:
    """The repositories that are open, and how their indexes are."""
    blocks: list[str] = []
    values: list[dict[str, Any]] = []
    for name, engine in context.engines(asked.get("repo", "")).items():
        if asked.get("refresh"):
            patiently(partial(engine.index, context.call.progress), context.call.progress)
        found, pending = engine.status(), engine.pending()
        revision = engine.revision()
        blocks.append(f"{name}\n" + render_index.status_text(found, str(engine.root), pending))
        if revision and revision.commit:
            blocks[-1] += (
                f"\ncommit     {revision.commit[: responses.COMMIT]} {escape_text(revision.branch)}".rstrip()
            )
        blocks[-1] += "".join(f"\nnote: {escape_text(note)}" for note in engine.notes)
        values.append(_status_values(name, engine, revision))
        if "why" in asked:
            said = _why(engine, asked["why"])
            blocks[-1] += f"\n{said}"
            values[-1]["why"] = said
    return Answer("\n\n".join(blocks), {"repositories": values})


def _status_values(name: str, engine: Engine, revision: Revision | None) -> dict[str, Any]:
    found = engine.status()
    return {
        "repo": name,
        "root": str(engine.root),
        "state": found.state.value,
        "generation": found.generation,
        "files": found.files,
        "definitions": found.entities,
        "pending": engine.pending(),
        "languages": dict(list(found.languages.items())[: render_index.MAX_LISTED]),
        "commit": revision.commit[: responses.COMMIT] if revision else "",
        "branch": revision.branch if revision else "",
        "read_only": engine.read_only,
        "notes": list(engine.notes),
    }


def _why(engine: Engine, path: str) -> str:
    verdict = engine.why(engine.path_inside(path))
    return _left_out_because(verdict) or escape_text(f"{verdict.path} belongs in the index")


def _left_out_because(verdict: Candidate | Skipped) -> str:
    if not isinstance(verdict, Skipped):
        return ""
    detail = f" ({verdict.detail})" if verdict.detail else ""
    return escape_text(f"{verdict.path} is left out: {verdict.reason}{detail}")


# --- asking ---------------------------------------------------------------------------------------


def _search(engines: Mapping[str, Engine], query: str, options: SearchOptions, call: Call) -> SearchResponse:
    if len(engines) == 1:
        return next(iter(engines.values())).search(query, options, progress=call.progress)
    return Repositories(engines).search(query, options, progress=call.progress)


def _read(
    context: Context, engines: Mapping[str, Engine], target: str, asked: Mapping[str, Any]
) -> list[SearchResult]:
    chosen, place = one(engines, target, every=True)
    found: list[SearchResult] = []
    problem: UsageError | None = None
    for name, engine in chosen.items():
        try:
            results = engine.read(place, outline=asked.get("outline", False), progress=context.call.progress)
        except UsageError as error:
            problem = UsageError(f"{error}{_why_unread(engine, place)}")
            continue
        found += [r._replace(repository=name) for r in results] if len(engines) > 1 else results
    if not found and problem:
        raise problem
    return found


def _why_unread(engine: Engine, place: str) -> str:
    """What is to be added where a file is there, but not in the index."""
    verdict = engine.why(reading.parsed(place).path)
    if not isinstance(verdict, Skipped) or verdict.reason in NOT_THERE:
        return ""
    return f"; {_left_out_because(verdict)}"


def one(engines: Mapping[str, Engine], target: str, *, every: bool = False) -> tuple[dict[str, Engine], str]:
    """The engine that a target names (``backend:src/x.py``), and the rest of the target."""
    for name in sorted(engines, key=len, reverse=True):
        if target.startswith(f"{name}:") and len(engines) > 1:
            return {name: engines[name]}, target[len(name) + 1 :]
    if len(engines) > 1 and not every:
        raise UsageError(f"say which repository: one of {', '.join(engines)}, before the path or as repo")
    return dict(engines), target


def _place(engine: Engine, written: str) -> tuple[str, int]:
    """``path`` or ``path:line`` as a path from the root and a line, 0 if none is given."""
    path, _, line = written.rpartition(":") if written.rpartition(":")[2].isdigit() else (written, "", "0")
    return engine.path_inside(path), int(line[:9])


def _named(response: SearchResponse, name: str) -> SearchResponse:
    return replace(response, results=tuple(hit._replace(repository=name) for hit in response.results))


# --- answering ------------------------------------------------------------------------------------


def _found(
    context: Context,
    engines: Mapping[str, Engine],
    response: SearchResponse,
    asked: Mapping[str, Any],
    start: int,
    limit: int,
) -> Answer:
    hits = response.results[start : start + limit]
    wish, sent = context.wish(asked, response.query.words), context.session.sent
    if "query" in asked and not {"limit", "detail"} & asked.keys():
        hits = hits[: responses.filling(hits, wish, sent)]
    more = len(response.results) > start + len(hits)
    states = states_of(engines, hits, response)
    idle = [f"{c.name} not asked: {c.why_not}" for c in response.channels if not c.ran and c.name == "dense"]

    digest = _digest(asked) if "query" in asked else ""

    def footer(shown: Sequence[PackedHit], omitted: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
        goes_on = digest and shown and (more or len(shown) < len(hits))
        cursor = f"{start + len(shown)}.{digest}" if goes_on else ""
        lines = [_counted(start, shown, cursor) if not response.weak else WEAK]
        lines += [f"note: {escape_text(note)}" for note in response.notes if note != NO_GOOD]
        lines.append(responses.state_line(states))
        values = {
            "cursor": cursor or None,
            "cut": cut_places(shown),
            "notes": [*response.notes, *idle],
            "index": responses.state_values(states),
        }
        return lines, values

    return responses.listed(hits, wish, sent, footer)


def _counted(start: int, shown: Sequence[PackedHit], cursor: str) -> str:
    if not shown:
        return "nothing found" if not start else "no more hits"
    said = f"hits {start + 1}-{start + len(shown)}"
    if cursor:
        said += f", more with cursor {cursor}"
    if any(f"[{responses.SENT_BEFORE}]" in hit.lines[0] for hit in shown):
        said += "; code sent before is not repeated (repeat: true does)"
    return said


def states_of(
    engines: Mapping[str, Engine], hits: Iterable[SearchResult], response: SearchResponse | None = None
) -> dict[str, tuple[int, Revision | None]]:
    """The state of each repository that was asked: generation of its index, commit, changed files of the answer."""
    paths: dict[str, list[str]] = defaultdict(list)
    for hit in hits:
        paths[hit.repository].append(hit.path)
    if len(engines) == 1:
        (engine,) = engines.values()
        generation = response.generation if response else engine.generation()
        shown = [path for found in paths.values() for path in found]
        return {"": (generation, engine.revision(shown))}
    generations = {r.name: r.generation for r in response.repositories} if response else {}
    return {
        name: (generations.get(name) or engine.generation(), engine.revision(paths[name]))
        for name, engine in engines.items()
        if name in paths or engine.status().state is not IndexState.MISSING
    }


# --- pages ----------------------------------------------------------------------------------------


def _digest(asked: Mapping[str, Any]) -> str:
    """What a page belongs to: the question and where it was asked."""
    said = "\0".join([asked["query"], asked.get("repo", ""), asked.get("near", "")])
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _start(asked: Mapping[str, Any]) -> int:
    """Where a page begins."""
    if "cursor" not in asked:
        return 0
    start, _, digest = asked["cursor"].partition(".")
    if not (start.isascii() and start.isdigit() and len(start) < 7) or digest != _digest(asked):
        raise UsageError("this cursor belongs to another question: ask the same one again, without it")
    return int(start)
