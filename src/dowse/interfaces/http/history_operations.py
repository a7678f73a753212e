"""API operations on the git history: commits that answer a query, and who wrote a place."""

from __future__ import annotations

from dowse.interfaces import render_history
from dowse.interfaces.history_limits import hide_skipped_files
from dowse.interfaces.http import answer_schemas
from dowse.interfaces.http.operations import REPOSITORY, ApiAnswer, ApiCall, Operation
from dowse.interfaces.http.parameters import Parameter
from dowse.types.commit_values import HistoryOptions

MAX_COMMITS = 100
"""Commits of one answer: each comes with its diff."""


def history(call: ApiCall) -> ApiAnswer:
    """Find the commits that answer a query."""
    engine, values = call.engine, call.values
    options = HistoryOptions(
        limit=values["limit"],
        author=values["author"] or "",
        paths=tuple(values["path"]),
        since=values["since"] or "",
        span=values["range"] or "",
    )
    found = engine.history.search(values["query"] or "", options)
    return ApiAnswer(render_history.history_values(hide_skipped_files(engine, found)))


def blame(call: ApiCall) -> ApiAnswer:
    """Say who wrote the lines of a place."""
    return ApiAnswer(render_history.blame_values(call.engine.history.blame(call.values["target"])))


OPERATIONS = (
    Operation(
        "/history",
        "Find the commits that answer a question, with the hunks of files in the index that have most of it.",
        history,
        answer_schemas.HISTORY,
        (
            Parameter("query", "What the commits are about; without it, the newest that the filters leave."),
            Parameter("limit", "Commits to give.", "integer", minimum=1, maximum=MAX_COMMITS, default=10),
            Parameter("author", "Only commits of this author (a regular expression).", max_chars=200),
            Parameter("path", "Only commits that change this.", many=True, max_chars=1000),
            Parameter("since", "Only commits since then: 2025-01-31, '3 months ago'.", max_chars=200),
            Parameter("range", "Only commits of this range of revisions: A..B.", max_chars=200),
            REPOSITORY,
        ),
        command="dowse history",
    ),
    Operation(
        "/blame",
        "Say who wrote a place, and why.",
        blame,
        answer_schemas.BLAME,
        (
            Parameter("target", "A name, PATH:Name, PATH:LINE, PATH:FIRST-LAST or PATH.", required=True),
            REPOSITORY,
        ),
        command="dowse blame",
    ),
)
