"""``dowse related``: tests of a source file (or the source of a test), and similar code ("more like this")."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dowse.interfaces.cli import options
from dowse.interfaces.cli.search import NOTHING_FOUND, show_response
from dowse.interfaces.progress import progress_line
from dowse.types.answers import SearchOptions


@click.command()
@click.argument("place", metavar="PATH[:LINE]")
@options.limit()
@options.filters
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@options.no_refresh
@options.tree
@options.as_json
@options.color
@options.pager
@options.debug
def related(
    place: str, root: str | None, explain: bool, as_json: bool, color: str, pager: str, **flags: Any
) -> int:
    """Find what belongs to a place.

    The tests of a source file or what a test tests come first, then code that is like the code at the line
    (default: like the whole file, in others).
    """
    with options.open_engine(root, **options.pick_given(flags, "limit", "refresh")) as engine:
        path, line = engine.parse_place(place, Path.cwd())
        wanted = SearchOptions(filter=options.build_filter(engine, flags))
        with progress_line() as progress:
            response = engine.related(path, line, wanted, progress=progress)
    show_response(response, explain=explain, as_json=as_json, color=color, pager=pager)
    return 0 if response.results else NOTHING_FOUND
