"""The one renderer: what the engine returns, as text for people and as values for JSON.

The text for a terminal and the plain text for pipes are the same lines; a terminal gets colours, a header
that says a little more, and an excerpt of long hits. Whatever comes from the tree goes through ``visible``
on its way, except into JSON.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dowse.interfaces.theme import Paint, code_lines, plain, visible, visible_code
from dowse.types import (
    ChannelReport,
    ChannelStanding,
    Detail,
    Explanation,
    IndexReport,
    IndexState,
    IndexStatus,
    LanguageVersion,
    MaskedSecret,
    Packed,
    Query,
    Reason,
    RewriteTrace,
    Rival,
    SearchResponse,
    SearchResult,
    ServerStatus,
    Stage,
    Verdict,
    ViewStatus,
)

SCHEMA = 1
"""Version of every JSON object: raised when a field goes or changes its meaning, not when one is added."""

EXCERPT_LINES = 12
"""Lines of a hit on a terminal: ten hits then fit on two screens."""

EXCERPT_HEAD = 2
"""Lines at the beginning of a hit that an excerpt always has: the signature."""

LINE_LENGTH = 500
"""Characters of a line that are shown: what is longer was not written by a person, and buries the rest."""

LISTED = 10
"""Examples given where there can be thousands: masked secrets, failures, languages."""


@dataclass(frozen=True, slots=True)
class View:
    """How an answer is to be shown."""

    cwd: str
    paint: Paint = plain
    terminal: bool = False
    explain: bool = False
    whole: bool = True  # every line of a hit


# --- values for JSON -----------------------------------------------------------------------------


def search_values(response: SearchResponse, packed: Packed | None = None) -> dict[str, Any]:
    """A search's answer; see docs/search.schema.json. Where there is a budget, all text is in what was packed."""
    results = (
        response.results if packed is None else [result._replace(text="") for result in response.results]
    )
    return {
        "schema": SCHEMA,
        "query": _query_values(response.query),
        "root": response.root,
        "generation": response.generation,
        "milliseconds": round(response.milliseconds, 3),
        "stages": _stage_values(response.stages),
        "cached": response.cached,
        "weak": response.weak,
        "channels": [_channel_values(channel) for channel in response.channels],
        "results": [_result_values(result) for result in results],
        "notes": list(response.notes),
        "repositories": [asdict(report) for report in response.repositories],
        "wording": wording_values(response.query.rewrite),
        **({"packed": packed_values(packed)} if packed else {}),
    }


def _query_values(query: Query) -> dict[str, Any]:
    terms = [term._asdict() for term in query.terms]
    frames, versions = ([one._asdict() for one in some] for some in (query.frames, query.versions))
    texts = {"text": query.text, "reading": query.reading}
    lists = {name: list(getattr(query, name)) for name in ("names", "files", "words", "dropped")}
    return texts | {"terms": terms, "frames": frames, "versions": versions} | lists


def _stage_values(stages: Iterable[Stage]) -> list[dict[str, Any]]:
    return [{"name": stage.name, "milliseconds": round(stage.milliseconds, 3)} for stage in stages]


def explanation_values(told: Explanation) -> dict[str, Any]:
    """What became of one place; see docs/explain.schema.json."""
    return (
        {"schema": SCHEMA}
        | asdict(told)
        | {
            "query": _query_values(told.query),
            "result": _result_values(told.result) if told.result else None,
            "terms": [term._asdict() for term in told.terms],
            "above": [
                asdict(rival) | {"reasons": [reason._asdict() for reason in rival.reasons]}
                for rival in told.above
            ],
            "stages": _stage_values(told.stages),
        }
    )


def wording_values(wording: RewriteTrace) -> dict[str, Any]:
    """What became of a question's words: the audit of rewriting and enriching."""
    return wording._asdict() | {"added": [added._asdict() for added in wording.added]}


def _result_values(result: SearchResult) -> dict[str, Any]:
    return result._asdict() | {"reasons": [reason._asdict() for reason in result.reasons]}


def packed_values(packed: Packed) -> dict[str, Any]:
    """An answer cut to a budget, and what was left out."""
    return {
        "text": packed.text,
        "tokens": packed.tokens,
        "budget": packed.budget,
        "omitted": list(packed.omitted),
        "cut": list(packed.cut),
    }


def _channel_values(channel: ChannelReport) -> dict[str, Any]:
    return asdict(channel) | {"milliseconds": round(channel.milliseconds, 3)}


def report_values(report: IndexReport, status: IndexStatus, root: str) -> dict[str, Any]:
    """What an indexing run did, and the index it left."""
    return {"schema": SCHEMA, "root": root, "report": _report_values(report), "index": _index_values(status)}


def status_values(status: IndexStatus, root: str, pending: int | None) -> dict[str, Any]:
    """An index at a glance."""
    report = _report_values(status.report) if status.report else None
    return {
        "schema": SCHEMA,
        "root": root,
        "index": _index_values(status),
        "pending": pending,
        "report": report,
    }


def _report_values(report: IndexReport) -> dict[str, Any]:
    failures = [failure._asdict() for failure in report.failures]
    return asdict(report) | {"failures": failures, "seconds": round(report.seconds, 3)}


def _index_values(status: IndexStatus) -> dict[str, Any]:
    values = asdict(status) | {"secrets": [secret._asdict() for secret in status.secrets]}
    del values["report"]
    return values


# --- a search's answer ---------------------------------------------------------------------------


def search_text(response: SearchResponse, view: View) -> str:
    """The hits, best first, one below the other."""
    channels = channel_names(response)
    wanted = asked_for(response.query)
    blocks = [
        "\n".join(_hit(result, root_of(result, response), channels, wanted, view))
        for result in response.results
    ]
    if view.explain:
        blocks.insert(0, reading_text(response, view))
    return "\n\n".join(blocks)


def detail_text(response: SearchResponse, detail: Detail, view: View) -> str:
    """The hits, best first, with so much of each."""
    from dowse.search.output.hit_view import shown

    channels = channel_names(response)
    blocks = []
    for hit in as_shown(response, view):
        header, *code = shown(hit, detail, response.query.words)
        reasons = _reasons(hit, channels, view) if view.explain else ()
        blocks.append("\n".join([header, *reasons, *code, *_neighbours(hit, view)]))
    is_dense = detail in (Detail.IDS, Detail.SIGNATURE) and not view.explain
    if view.explain:
        blocks.insert(0, reading_text(response, view))
    return ("\n" if is_dense else "\n\n").join(blocks)


def channel_names(response: SearchResponse) -> frozenset[str]:
    """The channels of an answer: what they give to a score is added."""
    return frozenset(channel.name for channel in response.channels)


def root_of(result: SearchResult, response: SearchResponse) -> str:
    """The folder that a hit's path begins at."""
    roots = {report.name: report.root for report in response.repositories}
    return roots.get(result.repository, response.root)


def as_shown(response: SearchResponse, view: View) -> list[SearchResult]:
    """The hits with everything in them as text shows it: for what makes text of them elsewhere."""
    return [
        result._replace(
            path=visible(_file(result, root_of(result, response), view)),
            repository="",
            entity=visible(result.entity),
            signature=visible(" ".join(result.signature.split())),
            text=visible_code(result.text),
        )
        for result in response.results
    ]


def _file(result: SearchResult, root: str, view: View) -> str:
    """Where the file of a hit is, seen from the working directory, and of which repository."""
    path = shown_path(root, result.path, view.cwd)
    return f"[{result.repository}] {path}" if result.repository else path


def _hit(
    result: SearchResult, root: str, channels: frozenset[str], wanted: re.Pattern[str] | None, view: View
) -> Iterator[str]:
    yield header(result, root, view)
    if view.explain:
        yield from _reasons(result, channels, view)
    yield from _code(result, wanted, view)
    yield from _neighbours(result, view)


def _neighbours(result: SearchResult, view: View) -> Iterator[str]:
    """What is around a hit in the code graph, if that was asked for."""
    for title, ids in (("uses", result.uses), ("used by", result.used_by), ("tests", result.tests)):
        if ids:
            yield view.paint(f"  {title}: ", "faint") + ", ".join(map(visible, ids))


def header(result: SearchResult, root: str, view: View) -> str:
    """The line above a hit: where it is, what it is called."""
    paint = view.paint
    place = paint(visible(shown_path(root, result.path, view.cwd)), "path")
    place += ":" + paint(f"{result.start_line}-{result.end_line}", "lines")
    if result.repository:
        place = f"[{visible(result.repository)}] {place}"
    entity = f"{paint(visible(result.entity), 'entity')} ({result.kind})".strip()
    stale = paint("changed since it was indexed", "warning") if not result.fresh else ""
    if not view.terminal:
        return f"{place}: {entity} {result.relevance:.2f}" + (f" [{stale}]" if stale else "")
    fields = (place, entity, f"{result.relevance:.2f}", paint(result.match, "faint"), stale)
    return "  ".join(field for field in fields if field)


def _code(result: SearchResult, wanted: re.Pattern[str] | None, view: View) -> Iterator[str]:
    lines = result.text.split("\n") if result.text else []
    kept = range(len(lines)) if view.whole else excerpt(lines, wanted, EXCERPT_LINES)
    text = "\n".join(_cut(line) for line in lines[: kept[-1] + 1 if kept else 0])
    painted = code_lines(text, result.language, view.paint, wanted)
    width = len(str(result.end_line))
    expected = 0
    for i in kept:
        if i > expected:
            yield view.paint(f"  {'':{width}}  ...", "faint")
        yield view.paint(f"  {result.start_line + i:{width}}", "faint") + f"  {painted[i]}".rstrip(" ")
        expected = i + 1
    if expected < len(lines):
        yield view.paint(f"  {'':{width}}  ... {count(len(lines) - expected, 'more line')}", "faint")


def excerpt(lines: Sequence[str], wanted: re.Pattern[str] | None, limit: int) -> list[int]:
    """Which lines to show of too many: the first, those with what was asked for, then from the top."""
    if len(lines) <= limit:
        return list(range(len(lines)))
    asked = [i for i, line in enumerate(lines) if wanted and wanted.search(line)]
    order = dict.fromkeys([*range(EXCERPT_HEAD), *asked, *range(len(lines))])
    return sorted(list(order)[:limit])


def asked_for(query: Query) -> re.Pattern[str] | None:
    """The words of a question as one pattern with one group, to point at them in code."""
    words = {word for word in re.findall(r"\w+", query.text[:LINE_LENGTH]) if len(word) > 1}
    kept = words - set(query.dropped)
    if not kept:
        return None
    longest_first = sorted(kept, key=lambda word: (-len(word), word))
    return re.compile(f"({'|'.join(map(re.escape, longest_first))})", re.IGNORECASE)


def _cut(line: str) -> str:
    rest = len(line) - LINE_LENGTH
    return line if rest <= 0 else f"{line[:LINE_LENGTH]} ... {rest} more characters"


def reading_text(response: SearchResponse, view: View) -> str:
    """How the question was read, and what each channel brought."""
    return "\n".join(_reading(response, view))


def _version(version: LanguageVersion) -> str:
    return f"{version.word} {version.major}" + ("" if version.minor is None else f".{version.minor}")


def _reading(response: SearchResponse, view: View) -> Iterator[str]:
    query = response.query
    terms = ", ".join(f"{visible(term.text)} ({term.weight:g})" for term in query.terms)
    rows = (
        ("read as", query.reading),
        ("terms", terms),
        ("names", ", ".join(map(visible, query.names))),
        ("files", ", ".join(map(visible, query.files))),
        ("versions", ", ".join(map(_version, query.versions))),
        ("dropped", ", ".join(map(visible, query.dropped))),
    )
    for name, value in (*wording_rows(response.query.rewrite), *rows):
        yield f"{view.paint(f'{name:<9}', 'faint')}{value or '-'}"
    for channel in response.channels:
        said = f"{count(channel.hits, 'hit')} in {channel.milliseconds:.1f} ms" if channel.ran else ""
        yield f"{view.paint('channel  ', 'faint')}{channel.name}: {said or 'not asked: ' + channel.why_not}"
    yield f"{view.paint('time     ', 'faint')}{_times(response.stages)}"


def _times(stages: Iterable[Stage]) -> str:
    return ", ".join(f"{stage.name} {stage.milliseconds:.1f} ms" for stage in stages)


def wording_rows(wording: RewriteTrace) -> Iterator[tuple[str, str]]:
    """What was done to the words of a question; nothing if nothing was."""
    if wording.rewriter:
        yield "reworded", visible((wording.why_not and f"not: {wording.why_not}") or wording.rewritten)
    if wording.added:
        yield "enriched", visible(wording.enriched)
        yield "added", ", ".join(visible(f"{a.term} ({a.matched} -> {a.canonical})") for a in wording.added)


def _reasons(result: SearchResult, channels: frozenset[str], view: View) -> Iterator[str]:
    """What the score is made of."""
    for sign, reason in _signed(result, channels):
        yield _reason(sign, reason, view)
    yield f"    = {'score':<15} {result.score:.5f}  relevance {result.relevance:.2f}"


def reasons_label(result: SearchResult, channels: frozenset[str]) -> str:
    """The same in brackets behind a name, where room is scarce."""
    made = " ".join(f"{sign} {reason.name} {reason.value:.2f}" for sign, reason in _signed(result, channels))
    return f" [{made.removeprefix('+ ')} = {result.score:.2f}]"


def _signed(result: SearchResult, channels: frozenset[str]) -> Iterator[tuple[str, Reason]]:
    """Channels add, signals multiply; what brought the hit in adds in any case."""
    for position, reason in enumerate(result.reasons):
        yield ("+" if position == 0 or reason.name in channels else "x"), reason


def _reason(sign: str, reason: Reason, view: View) -> str:
    detail = view.paint(visible(reason.detail), "faint")
    return f"    {sign} {reason.name:<15} {reason.value:.5f}  {detail}".rstrip()


def search_summary(response: SearchResponse, view: View) -> str:
    """Below the hits: how many, how fast, from which channels, and what stood in the way."""
    ran = ", ".join(channel.name for channel in response.channels if channel.ran)
    idle = [f"{channel.name} ({channel.why_not})" for channel in response.channels if not channel.ran]
    found = count(len(response.results), "hit") if response.results else "nothing found"
    known = " from the cache" if response.cached else ""
    lines = [f"{found} in {response.milliseconds:.1f} ms{known}; asked: {ran or 'nothing'}"]
    if idle:
        lines[0] += f"; not asked: {', '.join(idle)}"
    if not ran:
        lines.append("the question has no word to look for")
    if response.query.rewrite.added:
        lines.append(
            f"added to the question: {', '.join(added.term for added in response.query.rewrite.added)}"
        )
    lines += [f"note: {note}" for note in response.notes]
    if response.weak:
        lines.append("--weak shows the others too")
    return "\n".join(view.paint(visible(line), "faint") for line in lines)


def shown_path(root: str, path: str, cwd: str) -> str:
    """A path that can be opened from the working directory: relative if tree and directory overlap."""
    full = str(Path(root) / path)
    if _is_inside(cwd, root) or _is_inside(root, cwd):
        return os.path.relpath(full, cwd)
    return full


def _is_inside(folder: str, other: str) -> bool:
    try:
        return os.path.commonpath([folder, other]) == other
    except ValueError:  # on different drives
        return False


def found_files(response: SearchResponse, view: View) -> list[str]:
    """The files of the hits, each once, best first."""
    paths = dict.fromkeys((root_of(result, response), result.path) for result in response.results)
    return [visible(shown_path(root, path, view.cwd)) for root, path in paths]


# --- one place -----------------------------------------------------------------------------------


def explanation_text(told: Explanation, view: View) -> str:
    """What became of one place, and why."""
    place = shown_path(told.root, told.path, view.cwd) + (f":{told.line}" if told.line else "")
    lines = [f"{view.paint(visible(place), 'path')}: {visible(_verdict(told))}"]
    if told.result:
        channels = frozenset(standing.name for standing in told.channels)
        lines += [header(told.result, told.root, view), *_reasons(told.result, channels, view)]
    lines += _term_lines(told, view)
    lines += [f"{view.paint('channel  ', 'faint')}{_standing(standing)}" for standing in told.channels]
    lines += [line for rival in told.above for line in _rival(rival, told, view)]
    lines.append(f"{view.paint('time     ', 'faint')}{_times(told.stages)}")
    return "\n".join(lines)


def _verdict(told: Explanation) -> str:
    if told.verdict is Verdict.SHOWN:
        return f"in the answer, {_nth(told.rank)} of {told.candidates} candidates"
    if told.verdict is Verdict.TOO_WEAK:
        return f"not in the answer: too weak to be shown, ranked {_nth(told.rank)}"
    if told.verdict is Verdict.RANKED:
        return f"not in the answer: ranked {_nth(told.rank)} of {told.candidates} candidates"
    if told.verdict is Verdict.NOT_CONSIDERED:
        found = any(standing.rank for standing in told.channels)
        why = "no channel ranks it among its best" if found else "no channel finds it"
        return f"not in the answer: {told.detail or why}"
    return f"not in the answer: {told.verdict}: {told.detail}"


def _term_lines(told: Explanation, view: View) -> Iterator[str]:
    has = ", ".join(f"{visible(term.text)} ({' '.join(term.fields)})" for term in told.terms if term.fields)
    lacks = ", ".join(
        f"{visible(term.text)} (in {count(term.chunks, 'chunk')})" for term in told.terms if not term.fields
    )
    if told.terms:
        yield f"{view.paint('has      ', 'faint')}{has or '-'}"
        yield f"{view.paint('lacks    ', 'faint')}{lacks or '-'}"


def _standing(standing: ChannelStanding) -> str:
    if standing.why_not:
        return f"{standing.name}: not asked: {standing.why_not}"
    if not standing.rank:
        return f"{standing.name}: not found among {count(standing.considered, 'hit')}"
    where = f"{standing.name}: {_nth(standing.rank)}, score {standing.score:.3f} (the first has {standing.best:.3f}"
    if standing.rank > standing.considered:
        where += f", the last of {standing.considered} considered {standing.last:.3f}"
    return where + ")"


def _rival(rival: Rival, told: Explanation, view: View) -> Iterator[str]:
    """A hit above, with what it has and the place has not."""
    place = f"{shown_path(told.root, rival.path, view.cwd)}:{rival.start_line}-{rival.end_line}"
    yield f"{view.paint('above    ', 'faint')}{rival.rank}. {visible(place)}: {visible(rival.entity)}".rstrip()
    if rival.terms:
        yield f"    has {', '.join(map(visible, rival.terms))}"
    made = ", ".join(f"{reason.name} {reason.value:.2f}" for reason in rival.reasons)
    yield f"    score {rival.score:.3f}: {made}"


def _nth(number: int) -> str:
    """``1st``, ``2nd``, ``11th``."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


# --- an index ------------------------------------------------------------------------------------


def report_text(report: IndexReport, status: IndexStatus, root: str) -> str:
    """What an indexing run saw and did."""
    if not report.indexed:
        return nothing_indexed(report, root)
    amounts = ("added", "changed", "unchanged", "removed")
    done = ", ".join(f"{getattr(report, amount)} {amount}" for amount in amounts)
    lines = [f"indexed {report.indexed} of {count(report.seen, 'file')} in {report.seconds:.1f} s: {done}"]
    lines += [f"repaired: {part} had been damaged or lost" for part in report.repaired]
    lines += _left_out(report)
    lines.append(f"parsed: {_tally(status.health)}")
    lines += _secrets(status.secrets)
    lines += _failures(report)
    lines += _without_vectors(report)
    lines.append(
        f"index: {visible(status.location)} ({_size(status.size_bytes)}, generation {status.generation})"
    )
    return "\n".join(lines)


def nothing_indexed(report: IndexReport, root: str) -> str:
    """Why an index is empty."""
    if not (report.skipped or report.skipped_folders):
        return f"nothing to index in {visible(root)}: there are no files"
    lines = [f"nothing to index in {visible(root)}: everything is left out", *_left_out(report)]
    return "\n".join([*lines, *_failures(report), "ask 'dowse status --why FILE' for the rule behind a file"])


def status_text(status: IndexStatus, root: str, pending: int | None) -> str:
    """An index at a glance."""
    rows = [("root", visible(root)), ("index", visible(status.location)), ("state", _state(status, pending))]
    if status.state is not IndexState.MISSING:
        amount = ", ".join(
            (count(status.files, "file"), count(status.chunks, "chunk"), count(status.entities, "definition"))
        )
        rows += [
            ("holds", amount),
            ("size", f"{_size(status.size_bytes)}, generation {status.generation}"),
            ("languages", _tally(status.languages, LISTED)),
            ("parsed", _tally(status.health)),
        ]
    lines = [f"{name:<10} {value}" for name, value in rows]
    if status.report:
        lines += [*_left_out(status.report), *_secrets(status.secrets), *_failures(status.report)]
        lines += _without_vectors(status.report)
    return "\n".join(lines)


def _state(status: IndexStatus, pending: int | None) -> str:
    if status.state is IndexState.MISSING:
        return "missing: 'dowse index' makes it, and so does the first search"
    if status.state is not IndexState.CURRENT:
        return f"made with {status.state}: the next search or 'dowse index' makes it anew"
    if pending is None:
        return "current"
    changed = f"{count(pending, 'file or folder', 'files or folders')} changed since"
    return f"current; {changed}: the next search takes it in" if pending else "current, and as the disk is"


def _left_out(report: IndexReport) -> Iterator[str]:
    for tally, noun in ((report.skipped, "file"), (report.skipped_folders, "folder")):
        if tally:
            yield f"left out {count(sum(tally.values()), noun)}: {_tally(tally)}"


def _secrets(secrets: Sequence[MaskedSecret]) -> Iterator[str]:
    if secrets:
        yield f"masked {count(len(secrets), 'secret')}:"
        yield from _some(f"  {visible(s.path)}:{s.line} ({s.rule})" for s in secrets)


def _failures(report: IndexReport) -> Iterator[str]:
    if report.failures:
        yield f"failed {len(report.failures)}:"
        yield from _some(f"  {visible(f.path)}: {f.reason} ({visible(f.detail)})" for f in report.failures)


def _without_vectors(report: IndexReport) -> Iterator[str]:
    if report.without_vectors:
        yield f"without vectors {count(report.without_vectors, 'file')}: {visible(report.why_without)}"
        yield "  'dowse index' makes them when the embedder works again"


def _some(lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    yield from listed[:LISTED]
    if len(listed) > LISTED:
        yield f"  ... and {len(listed) - LISTED} more (all with --json)"


def _tally(numbers: Mapping[str, int], limit: int | None = None) -> str:
    shown = [f"{number} {visible(name)}" for name, number in list(numbers.items())[:limit]]
    rest = len(numbers) - len(shown)
    return ", ".join([*shown, *([f"{rest} more"] if rest else [])]) or "nothing"


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _size(number: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns, the last one as wide as it is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1] if rows else []
    return "\n".join(
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    )


# --- a store that many share ---


def server_values(status: ServerStatus) -> dict[str, Any]:
    """A shared store for programs."""
    views = [{name: getattr(view, name) for name in view.__dataclass_fields__} for view in status.views]
    return {
        "schema": SCHEMA,
        "location": status.location,
        "store_schema": status.schema,
        "version": status.version,
        "extensions": dict(status.extensions),
        "size_bytes": status.size_bytes,
        "repositories": len({view.repository for view in status.views}),
        "views": views,
        "notes": list(status.notes),
    }


def server_text(status: ServerStatus) -> str:
    """A shared store at a glance."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(status.extensions.items()))
    repositories = len({view.repository for view in status.views})
    rows = [
        ("server", f"{visible(status.location)}, schema {visible(status.schema)}"),
        ("version", f"PostgreSQL {status.version}, {versions}"),
        ("size", _size(status.size_bytes)),
        (
            "holds",
            f"{count(repositories, 'repository', 'repositories')}, {count(len(status.views), 'checkout')}",
        ),
    ]
    lines = [f"{name:<10} {value}" for name, value in rows]
    if status.views:
        head = ("REPOSITORY", "CHECKOUT", "GENERATION", "FILES", "CHUNKS", "WRITTEN", "STATE")
        lines += ["", table([head, *map(_view_row, status.views)])]
    return "\n".join([*lines, *(f"note: {visible(note)}" for note in status.notes)])


def _view_row(view: ViewStatus) -> tuple[str, ...]:
    state = "being written" if view.being_written else "complete" if view.complete else "not finished"
    numbers = (view.generation, view.files, view.chunks)
    return (visible(view.repository), visible(view.view), *map(str, numbers), view.written, state)
