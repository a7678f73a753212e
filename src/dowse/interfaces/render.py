"""Text rendering of search results: headers and code of hits, highlighted words, reasons of the score, a summary.

In a pipe, a hit is its place and all of its lines. On a terminal it has a number, by which ``dowse open`` knows it, and
the few lines that tell most, fitted to the width (``hit_lines.py``). Whatever comes from the tree goes through
``escape_text`` on its way.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from dowse.frozen import frozen
from dowse.interfaces.text_layout import format_count
from dowse.interfaces.theme import Paint, code_lines, escape_code, escape_text, plain
from dowse.types.answers import NO_GOOD_HITS_NOTE, Detail, SearchResponse, SearchResult, Stage
from dowse.types.queries import Query, RewriteTrace
from dowse.types.stored import NO_FILTER

STALE_MARK = "changed since it was indexed"

MAX_LINE_LENGTH = 500
"""Characters of a line that are shown: what is longer was not written by a person, and buries the rest."""

MIN_STEM_LENGTH = 4
"""Characters of a stem that is highlighted in place of a word of the query."""

WORD_ENDING = "(?-i:[A-Z]+|[a-z]*)"
"""What may follow a stem in the part of a name that it begins."""

MAX_ADVANTAGES = 3
MIN_ADVANTAGE = 0.01
"""Reasons that are named for a hit being above the next one, and how much one must count for that."""


@frozen
class View:
    """How an answer is to be shown: colours, working directory, amount of text, columns and lines of the terminal."""

    cwd: str
    paint: Paint = plain
    terminal: bool = False
    explain: bool = False
    whole: bool = True  # every line of a hit
    width: int = 0  # 0: lines are as long as they are
    height: int = 0


def search_text(response: SearchResponse, view: View) -> str:
    """Render the hits, best first, one below the other, with all of their lines."""
    pattern = query_pattern(response.query)
    blocks = [query_analysis_text(response, view)] if view.explain else []
    for hit, below in zip_longest(response.results, response.results[1:]):
        place = header(hit, root_of(hit, response), view)
        reasons = reason_lines(hit, below, view) if view.explain else ()
        code = all_lines(hit, pattern, view)
        blocks.append("\n".join([place, *reasons, *code, *neighbour_lines(hit, view)]))
    return "\n\n".join(blocks)


def detail_text(response: SearchResponse, detail: Detail, view: View) -> str:
    """Render the hits, best first, each with the given amount of detail."""
    from dowse.search.output.hit_view import render_hit

    blocks = [query_analysis_text(response, view)] if view.explain else []
    hits = make_printable(response, view)
    for hit, below in zip_longest(hits, hits[1:]):
        header, *code = render_hit(hit, detail, response.query.words)
        reasons = reason_lines(hit, below, view) if view.explain else ()
        blocks.append("\n".join([header, *reasons, *code, *neighbour_lines(hit, view)]))
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


def neighbour_lines(result: SearchResult, view: View) -> Iterator[str]:
    """List the neighbours of a hit in the code graph, if they were asked for."""
    for title, ids in (("uses", result.uses), ("used by", result.used_by), ("tests", result.tests)):
        if ids:
            yield view.paint(f"  {title}: ", "faint") + ", ".join(map(escape_text, ids))


def header(result: SearchResult, root: str, view: View) -> str:
    """Render the line above a hit: where it is, what it is called, how likely it is right."""
    paint = view.paint
    place = paint(escape_text(display_path(root, result.path, view.cwd)), "path")
    place += ":" + paint(f"{result.start_line}-{result.end_line}", "lines")
    if result.repository:
        place = f"[{escape_text(result.repository)}] {place}"
    entity = f"{paint(escape_text(result.entity), 'entity')} ({result.kind})".strip()
    stale = f" [{paint(STALE_MARK, 'warning')}]" if not result.fresh else ""
    return f"{place}: {entity} {format_strength(result, view)}{stale}"


def format_strength(result: SearchResult, view: View) -> str:
    """Format how likely a hit is right: in a word, and as a number where the score is explained."""
    return f"{result.strength} {result.relevance:.2f}" if view.explain else str(result.strength)


def all_lines(hit: SearchResult, pattern: re.Pattern[str] | None, view: View) -> Iterator[str]:
    """Render every line of a hit."""
    text = "\n".join(map(_cut_line, hit.text.split("\n"))) if hit.text else ""
    width = len(str(hit.end_line))
    for i, line in enumerate(code_lines(text, hit.language, view.paint, pattern) if text else ()):
        yield view.paint(f"  {hit.start_line + i:{width}}", "faint") + f"  {line}".rstrip(" ")


def query_pattern(query: Query) -> re.Pattern[str] | None:
    """Compile the words of a query into one pattern with one group, to highlight them in code."""
    words = {word for word in re.findall(r"\w+", query.text[:MAX_LINE_LENGTH]) if len(word) > 1}
    stems = frozenset(query.words)
    kept = {_shorten_to_stem(word, stems) for word in words - set(query.dropped)}
    if not kept:
        return None
    longest_first = sorted(kept, key=lambda word: (-len(word), word))
    parts = (re.escape(word) + (WORD_ENDING if word not in words else "") for word in longest_first)
    return re.compile(f"({'|'.join(parts)})", re.IGNORECASE)


def _shorten_to_stem(word: str, stems: Container[str]) -> str:
    """Shorten a word to its stem, which is in its other forms too; a short stem is in other words."""
    lengths = range(len(word), MIN_STEM_LENGTH - 1, -1)
    return next((word[:n] for n in lengths if word[:n].lower() in stems), word)


def _cut_line(line: str) -> str:
    rest = len(line) - MAX_LINE_LENGTH
    return line if rest <= 0 else f"{line[:MAX_LINE_LENGTH]} ... {rest} more characters"


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


def search_summary(
    response: SearchResponse, seconds: float, view: View, how_to_go_on: tuple[str, str]
) -> str:
    """Render the lines below the hits: how many, how fast, how to open one and to see more; and the notes."""
    opening, more = how_to_go_on
    found = format_count(len(response.results), "hit") if response.results else "nothing found"
    parts = [f"{found} in {seconds:.2f} s"]
    if response.results and view.terminal:
        parts.append(opening)
    if response.has_more:
        parts.append(f"more: {more}")
    lines = [" · ".join(parts)]
    if not any(channel.ran for channel in response.channels):
        lines.append("the query has no word to look for")
    if response.query.rewrite.added:
        lines.append(f"added to the query: {', '.join(added.term for added in response.query.rewrite.added)}")
    skipped = (response.notes[0],) if response.relaxed else (NO_GOOD_HITS_NOTE,)
    lines += [f"note: {note}" for note in response.notes if note not in skipped]
    return "\n".join(view.paint(escape_text(line), "faint") for line in lines)


def opening_remark(response: SearchResponse, view: View) -> str:
    """Render what must be known before the hits: that they are guesses, or not what was required; often nothing."""
    if response.relaxed:
        return view.paint(escape_text(response.notes[0]), "warning")
    if response.low_confidence:
        return view.paint("nothing fits well; these are guesses", "warning")
    return ""


def advice_text(response: SearchResponse, view: View) -> str:
    """Render what to try after an answer without a good hit."""
    if not response.low_confidence and response.results:
        return ""
    tries = ["words that the code would use, or a name"]
    if response.query.filter != NO_FILTER:
        tries.append("fewer filters")
    if response.low_confidence:
        tries.append("--all for every guess")
    return view.paint(f"try {'; '.join(tries)}", "faint")


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
