"""``dowse explain``: explain the score of a hit: why a place ranks where it does, or why it is not in the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dowse.interfaces import json_values, render_explanation
from dowse.interfaces.cli import options, output
from dowse.interfaces.progress import progress_line
from dowse.types.answers import SearchOptions
from dowse.types.explanations import Verdict

NOT_SHOWN = 1


@click.command(cls=options.QueryCommand)
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.argument("place", metavar="PATH[:LINE]")
@options.filters
@options.ranking
@options.tree
@options.as_json
@options.color
@options.debug
def explain(
    words: tuple[str, ...], place: str, root: str | None, as_json: bool, color: str, **flags: Any
) -> int:
    """Explain why a place is found, or why it is not.

    Runs the query as search does, and shows the rank of the place, what its score is made of, and what the hits
    above it have. If the place is not found: the filter, ignore rule or limit that is the reason. Without a line,
    explains the best place of the file. Exits with 1 if the place is not in the answer.

    Takes the filters of search, and the other options that change its answer.
    """
    with options.open_engine(root, **options.pick_given(flags, *options.RANKING_SETTINGS)) as engine:
        path, line = engine.parse_place(place, Path.cwd())
        wanted = SearchOptions(
            filter=options.build_filter(engine, flags), near=options.find_near(engine, flags)
        )
        with progress_line() as progress:
            explanation = engine.explain(" ".join(words), path, line, wanted, progress=progress)
    if as_json:
        output.write_json(json_values.explanation_values(explanation))
    else:
        output.write(render_explanation.explanation_text(explanation, output.make_view(color, explain=True)))
        for note in explanation.notes:
            output.remark(f"note: {note}")
    return 0 if explanation.verdict is Verdict.SHOWN else NOT_SHOWN
