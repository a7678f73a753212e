"""``dowse search``: the search command: query, filters, output formats and token budget."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.errors import UsageError
from dowse.gc_pause import gc_paused
from dowse.interfaces import json_values, render
from dowse.interfaces.answer_packing import pack_response
from dowse.interfaces.cli import COMMANDS, IMPLIED_KEY, find_command, options, output
from dowse.interfaces.cli.elapsed import measure_elapsed
from dowse.interfaces.progress import progress_line
from dowse.interfaces.text_layout import format_count
from dowse.roots import resolve_root
from dowse.types.answers import Detail, SearchOptions, SearchResponse

if TYPE_CHECKING:
    from dowse.engine import Engine
    from dowse.multi_repo import Repositories

NOTHING_FOUND = 1

MAX_STDIN_BYTES = 1_000_000
"""Bytes of a query that are read from standard input; far less of it is used."""

_LINE_COUNT = click.IntRange(min=0)


_SEARCH_OPTIONS = (
    click.option(
        "--repo",
        "repos",
        multiple=True,
        metavar="NAME|DIR",
        help="Search this repository, named in the settings or by its folder (repeatable: one ranking of all).",
    ),
    options.filters,
    options.ranking,
    options.profile,
    click.option(
        "--term-graph",
        metavar="FILE|off",
        help="Add the synonyms of this term graph, or of none (default: the one in the settings).",
    ),
    click.option("-A", "--after", type=_LINE_COUNT, metavar="N", help="Lines to show after a hit."),
    click.option("-B", "--before", type=_LINE_COUNT, metavar="N", help="Lines to show before a hit."),
    click.option(
        "-C", "--context", type=_LINE_COUNT, metavar="N", help="Lines to show before and after a hit."
    ),
    click.option(
        "--budget",
        type=click.IntRange(min=1),
        metavar="TOKENS",
        help="Show the best mix of hits that fits so many tokens.",
    ),
    click.option(
        "--detail",
        type=click.Choice(["ids", "signature", "preview", "full"]),
        help="How much to show of each hit (default: its lines).",
    ),
    click.option(
        "--with",
        "attached",
        multiple=True,
        type=click.Choice(["deps"]),
        help="deps: list for each hit what it uses, what uses it, and its tests.",
    ),
    click.option("--full", is_flag=True, help="On a terminal, show every line of a hit."),
    click.option(
        "--offset",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Skip the first N hits: the next page of an answer.",
    ),
    click.option(
        "-o",
        "--open",
        "opened",
        type=click.IntRange(min=1),
        metavar="N",
        help="Open hit N in the editor ($VISUAL or $EDITOR).",
    ),
    click.option(
        "--explain", is_flag=True, help="Show how the query was read and what each score is made of."
    ),
    click.option(
        "--no-cache",
        "cache",
        is_flag=True,
        flag_value="off",
        default=None,
        help="Do not reuse earlier answers.",
    ),
    click.option("--web", is_flag=True, help="Show the answer on the web page (see 'dowse serve --help')."),
    click.option("--files", "files_only", is_flag=True, help="Print only the paths of the files, each once."),
    options.tree,
    options.as_json,
    options.color,
    options.pager,
    options.no_server,
    options.debug,
)


def search_options(command: options.F) -> options.F:
    """Add all options of a search, of whatever its query comes from."""
    for option in reversed(_SEARCH_OPTIONS):
        command = option(command)
    return command


@click.command(cls=options.QueryCommand)
@click.argument("words", nargs=-1, metavar="QUERY...")
@search_options
@click.pass_context
@gc_paused()
def search(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    root: str | None,
    web: bool,
    pasted: bool = False,
    **flags: Any,
) -> int:
    """Find the places that answer a query.

    QUERY is a query in words, a name (Engine.search, Auth*), a file name, or a mix of them; "-" reads it
    from standard input. The index is made on first use and kept up to date.

    Patterns for --path match the path from the root: "src/**/*.py", "tests" for anything below a folder of
    that name; one that begins with "./" or "../" is relative to the working directory.
    """
    refuse_contradictions(flags)
    query = " ".join(words)
    if words == ("-",) and not pasted:
        query = read_stdin()
    if web:
        return _show_on_page(ctx, root, query, flags)
    repos = flags["repos"] or (() if pasted else _list_repositories(query, root))
    target = _open(root, repos, pick_settings(flags))
    with target, progress_line() as progress:
        response = search_engine(target, query, flags, progress, pasted=pasted)
    if flags["opened"]:
        return _open_hit(response, flags["opened"] - flags["offset"])
    show_response(response, **flags)
    if ctx.meta.get(IMPLIED_KEY) and len(words) == 1 and (suggestion := suggest(words[0])):
        output.remark(suggestion)
    if sys.stdout.isatty() and not flags["as_json"]:
        _note_answer(root, response, flags["offset"] + 1)
        _mention_page(root, query, flags)
    return find_exit_code(response)


def pick_settings(flags: dict[str, Any]) -> dict[str, Any]:
    """Pick the settings that the flags of a search give."""
    given = options.pick_given(flags, *options.RANKING_SETTINGS, "profile", "cache")
    if not flags["repos"]:
        given["cache"] = "off"  # which ends with this one answer
    if flags["term_graph"]:
        given["term_graph"] = _choose_term_graph(flags["term_graph"])
    return given


def search_engine(
    target: Engine | Repositories,
    query: str,
    flags: dict[str, Any],
    progress: Callable[[str, int, int], None] | None = None,
    *,
    pasted: bool = False,
) -> SearchResponse:
    """Search as the flags say; only the hits of the page that they ask for are returned."""
    engine = next(iter(getattr(target, "engines", {"": target}).values()))
    response = target.search(query, _build_options(engine, flags, pasted), progress=progress)
    if flags["offset"]:
        response = replace(response, results=response.results[flags["offset"] :])
    return response


def find_exit_code(response: SearchResponse) -> int:
    """Return the exit code of an answer."""
    is_found = response.results and not (response.low_confidence or response.relaxed)
    return 0 if is_found else NOTHING_FOUND


def read_stdin() -> str:
    """Read what another program prints."""
    return sys.stdin.buffer.read(MAX_STDIN_BYTES).decode("utf-8", "replace")


def _open_hit(response: SearchResponse, number: int) -> int:
    """Open a hit in the editor."""
    from dowse.interfaces.cli.open_hit import open_in_editor

    places = list_places(response)
    if not 1 <= number <= len(places):
        raise UsageError(f"there is no such hit: the answer has {format_count(len(places), 'hit')}")
    return open_in_editor(*places[number - 1])


def _note_answer(root: str | None, response: SearchResponse, first: int) -> None:
    """Note which hits the terminal shows, for ``dowse open``."""
    from dowse.interfaces.last_answer import save_hits

    save_hits(resolve_root(root, allow_home=True), list_places(response), first)


def list_places(response: SearchResponse) -> list[tuple[str, int]]:
    """List the files of the hits, with their whole paths, and the lines that they begin in."""
    return [
        (os.path.join(render.root_of(hit, response), hit.path), hit.start_line) for hit in response.results
    ]


def _choose_term_graph(given: str) -> str:
    """Return the setting for a file, relative to the working directory, or for none."""
    return "" if given == "off" else str(Path(given).expanduser().absolute())


def _list_repositories(query: str, root: str | None) -> tuple[str, ...]:
    """List the repositories that a query names, unless the one here is one of them."""
    if "repo:" not in query:
        return ()
    from dowse.search.query.parse import parse_query
    from dowse.search.query.scope import matches_any

    named = parse_query(query).repositories
    return () if matches_any(resolve_root(root).name, named) else named


def _open(root: str | None, repos: tuple[str, ...], settings: dict[str, Any]) -> Engine | Repositories:
    """Open what is searched: one tree, or several repositories."""
    if not repos:
        return options.open_engine(root, **settings)
    from dowse.multi_repo import Repositories

    return Repositories.open(repos, root, **settings)


def _show_on_page(ctx: click.Context, root: str | None, query: str, flags: dict[str, Any]) -> int:
    """Open the page at a query: that of a server that runs, or of one that is started for it."""
    from dowse.interfaces.cli.serve import find_page, open_browser, serve

    page = find_page(root, query, allow_home=flags["allow_home"])
    if page:
        open_browser(page)
        return 0
    given = {name: flags[name] for name in ("index_dir", "store", "embedder", "allow_home", "repos")}
    exit_code: int = ctx.invoke(serve, root=root, query=query, port=0, **given)
    return exit_code


def _mention_page(root: str | None, query: str, flags: dict[str, Any]) -> None:
    """Say where the answer is on the page, if a server runs."""
    from dowse.interfaces.cli.serve import find_page

    if page := find_page(root, query, allow_home=flags["allow_home"], sign_in=False):
        output.remark(f"in the browser: {page}")


def refuse_contradictions(flags: dict[str, Any]) -> None:
    """Refuse flags of which one would silently override the other."""
    if flags["as_json"]:
        return
    for only, leaves_out in (
        ("files_only", ("explain", "detail", "budget", "attached")),
        ("budget", ("attached",)),
    ):
        for other in leaves_out if flags[only] else ():
            if flags[other]:
                names = {"files_only": "--files", "attached": "--with"}
                one, two = (names.get(name, f"--{name}") for name in (only, other))
                raise UsageError(
                    f"{one} has no room for what {two} shows: leave one of them out, or add --json"
                )


def _build_options(engine: Engine, flags: dict[str, Any], pasted: bool) -> SearchOptions:
    before, after = (
        flags[side] if flags[side] is not None else flags["context"] for side in ("before", "after")
    )
    offset = flags["offset"]
    return SearchOptions(
        limit=offset + engine.settings.limit if offset else None,
        filter=options.build_filter(engine, flags),
        before=before,
        after=after,
        text=not flags["files_only"],
        near=options.find_near(engine, flags),
        neighbours="deps" in flags["attached"],
        pasted=pasted,
    )


def show_response(
    response: SearchResponse,
    *,
    as_json: bool,
    color: str,
    pager: str = "auto",
    explain: bool = False,
    **flags: Any,
) -> None:
    """Print an answer in the format that the flags ask for."""
    flags |= {"as_json": as_json, "explain": explain}
    whole = flags.get("full") or any(flags.get(n) is not None for n in ("after", "before", "context"))
    view = output.make_view(color, explain=explain, whole=bool(whole))
    pieces = list(compose(response, view, measure_elapsed(), flags))
    if view.terminal and not (flags.get("files_only") or as_json):
        output.write_paged("\n\n".join(text for text, _ in pieces), pager, view)
        return
    for text, is_remark in pieces:
        (output.remark if is_remark else output.write)(text)


def compose(
    response: SearchResponse, view: render.View, seconds: float, flags: dict[str, Any]
) -> Iterator[tuple[str, bool]]:
    """Compose an answer: its texts, and whether each is a remark, which does not go to standard output."""
    budget, detail = flags.get("budget"), flags.get("detail")
    if flags["as_json"]:
        packed = pack_response(response, response.results, budget, detail) if budget else None
        yield output.format_json(json_values.search_values(response, packed), indent=view.terminal), False
        return
    if before := render.opening_remark(response, view):
        yield before, True
    if text := _render_hits(response, view, flags):
        yield text, False
    going_on = ("dowse open N opens one", f"--offset {flags.get('offset', 0) + len(response.results)}")
    summary = render.search_summary(response, seconds, view, going_on)
    if budget and view.explain:  # the budget is for the hits alone
        summary = f"{render.query_analysis_text(response, view)}\n{summary}"
    if after := "\n".join(filter(None, (render.advice_text(response, view), summary))):
        yield after, True


def _render_hits(response: SearchResponse, view: render.View, flags: dict[str, Any]) -> str:
    """Render the hits in the form that the flags ask for."""
    budget, detail = flags.get("budget"), flags.get("detail")
    if budget:
        label = render.reasons_label if view.explain else None
        hits = render.make_printable(response, view)
        return pack_response(response, hits, budget, detail, label).text
    if detail:
        return render.detail_text(response, Detail(detail), view)
    if flags.get("files_only"):
        return "\n".join(render.hit_files(response, view))
    if not view.terminal:
        return render.search_text(response, view)
    from dowse.interfaces.terminal_hits import terminal_text

    return terminal_text(response, view, flags.get("offset", 0) + 1)


def suggest(word: str) -> str:
    """Suggest the command that a word looks like; empty if there is none."""
    command = find_command(word, COMMANDS)
    return f"this was a search for '{word}'; the command is 'dowse {command}'" if command else ""
