"""``dowse related``: tests of a source file (or the source of a test), and similar code ("more like this")."""

from __future__ import annotations

from pathlib import Path

import click

from dowse.interfaces.cli import options
from dowse.interfaces.cli.search import NOTHING_FOUND, show_response


@click.command()
@click.argument("place", metavar="PATH[:LINE]")
@options.root
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Hits to show (default: 10).")
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@options.as_json
@options.color
@options.store
@options.debug
def related(place: str, root: str | None, limit: int | None, explain: bool, as_json: bool, color: str) -> int:
    """Find what belongs to a place.

    The tests of a source file or what a test tests come first, then code that is like the code at the line
    (default: like the whole file, in others).
    """
    from dowse.interfaces.progress import progress_line

    with options.open_engine(root, limit=limit) as engine:
        path, line = engine.parse_place(place, Path.cwd())
        with progress_line() as progress:
            response = engine.related(path, line, progress=progress)
    show_response(response, explain=explain, as_json=as_json, color=color)
    return 0 if response.results else NOTHING_FOUND
