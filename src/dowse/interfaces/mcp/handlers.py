"""Handlers of the MCP tools (search, related, explain, read, status): call the engine, paginate and answer."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.interfaces import render, render_explanation, render_index
from dowse.interfaces.call_context import Call
from dowse.interfaces.mcp import responses
from dowse.interfaces.mcp.responses import Answer, ResponseOptions
from dowse.interfaces.mcp.session import ClientSession
from dowse.interfaces.mcp.tools import DEFAULT_BUDGET_TOKENS
from dowse.interfaces.theme import escape_text
from dowse.interfaces.workspace import Workspace
from dowse.multi_repo import Repositories, choose_limit
from dowse.search.output.budget import list_cut_ranges
from dowse.types.answers import (
    NO_GOOD_HITS_NOTE,
    Detail,
    PackedHit,
    SearchOptions,
    SearchResponse,
    SearchResult,
)
from dowse.types.discovered import FoundFile, Revision, Skipped, SkipReason
from dowse.types.stored import IndexState

MISSING_REASONS = (SkipReason.MISSING, SkipReason.OUTSIDE, SkipReason.NOT_A_FILE)

NO_GOOD_HINT = f"{NO_GOOD_HITS_NOTE} (show_low_confidence: true shows all hits)"

KNOWN_HITS = 3
"""If the client has the code of so many of the first hits, it has asked this before: it is not sent worse ones."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Context:
    """What the handler of a tool call works with: workspace, client session, the call, and its token budget."""

    workspace: Workspace
    session: ClientSession
    call: Call
    budget: int = DEFAULT_BUDGET_TOKENS
    memory: bool = True

    def engines(self, repository: str = "") -> dict[str, Engine]:
        """Return the engines to search, each told to check the disk for changes."""
        chosen = self.workspace.choose_engines(self.session.roots or (), repository)
        for engine in chosen.values():
            engine.force_check()
        return chosen

    def response_options(self, arguments: Mapping[str, Any], words: Sequence[str] = ()) -> ResponseOptions:
        """Read from the arguments how the client wants its answer."""
        return ResponseOptions(
            budget=arguments.get("budget", self.budget),
            detail=Detail(arguments["detail"]) if "detail" in arguments else None,
            words=words,
            repeat=arguments.get("repeat", not self.memory),
        )


def search(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Search, and answer with a page of ranked hits."""
    return _search_page(context, arguments)


def locate(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Find the places that the output of a program or a report is about."""
    given = {name: value for name, value in arguments.items() if name != "text"}
    return _search_page(context, {**given, "query": arguments["text"]}, pasted=True)


def _search_page(context: Context, arguments: Mapping[str, Any], *, pasted: bool = False) -> Answer:
    engines = context.engines(arguments.get("repo", ""))
    start = _parse_cursor(arguments)
    near = arguments.get("near", "")
    if near:  # belongs to one repository, which then is the one that is searched
        engines, near = select_engine(engines, near)
    around = next(iter(engines.values())).near(near) if near else ()
    limit = arguments.get("limit") or choose_limit(engines.values())
    options = SearchOptions(
        limit=start + limit,
        show_low_confidence=arguments.get("show_low_confidence"),
        near=around,
        pasted=pasted,
    )
    response = _search(engines, arguments["query"], options, context.call)
    return _answer_page(context, engines, response, arguments, start, limit)


def find_related(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Find what belongs to a place: its tests, similar code."""
    engines, place = select_engine(context.engines(arguments.get("repo", "")), arguments["target"])
    ((name, engine),) = engines.items()
    path, line = engine.parse_place(engine.read(place)[0].path if ":" not in place else place)
    limit = arguments.get("limit") or choose_limit([engine])
    response = engine.related(path, line, SearchOptions(limit=limit), progress=context.call.progress)
    if len(context.engines()) > 1:
        response = _set_repository(response, name)
    return _answer_page(context, engines, response, arguments, 0, limit)


def _explain(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Explain why a place is found, or why not."""
    engines, place = select_engine(context.engines(arguments.get("repo", "")), arguments["target"])
    (engine,) = engines.values()
    path, line = engine.parse_place(place)
    explanation = engine.explain(arguments["query"], path, line, progress=context.call.progress)
    text = render_explanation.explanation_text(
        explanation, render.View(cwd=explanation.root, explain=True, whole=False)
    )
    notes = [f"note: {escape_text(note)}" for note in explanation.notes]
    values = {
        "at": place,
        "verdict": explanation.verdict.value,
        "rank": explanation.rank,
        "detail": explanation.detail,
        "text": text,
        "notes": list(explanation.notes),
    }
    return Answer("\n".join([text, *notes]), values)


def read(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Read the code at some places."""
    all_engines = context.engines(arguments.get("repo", ""))
    found: list[SearchResult] = []
    problems: list[str] = []
    for target in arguments["target"]:
        try:
            found += _read(context, all_engines, target, arguments)
        except UsageError as error:
            problems.append(str(error))
    if not found:
        return responses.error_answer("; ".join(problems))
    states = index_states(all_engines, found)

    def footer(shown: Sequence[PackedHit], omitted: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
        cut = list_cut_ranges(shown)
        lines = [
            *map(escape_text, problems),
            *responses.omitted_lines([*cut, *omitted]),
            responses.state_line(states),
        ]
        return lines, {"problems": problems, "cut": cut, "index": responses.state_values(states)}

    return responses.answer_hits(found, context.response_options(arguments), context.session.sent, footer)


def status(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """List the open repositories and the state of their indexes; or explain why a place is (not) found."""
    if "query" in arguments:
        if "target" not in arguments:
            raise UsageError("say which place: 'target' is a path or path:line")
        return _explain(context, arguments)
    blocks: list[str] = []
    values: list[dict[str, Any]] = []
    for name, engine in context.engines(arguments.get("repo", "")).items():
        if arguments.get("refresh"):
            engine.index(context.call.progress, wait=True)
        found, pending = engine.status(), engine.count_pending()
        revision = engine.revision()
        blocks.append(f"{name}\n" + render_index.status_text(found, str(engine.root), pending))
        if revision and revision.commit:
            blocks[-1] += (
                f"\ncommit     {revision.commit[: responses.COMMIT_DIGITS]} {escape_text(revision.branch)}".rstrip()
            )
        blocks[-1] += "".join(f"\nnote: {escape_text(note)}" for note in engine.notes)
        values.append(_status_values(name, engine, revision))
        if "target" in arguments:
            line = _describe_file(engine, arguments["target"])
            blocks[-1] += f"\n{line}"
            values[-1]["why"] = line
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
        "pending": engine.count_pending(),
        "languages": dict(list(found.languages.items())[: render_index.MAX_LISTED]),
        "commit": revision.commit[: responses.COMMIT_DIGITS] if revision else "",
        "branch": revision.branch if revision else "",
        "read_only": engine.read_only,
        "notes": list(engine.notes),
    }


def _describe_file(engine: Engine, path: str) -> str:
    verdict = engine.why(engine.path_inside(path))
    return _describe_skip(verdict) or escape_text(f"{verdict.path} belongs in the index")


def _describe_skip(verdict: FoundFile | Skipped) -> str:
    if not isinstance(verdict, Skipped):
        return ""
    detail = f" ({verdict.detail})" if verdict.detail else ""
    return escape_text(f"{verdict.path} is skipped: {verdict.reason}{detail}")


# --- queries ---------------------------------------------------------------------------------------


def _search(engines: Mapping[str, Engine], query: str, options: SearchOptions, call: Call) -> SearchResponse:
    if len(engines) == 1:
        return next(iter(engines.values())).search(query, options, progress=call.progress)
    return Repositories(engines).search(query, options, progress=call.progress)


def _read(
    context: Context, engines: Mapping[str, Engine], target: str, arguments: Mapping[str, Any]
) -> list[SearchResult]:
    chosen, place = select_engine(engines, target, every=True)
    found: list[SearchResult] = []
    problem: UsageError | None = None
    for name, engine in chosen.items():
        try:
            results = engine.read(
                place, outline=arguments.get("outline", False), progress=context.call.progress
            )
        except UsageError as error:
            problem = UsageError(f"{error}{_why_not_indexed(engine, place)}")
            continue
        found += [r._replace(repository=name) for r in results] if len(engines) > 1 else results
    if not found and problem:
        raise problem
    return found


def _why_not_indexed(engine: Engine, place: str) -> str:
    """Say why a file that exists is not in the index; nothing if it does not exist."""
    verdict = engine.why_unread(place)
    if not isinstance(verdict, Skipped) or verdict.reason in MISSING_REASONS:
        return ""
    return f"; {_describe_skip(verdict)}"


def select_engine(
    engines: Mapping[str, Engine], target: str, *, every: bool = False
) -> tuple[dict[str, Engine], str]:
    """Select the engine that a target names (``backend:src/x.py``); return also the rest of the target."""
    for name in sorted(engines, key=len, reverse=True):
        if target.startswith(f"{name}:") and len(engines) > 1:
            return {name: engines[name]}, target[len(name) + 1 :]
    if len(engines) > 1 and not every:
        raise UsageError(f"say which repository: one of {', '.join(engines)}, before the path or as repo")
    return dict(engines), target


def _set_repository(response: SearchResponse, name: str) -> SearchResponse:
    return replace(response, results=tuple(hit._replace(repository=name) for hit in response.results))


# --- answers ------------------------------------------------------------------------------------


def _answer_page(
    context: Context,
    engines: Mapping[str, Engine],
    response: SearchResponse,
    arguments: Mapping[str, Any],
    start: int,
    limit: int,
) -> Answer:
    hits = response.results[start : start + limit]
    wanted, sent = context.response_options(arguments, response.query.words), context.session.sent
    total = len(response.results) - start
    is_known = False
    if "query" in arguments and not {"limit", "detail"} & arguments.keys():
        first = hits[: responses.count_page_hits(hits, replace(wanted, repeat=True), sent)]
        is_known = bool(first) and not start and not wanted.repeat and all(map(sent.has, first[:KNOWN_HITS]))
        hits = first[:KNOWN_HITS] if is_known else hits[: responses.count_page_hits(hits, wanted, sent)]
    has_more = response.has_more or len(response.results) > start + len(hits)
    states = index_states(engines, hits, response)
    idle = [f"{c.name} skipped: {c.why_not}" for c in response.channels if not c.ran and c.name == "dense"]

    digest = _query_digest(arguments) if "query" in arguments else ""

    def footer(shown: Sequence[PackedHit], omitted: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
        goes_on = digest and shown and (has_more or len(shown) < len(hits))
        cursor = f"{start + len(shown)}.{digest}" if goes_on else ""
        if is_known:
            below = f"{total - len(shown)}{'+' if response.has_more else ''} more below with cursor {cursor}"
            lines = [
                f"nothing new (repeat: true sends the code again); {below if cursor else 'no more below'}"
            ]
        else:
            lines = [_page_line(start, shown, cursor) if not response.low_confidence else NO_GOOD_HINT]
        lines += [f"note: {escape_text(note)}" for note in response.notes if note != NO_GOOD_HITS_NOTE]
        lines.append(responses.state_line(states))
        values = {
            "cursor": cursor or None,
            "cut": list_cut_ranges(shown),
            "notes": [*response.notes, *idle],
            "index": responses.state_values(states),
        }
        return lines, values

    return responses.answer_hits(hits, wanted, sent, footer)


def _page_line(start: int, shown: Sequence[PackedHit], cursor: str) -> str:
    if not shown:
        return "nothing found" if not start else "no more hits"
    line = f"hits {start + 1}-{start + len(shown)}"
    if cursor:
        line += f", more with cursor {cursor}"
    if any(f"[{responses.SENT_BEFORE}]" in hit.lines[0] for hit in shown):
        line += "; code sent before is not repeated (repeat: true does)"
    return line


def index_states(
    engines: Mapping[str, Engine], hits: Iterable[SearchResult], response: SearchResponse | None = None
) -> dict[str, tuple[int, Revision | None]]:
    """Return the state of each repository: generation of its index, commit, changed files of the answer."""
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


def _query_digest(arguments: Mapping[str, Any]) -> str:
    """Hash what a page belongs to: the query and where it was searched."""
    identity = "\0".join([arguments["query"], arguments.get("repo", ""), arguments.get("near", "")])
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _parse_cursor(arguments: Mapping[str, Any]) -> int:
    """Return where a page begins."""
    if "cursor" not in arguments:
        return 0
    start, _, digest = arguments["cursor"].partition(".")
    if not (start.isascii() and start.isdigit() and len(start) < 7) or digest != _query_digest(arguments):
        raise UsageError("this cursor belongs to another query: repeat your query without it")
    return int(start)
