"""Text and JSON rendering of history: commits with the hunks that match, and who wrote the lines of a place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dowse.interfaces.json_values import SCHEMA
from dowse.interfaces.text_layout import format_count, format_table
from dowse.interfaces.theme import Paint, escape_code, escape_text
from dowse.types.commit_values import BlamedEntity, BlamedLines, CommitHit, HistoryAnswer, Hunk

SHA_DIGITS = 9
"""Digits of a commit that are shown: enough for the largest repositories."""

MAX_HUNK_LINES = 6
"""Lines of a hunk that are shown: those that changed."""

MAX_BODY_LINES = 3
"""Lines of a message below its subject that are shown."""

MAX_PATHS = 6
"""Files of a commit that are named."""

MAX_BLAMED_COMMITS = 5
"""Commits of a definition that are listed; the rest are counted."""

_LINE_ROLES = {"+": "good", "-": "bad"}


def history_text(answer: HistoryAnswer, paint: Paint, *, patches: bool = True) -> str:
    """Render commits, best first: hash, date, author, subject, why, and the hunks that match."""
    return "\n\n".join("\n".join(_commit_lines(commit, paint, patches)) for commit in answer.commits)


def _commit_lines(commit: CommitHit, paint: Paint, patches: bool) -> Iterator[str]:
    about = paint(f"{commit.date}  {escape_text(commit.author)}", "faint")
    subject = paint(escape_text(commit.subject), "entity")
    yield f"{paint(commit.sha[:SHA_DIGITS], 'path')}  {about}  {subject}"
    body = [line.strip() for line in commit.body.split("\n") if line.strip()]
    yield from (f"    {escape_text(line)}" for line in body[:MAX_BODY_LINES])
    if not patches:
        return
    for hunk in commit.hunks:
        yield from _hunk_lines(hunk, paint)
    shown = {hunk.path for hunk in commit.hunks}
    others = [path for path in commit.paths if path not in shown]
    if others:
        more = f" and {len(others) - MAX_PATHS} more" if len(others) > MAX_PATHS else ""
        yield paint(f"    also {', '.join(map(escape_text, others[:MAX_PATHS]))}{more}", "faint")


def _hunk_lines(hunk: Hunk, paint: Paint) -> Iterator[str]:
    within = paint(f"  {escape_text(hunk.within)}", "faint") if hunk.within else ""
    yield f"  {paint(escape_text(hunk.path), 'path')}:{paint(str(hunk.line), 'lines')}{within}"
    changed = [line for line in hunk.lines if line[0] != " " and line[1:].strip()]
    for line in changed[:MAX_HUNK_LINES]:
        yield "    " + paint(escape_code(line), _LINE_ROLES[line[0]])
    if len(changed) > MAX_HUNK_LINES:
        yield paint(f"    ... {format_count(len(changed) - MAX_HUNK_LINES, 'more changed line')}", "faint")


def blame_text(entities: Sequence[BlamedEntity], paint: Paint) -> str:
    """Render for each definition the commits that its lines are from, the newest first."""
    return "\n\n".join("\n".join(_entity_lines(entity, paint)) for entity in entities)


def _entity_lines(entity: BlamedEntity, paint: Paint) -> Iterator[str]:
    place = paint(escape_text(entity.path), "path") + f":{entity.start_line}-{entity.end_line}"
    yield f"{place}  {paint(escape_text(entity.entity), 'entity')}".rstrip()
    rows = [_blame_row(commit) for commit in entity.commits[:MAX_BLAMED_COMMITS]]
    yield from (f"  {line}" for line in format_table(rows).split("\n") if line)
    if (rest := len(entity.commits) - MAX_BLAMED_COMMITS) > 0:
        yield paint(f"  and {format_count(rest, 'older commit')}", "faint")


def _blame_row(commit: BlamedLines) -> list[str]:
    moved = f" (was in {escape_text(commit.path)})" if commit.path else ""
    return [
        commit.sha[:SHA_DIGITS] or "-" * SHA_DIGITS,
        commit.date,
        format_count(len(commit.lines), "line"),
        escape_text(commit.author),
        escape_text(commit.subject) + moved,
    ]


def history_values(answer: HistoryAnswer) -> dict[str, Any]:
    """Convert the answer of a search over commits."""
    return {
        "schema": SCHEMA,
        "searched": answer.searched,
        "commits": [
            {
                **commit._asdict(),
                "score": round(commit.score, 4),
                "hunks": [{**hunk._asdict(), "lines": list(hunk.lines)} for hunk in commit.hunks],
            }
            for commit in answer.commits
        ],
        "notes": list(answer.notes),
    }


def blame_values(entities: Sequence[BlamedEntity]) -> dict[str, Any]:
    """Convert who wrote the lines of definitions."""
    return {
        "schema": SCHEMA,
        "entities": [
            {**entity._asdict(), "commits": [commit._asdict() for commit in entity.commits]}
            for entity in entities
        ],
    }
