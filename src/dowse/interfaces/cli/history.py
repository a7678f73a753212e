"""``dowse history`` and ``dowse blame``: search over commits, and who wrote the lines of a place."""

from __future__ import annotations

from typing import Any

import click

from dowse.interfaces import render_history
from dowse.interfaces.cli import options, output
from dowse.interfaces.progress import progress_line
from dowse.interfaces.text_layout import format_count
from dowse.types.commit_values import HistoryOptions

NOTHING_FOUND = 1


@click.command()
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@options.limit("Commits to show", 10)
@click.option(
    "--author", default="", metavar="NAME", help="Only commits of this author (a regular expression)."
)
@click.option(
    "--path", "paths", multiple=True, metavar="PATH", help="Only commits that change this (repeatable)."
)
@click.option(
    "--since", default="", metavar="DATE", help="Only commits since then: 2025-01-31, '3 months ago'."
)
@click.option("--range", "span", default="", metavar="A..B", help="Only commits of this range of revisions.")
@click.option("--no-patch", is_flag=True, help="Show no hunks.")
@options.tree
@options.as_json
@options.color
@options.pager
@options.debug
def history(
    words: tuple[str, ...],
    root: str | None,
    limit: int,
    author: str,
    paths: tuple[str, ...],
    since: str,
    span: str,
    no_patch: bool,
    as_json: bool,
    color: str,
    pager: str,
    **given: Any,
) -> int:
    """Find the commits that answer a question.

    Searches messages, files and changed lines of the newest 5,000 commits that say something (no merges, no bulk
    changes, no releases), and shows the hunks that have most of the query. Without words, lists the newest commits
    that the options leave.
    """
    wanted = HistoryOptions(limit=limit, author=author, paths=paths, since=since, span=span)
    with options.open_engine(root, **given) as engine:
        with progress_line() as progress:
            engine.refresh(progress)
        answer = engine.history.search(" ".join(words), wanted)
    if as_json:
        output.write_json(render_history.history_values(answer))
    elif answer.commits:
        view = output.make_view(color)
        output.write_paged(render_history.history_text(answer, view.paint, patches=not no_patch), pager, view)
    for note in answer.notes:
        output.remark(f"note: {note}")
    if not as_json:
        output.remark(f"{format_count(len(answer.commits), 'commit')} of {answer.searched}")
    return 0 if answer.commits else NOTHING_FOUND


@click.command()
@click.argument("target")
@options.tree
@options.as_json
@options.color
@options.pager
@options.debug
def blame(target: str, root: str | None, as_json: bool, color: str, pager: str, **given: Any) -> int:
    """Show who wrote a place, and why.

    TARGET is a name, path:Name, path:line, path:first-last or a path, of which each definition is shown. Lines that
    were moved or copied count for the commit that wrote them, and changes of white space do not count.
    """
    with options.open_engine(root, **given) as engine:
        entities = engine.history.blame(target)
    if as_json:
        output.write_json(render_history.blame_values(entities))
    else:
        view = output.make_view(color)
        output.write_paged(render_history.blame_text(entities, view.paint), pager, view)
    return 0
