"""Handler of the MCP tool on changes: search over commits, blame, and what a change affects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dowse.errors import UsageError
from dowse.interfaces import render_graph, render_history
from dowse.interfaces.history_limits import hide_skipped_files
from dowse.interfaces.mcp import responses
from dowse.interfaces.mcp.graph_handlers import fresh_engine
from dowse.interfaces.mcp.handlers import Context
from dowse.interfaces.mcp.responses import Answer
from dowse.interfaces.theme import escape_text, plain
from dowse.types.commit_values import HistoryAnswer, HistoryOptions
from dowse.types.graph_values import DEFAULT_DEPTHS, Walk

DEFAULT_COMMITS = 5
"""Commits of an answer unless asked otherwise: each comes with its diff."""


def changes(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Answer about the changes of a tree."""
    return {"history": _find_commits, "blame": _blame, "affected": _find_affected}[arguments["ask"]](
        context, arguments
    )


def _find_commits(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Find the commits that answer a query, each with the hunks that match."""
    engine, target = fresh_engine(context, arguments, arguments.get("target", ""))
    options = HistoryOptions(
        limit=arguments.get("limit", DEFAULT_COMMITS),
        author=arguments.get("author", ""),
        paths=(target.partition(":")[0],) if target else (),
        since=arguments.get("since", ""),
    )
    found = engine.history.search(arguments.get("query", ""), options)
    if not context.workspace.allowed.trust_client:
        found = hide_skipped_files(engine, found)
    notes = [f"{len(found.commits)} commits of {found.searched}", *map(escape_text, found.notes)]
    return responses.answer_tree(
        len(found.commits),
        len(found.commits),
        lambda count: render_history.history_text(_first(found, count), plain),
        lambda count: render_history.history_values(_first(found, count))["commits"],
        notes,
        context.response_options(arguments).budget,
        key="commits",
    )


def _first(found: HistoryAnswer, count: int) -> HistoryAnswer:
    return HistoryAnswer(found.commits[:count], found.searched, found.notes)


def _blame(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Say who wrote a place, and why."""
    if "target" not in arguments:
        raise UsageError("say which place: 'target' is path:Name, path:line, a path or a name")
    engine, target = fresh_engine(context, arguments, arguments["target"])
    found = engine.history.blame(target)
    return responses.answer_tree(
        len(found),
        len(found),
        lambda count: render_history.blame_text(found[:count], plain),
        lambda count: render_history.blame_values(found[:count])["entities"],
        [],
        context.response_options(arguments).budget,
        key="entities",
    )


def _find_affected(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """List what the changes since a revision reach, and the tests to run."""
    engine, _ = fresh_engine(context, arguments, "")
    found = engine.graph.find_affected(
        arguments.get("since") or "HEAD", None, Walk(depth=DEFAULT_DEPTHS["affected"])
    )
    lines = (render_graph.affected_text(found, plain) or "nothing changed").split("\n")
    tests = [{"path": path, "why": why} for path, why in found.tests]
    return responses.answer_tree(
        len(lines),
        len(lines),
        lambda count: "\n".join(lines[:count]),
        lambda count: tests[:count],
        [escape_text(note) for note in found.notes],
        context.response_options(arguments).budget,
        key="tests",
    )
