"""Text rendering of search results: headers and code of hits, highlighted words, reasons of the score, a summary.

The text for a terminal and the plain text for pipes are the same lines; a terminal gets colours, a header that says a
little more, and an excerpt of long hits. Whatever comes from the tree goes through ``escape_text`` on its way.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from dowse.frozen import frozen
from dowse.interfaces.text_layout import format_count
from dowse.interfaces.theme import Paint, code_lines, escape_code, escape_text, plain
from dowse.types.answers import Detail, SearchResponse, SearchResult, Stage
from dowse.types.queries import Query, RewriteTrace

EXCERPT_LINES = 12
"""Lines of a hit on a terminal: ten hits then fit on two screens."""

EXCERPT_HEAD_LINES = 2
"""Lines at the beginning of a hit that an excerpt always has: the signature."""

MAX_LINE_LENGTH = 500
"""Characters of a line that are shown: what is longer was not written by a person, and buries the rest."""

MAX_ADVANTAGES = 3
MIN_ADVANTAGE = 0.01
"""Reasons that are named for a hit being above the next one, and how much one must count for that."""


@frozen
class View:
    """How an answer is to be shown: colours, working directory, amount of text."""

    cwd: str
    paint: Paint = plain
    terminal: bool = False
    explain: bool = False
    whole: bool = True  # every line of a hit


def search_text(response: SearchResponse, view: View) -> str:
    """Render the hits, best first, one below the other."""
    pattern = query_pattern(response.query)
    blocks = [query_analysis_text(response, view)] if view.explain else []
    for hit, below in zip_longest(response.results, response.results[1:]):
        place = header(hit, root_of(hit, response), view)
        reasons = reason_lines(hit, below, view) if view.explain else ()
        code = _code_lines(hit, pattern, view)
        blocks.append("\n".join([place, *reasons, *code, *_neighbour_lines(hit, view)]))
    return "\n\n".join(blocks)


def detail_text(response: SearchResponse, detail: Detail, view: View) -> str:
    """Render the hits, best first, each with the given amount of detail."""
    from dowse.search.output.hit_view import render_hit

    blocks = [query_analysis_text(response, view)] if view.explain else []
    hits = make_printable(response, view)
    for hit, below in zip_longest(hits, hits[1:]):
        header, *code = render_hit(hit, detail, response.query.words)
        reasons = reason_lines(hit, below, view) if view.explain else ()
        blocks.append("\n".join([header, *reasons, *code, *_neighbour_lines(hit, view)]))
    is_dense = detail in (Detail.IDS, Detail.SIGNATURE) and not view.explain
    return ("\n" if is_dense else "\n\n").join(blocks)


def root_of(result: SearchResult, response: SearchResponse) -> str:
    """Return the folder that the path of a hit starts from."""
    roots = {report.name: report.root for report in response.repositories}
    return roots.get(result.repository, response.root)


def make_printable(response: SearchResponse, view: View) -> list[SearchResult]:
    """Return the hits with control characters made visible and paths as seen from the working directory.

    The repository of a hit, if there are several, becomes part of its path.
    """
    return [
        result._replace(
            path=escape_text(
                (f"[{result.repository}] " if result.repository else "")
                + display_path(root_of(result, response), result.path, view.cwd)
            ),
            repository="",
            entity=escape_text(result.entity),
            signature=escape_text(" ".join(result.signature.split())),
            text=escape_code(result.text),
        )
        for result in response.results
    ]


def _neighbour_lines(result: SearchResult, view: View) -> Iterator[str]:
    """List the neighbours of a hit in the code graph, if they were asked for."""
    for title, ids in (("uses", result.uses), ("used by", result.used_by), ("tests", result.tests)):
        if ids:
            yield view.paint(f"  {title}: ", "faint") + ", ".join(map(escape_text, ids))


def header(result: SearchResult, root: str, view: View) -> str:
    """Render the line above a hit: where it is, what it is called."""
    paint = view.paint
    place = paint(escape_text(display_path(root, result.path, view.cwd)), "path")
    place += ":" + paint(f"{result.start_line}-{result.end_line}", "lines")
    if result.repository:
        place = f"[{escape_text(result.repository)}] {place}"
    entity = f"{paint(escape_text(result.entity), 'entity')} ({result.kind})".strip()
    stale = paint("changed since it was indexed", "warning") if not result.fresh else ""
    if not view.terminal:
        return f"{place}: {entity} {result.relevance:.2f}" + (f" [{stale}]" if stale else "")
    fields = (place, entity, f"{result.relevance:.2f}", paint(result.match, "faint"), stale)
    return "  ".join(field for field in fields if field)


def _code_lines(result: SearchResult, pattern: re.Pattern[str] | None, view: View) -> Iterator[str]:
    lines = result.text.split("\n") if result.text else []
    shown = range(len(lines)) if view.whole else excerpt(lines, pattern, EXCERPT_LINES)
    text = "\n".join(
        line
        if (rest := len(line) - MAX_LINE_LENGTH) <= 0
        else f"{line[:MAX_LINE_LENGTH]} ... {rest} more characters"
        for line in lines[: shown[-1] + 1 if shown else 0]
    )
    painted = code_lines(text, result.language, view.paint, pattern)
    width = len(str(result.end_line))
    expected = 0
    for i in shown:
        if i > expected:
            yield view.paint(f"  {'':{width}}  ...", "faint")
        yield view.paint(f"  {result.start_line + i:{width}}", "faint") + f"  {painted[i]}".rstrip(" ")
        expected = i + 1
    if expected < len(lines):
        yield view.paint(f"  {'':{width}}  ... {format_count(len(lines) - expected, 'more line')}", "faint")


def excerpt(lines: Sequence[str], pattern: re.Pattern[str] | None, limit: int) -> list[int]:
    """Choose which lines to show of too many: the first, those with words of the query, then from the top."""
    if len(lines) <= limit:
        return list(range(len(lines)))
    matching = [i for i, line in enumerate(lines) if pattern and pattern.search(line)]
    order = dict.fromkeys([*range(EXCERPT_HEAD_LINES), *matching, *range(len(lines))])
    return sorted(list(order)[:limit])


def query_pattern(query: Query) -> re.Pattern[str] | None:
    """Compile the words of a query into one pattern with one group, to highlight them in code."""
    words = {word for word in re.findall(r"\w+", query.text[:MAX_LINE_LENGTH]) if len(word) > 1}
    kept = words - set(query.dropped)
    if not kept:
        return None
    longest_first = sorted(kept, key=lambda word: (-len(word), word))
    return re.compile(f"({'|'.join(map(re.escape, longest_first))})", re.IGNORECASE)


def query_analysis_text(response: SearchResponse, view: View) -> str:
    """Render how the query was parsed, and what each channel found."""
    query = response.query
    terms = ", ".join(f"{escape_text(term.text)} ({term.weight:g})" for term in query.terms)
    rows = (
        ("type", query.type),
        ("terms", terms),
        ("names", ", ".join(map(escape_text, query.names))),
        ("files", ", ".join(map(escape_text, query.files))),
        ("versions", ", ".join(map(str, query.versions))),
        ("message", escape_text(query.message)),
        (
            "views",
            ", ".join(
                f"{part.name} ({format_count(len(part.text.split()), 'word')})" for part in query.views
            ),
        ),
        ("dropped", ", ".join(map(escape_text, query.dropped))),
    )
    found = [(name, value or "-") for name, value in (*rewrite_rows(query.rewrite), *rows)]
    for channel in response.channels:
        outcome = f"{format_count(channel.hits, 'hit')} in {channel.milliseconds:.1f} ms"
        found.append(
            ("channel", f"{channel.name}: {outcome if channel.ran else 'skipped: ' + channel.why_not}")
        )
    found.append(("time", stage_times(response.stages)))
    return "\n".join(f"{view.paint(f'{name:<9}', 'faint')}{value}" for name, value in found)


def stage_times(stages: Iterable[Stage]) -> str:
    """Render the time that each stage took, on one line."""
    return ", ".join(f"{stage.name} {stage.milliseconds:.1f} ms" for stage in stages)


def rewrite_rows(trace: RewriteTrace) -> Iterator[tuple[str, str]]:
    """List how the words of a query were rewritten and enriched; nothing if they were not."""
    if trace.rewriter:
        yield "reworded", escape_text((trace.why_not and f"not: {trace.why_not}") or trace.rewritten)
    if trace.added:
        yield "enriched", escape_text(trace.enriched)
        yield (
            "added",
            ", ".join(escape_text(f"{a.term} ({a.matched} -> {a.canonical})") for a in trace.added),
        )


def reason_lines(result: SearchResult, below: SearchResult | None, view: View) -> Iterator[str]:
    """List what the score of a hit is made of, and what puts it above the next one."""
    for reason in result.reasons:
        detail = view.paint(escape_text(reason.detail), "faint")
        yield f"    {reason.value:+8.3f} {reason.name:<13} {detail}".rstrip()
    yield f"    {result.score:+8.3f} {'score':<13} relevance {result.relevance:.2f}"
    if below and (ahead := _list_advantages(result, below)):
        yield f"    above the next one by {', '.join(ahead)}"


def _list_advantages(result: SearchResult, below: SearchResult) -> list[str]:
    """List the reasons that count for more here than for the hit below, the largest first."""
    gains = {reason.name: reason.value for reason in result.reasons}
    for reason in below.reasons:
        gains[reason.name] = gains.get(reason.name, 0.0) - reason.value
    ahead = sorted(((value, name) for name, value in gains.items() if value >= MIN_ADVANTAGE), reverse=True)
    return [f"{name} {value:+.2f}" for value, name in ahead[:MAX_ADVANTAGES]]


def reasons_label(result: SearchResult) -> str:
    """Render what the score of a hit is made of in brackets, for a place behind its name."""
    made = " ".join(f"{reason.name} {reason.value:+.2f}" for reason in result.reasons)
    return f" [{made} = {result.score:.2f}]"


def search_summary(response: SearchResponse, view: View) -> str:
    """Render the lines below the hits: how many, how fast, from which channels, and the notes."""
    ran = ", ".join(channel.name for channel in response.channels if channel.ran)
    idle = [f"{channel.name} ({channel.why_not})" for channel in response.channels if not channel.ran]
    found = format_count(len(response.results), "hit") if response.results else "nothing found"
    cached = " from the cache" if response.cached else ""
    lines = [f"{found} in {response.milliseconds:.1f} ms{cached}; searched: {ran or 'nothing'}"]
    if idle:
        lines[0] += f"; skipped: {', '.join(idle)}"
    if not ran:
        lines.append("the query has no word to look for")
    if response.query.rewrite.added:
        lines.append(f"added to the query: {', '.join(added.term for added in response.query.rewrite.added)}")
    lines += [f"note: {note}" for note in response.notes]
    if response.low_confidence:
        lines.append("--all shows the others too")
    return "\n".join(view.paint(escape_text(line), "faint") for line in lines)


def display_path(root: str, path: str, cwd: str) -> str:
    """Return a path that can be opened from the working directory: relative if tree and directory overlap."""
    full = str(Path(root) / path)
    if _is_inside(cwd, root) or _is_inside(root, cwd):
        return os.path.relpath(full, cwd)
    return full


def _is_inside(folder: str, other: str) -> bool:
    try:
        return os.path.commonpath([folder, other]) == other
    except ValueError:  # on different drives
        return False


def hit_files(response: SearchResponse, view: View) -> list[str]:
    """List the files of the hits, each once, best first."""
    paths = dict.fromkeys((root_of(result, response), result.path) for result in response.results)
    return [escape_text(display_path(root, path, view.cwd)) for root, path in paths]
