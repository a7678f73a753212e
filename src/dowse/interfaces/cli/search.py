"""``dowse search``: the question, and how its answer is shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.errors import UsageError
from dowse.interfaces.cli import COMMANDS, IMPLIED, options

if TYPE_CHECKING:
    from dowse.engine import Engine
    from dowse.multi_repo import Repositories
    from dowse.types import Packed, SearchOptions, SearchResponse, SearchResult

NOTHING_FOUND = 1

MAX_STDIN = 1_000_000
"""Bytes of a question that are read from standard input; far less of it is looked at."""

SIMILAR = 0.75
"""How like the name of a command a word must be to be taken for a slip of the finger: "statsu"."""

_LINES = click.IntRange(min=0)


@click.command(cls=options.Question)
@click.argument("words", nargs=-1, metavar="QUERY...")
@options.root
@click.option(
    "--repo",
    "repos",
    multiple=True,
    metavar="NAME|DIR",
    help="Search this repository, named in the settings or by its folder (repeatable: one ranking of all).",
)
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Hits to show (default: 10).")
@click.option(
    "-l", "--lang", "languages", multiple=True, metavar="NAME", help="Only this language (repeatable)."
)
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Only files like this (repeatable).")
@click.option(
    "--not-path", "not_paths", multiple=True, metavar="GLOB", help="No files like this (repeatable)."
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="Only this kind: class, function, ... (repeatable).",
)
@click.option(
    "--name", "names", multiple=True, metavar="GLOB", help="Only definitions named like this (repeatable)."
)
@click.option("--tests/--no-tests", default=None, help="Only tests, or no tests (default: both).")
@click.option("-A", "--after", type=_LINES, metavar="N", help="Lines to show after a hit.")
@click.option("-B", "--before", type=_LINES, metavar="N", help="Lines to show before a hit.")
@click.option("-C", "--context", type=_LINES, metavar="N", help="Lines to show before and after a hit.")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="TOKENS", help="The best mix of hits that fits."
)
@click.option(
    "--detail",
    type=click.Choice(["ids", "signature", "preview", "full"]),
    help="How much to show of each hit (default: its lines).",
)
@click.option(
    "--min-score", type=click.FloatRange(0, 1), metavar="P", help="Leave out hits of less relevance (0 to 1)."
)
@click.option("--weak", is_flag=True, help="Show all hits even if none is good.")
@click.option(
    "--cursor",
    metavar="FILE[:LINE]",
    help="Where you are: that file, what it imports and its tests are lifted and always considered.",
)
@click.option(
    "--with",
    "attached",
    multiple=True,
    type=click.Choice(["deps"]),
    help="deps: say of each hit what it uses, what uses it, and its tests.",
)
@click.option("--full", is_flag=True, help="On a terminal, show every line of a hit.")
@click.option(
    "--explain", is_flag=True, help="Show how the question was read and what each score is made of."
)
@click.option(
    "--hybrid",
    type=click.Choice(["auto", "on", "off"]),
    help="Whether meaning counts beside words (default: auto, by the question).",
)
@click.option("--no-refresh", is_flag=True, help="Do not look for files that changed since the last search.")
@click.option("--no-cache", is_flag=True, help="Do not answer from what was answered before.")
@click.option("--files", "files_only", is_flag=True, help="Print only the paths of the files, each once.")
@options.embedder
@options.index_dir
@options.any_root
@options.as_json
@options.color
@options.debug
@click.pass_context
def search(ctx: click.Context, /, words: tuple[str, ...], root: str | None, **asked: Any) -> int:
    """Find the places that answer a question.

    QUERY is a question in words, a name (Engine.search, Auth*), a file name, or a mix of them; "-" reads it
    from standard input. The index is made on first use and kept up to date.

    Patterns for --path match the path from the root: "src/**/*.py", "tests" for anything below a folder of
    that name; one that begins with "./" or "../" is relative to the working directory.
    """
    from dowse.interfaces.progress import progress_line

    _refuse_contradictions(asked)
    query = _query(words)
    settings = {name: asked[name] for name in ("limit", "embedder", "index_dir", "hybrid", "min_score")}
    settings["refresh"] = False if asked["no_refresh"] else None
    settings["show_weak"] = True if asked["weak"] else None
    settings["cache"] = "off" if asked["no_cache"] else None
    settings["any_root"] = asked["any_root"]
    searched = _opened(root, asked["repos"], settings)
    with searched, progress_line() as progress:
        engine = next(iter(getattr(searched, "engines", {"": searched}).values()))
        response = searched.search(query, _options(engine, asked), progress=progress)
    show(response, **asked)
    _mention_command(ctx, words)
    return 0 if response.results and not response.weak else NOTHING_FOUND


def _opened(root: str | None, repos: tuple[str, ...], settings: dict[str, Any]) -> Engine | Repositories:
    """What is searched: one tree, or several repositories."""
    if not repos:
        return options.open_engine(root, **settings)
    from dowse.multi_repo import Repositories

    return Repositories.open(repos, root, **settings)


def _refuse_contradictions(asked: dict[str, Any]) -> None:
    """What would be left out without a word is an error."""
    if asked["as_json"]:
        return
    for only, leaves_out in (
        ("files_only", ("explain", "detail", "budget", "attached")),
        ("budget", ("attached",)),
    ):
        for other in leaves_out if asked[only] else ():
            if asked[other]:
                names = {"files_only": "--files", "attached": "--with"}
                one, two = (names.get(name, f"--{name}") for name in (only, other))
                raise UsageError(
                    f"{one} has no room for what {two} shows: leave one of them out, or add --json"
                )


def _query(words: tuple[str, ...]) -> str:
    if words == ("-",):
        return sys.stdin.buffer.read(MAX_STDIN).decode("utf-8", "replace")
    return " ".join(words)


def _options(engine: Engine, asked: dict[str, Any]) -> SearchOptions:
    from dowse.types import SearchOptions

    before, after = (
        asked[side] if asked[side] is not None else asked["context"] for side in ("before", "after")
    )
    return SearchOptions(
        limit=engine.settings.limit,
        filter=engine.filter(
            languages=asked["languages"],
            paths=[_from_root(pattern, engine) for pattern in asked["paths"]],
            not_paths=[_from_root(pattern, engine) for pattern in asked["not_paths"]],
            kinds=asked["kinds"],
            names=asked["names"],
            tests=asked["tests"],
        ),
        before=before,
        after=after,
        text=not asked["files_only"],
        near=_near(engine, asked["cursor"]) if asked["cursor"] else (),
        neighbours="deps" in asked["attached"],
    )


def _near(engine: Engine, cursor: str) -> tuple[tuple[str, float], ...]:
    path, line = options.place(cursor, engine.root)
    return engine.near(f"{path}:{line}" if line else path)


def _from_root(pattern: str, engine: Engine) -> str:
    """A pattern that is relative to the working directory, relative to the root."""
    if not pattern.replace("\\", "/").startswith(("./", "../")):
        return pattern
    return os.path.relpath(Path.cwd() / pattern, engine.root).replace("\\", "/")


def show(response: SearchResponse, *, as_json: bool, color: str, explain: bool = False, **asked: Any) -> None:
    """Print an answer as it is asked for."""
    from dowse.interfaces import json_values, render
    from dowse.interfaces.cli import output
    from dowse.types import Detail

    budget, detail = asked.get("budget"), asked.get("detail")
    if as_json:
        packed = _packed(response, response.results, budget, detail) if budget else None
        output.write_json(json_values.search_values(response, packed))
        return
    whole = asked.get("full") or any(asked.get(n) is not None for n in ("after", "before", "context"))
    view = output.view(color, explain=explain, whole=bool(whole))
    if budget:
        label = partial(render.reasons_label, channels=render.channel_names(response)) if explain else None
        text = _packed(response, render.make_printable(response, view), budget, detail, label).text
    elif detail:
        text = render.detail_text(response, Detail(detail), view)
    elif asked.get("files_only"):
        text = "\n".join(render.hit_files(response, view))
    else:
        text = render.search_text(response, view)
    if text:
        output.write(text)
    summary = render.search_summary(response, view)
    if budget and explain:  # of the budget, only the hits take
        summary = f"{render.query_analysis_text(response, view)}\n{summary}"
    if view.terminal and not asked.get("files_only"):
        output.write(f"\n{summary}" if text else summary)
    else:
        output.remark(summary)


def _packed(
    response: SearchResponse,
    hits: Sequence[SearchResult],
    budget: int,
    detail: str | None,
    label: Callable[[SearchResult], str] | None = None,
) -> Packed:
    """The hits that fit, each with so much of it, or the best mix."""
    from dowse.search.output.budget import UNNAMED, estimate_tokens, no_label, pack, pack_at, place
    from dowse.types import Detail

    words, label = response.query.words, label or no_label
    if detail:
        packed = pack_at(hits, Detail(detail), budget, words, label)
    else:
        packed = pack(hits, budget, words=words, label=label)
    if packed.text == UNNAMED:
        first = place(hits[0])
        needed = estimate_tokens(first)
        raise UsageError(
            f"a budget of {budget} holds no hit: to name the first, {first}, takes {needed} tokens"
        )
    return packed


def _mention_command(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Who mistypes a command gets a search for it, and is told."""
    if not ctx.meta.get(IMPLIED) or len(words) != 1:
        return
    from difflib import get_close_matches

    from dowse.interfaces.cli import output

    for command in get_close_matches(words[0], COMMANDS, n=1, cutoff=SIMILAR):
        output.remark(f"this was a search for '{words[0]}'; the command is 'dowse {command}'")
