"""Text rendering of index status: the report of an indexing run, index statistics, a shared store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dowse.interfaces.text_layout import format_count, format_size, format_table
from dowse.interfaces.theme import escape_text
from dowse.types.discovered import IndexReport
from dowse.types.source import MaskedSecret
from dowse.types.stored import IndexState, IndexStatus, ServerStatus, ViewStatus

MAX_LISTED = 10
"""Examples given where there can be thousands: masked secrets, failures, languages."""


def report_text(report: IndexReport, status: IndexStatus, root: str) -> str:
    """Render what an indexing run saw and did."""
    if not report.indexed:
        return nothing_indexed_text(report, root)
    amounts = ("added", "changed", "unchanged", "removed")
    done = ", ".join(f"{getattr(report, amount)} {amount}" for amount in amounts)
    lines = [
        f"indexed {report.indexed} of {format_count(report.seen, 'file')} in {report.seconds:.1f} s: {done}"
    ]
    lines += [f"repaired: {part} were corrupt or lost" for part in report.repaired]
    lines += _skipped_lines(report)
    lines.append(f"parsed: {_format_tally(status.health)}")
    lines += _secret_lines(status.secrets)
    lines += _failure_lines(report)
    lines += _missing_vector_lines(report)
    lines.append(
        f"index: {escape_text(status.location)} ({format_size(status.size_bytes)}, generation {status.generation})"
    )
    return "\n".join(lines)


def nothing_indexed_text(report: IndexReport, root: str) -> str:
    """Say why an index is empty."""
    if not (report.skipped or report.skipped_folders):
        return f"nothing to index in {escape_text(root)}: there are no files"
    lines = [f"nothing to index in {escape_text(root)}: everything is skipped", *_skipped_lines(report)]
    return "\n".join(
        [*lines, *_failure_lines(report), "ask 'dowse status --why FILE' for the rule behind a file"]
    )


def status_text(status: IndexStatus, root: str, pending: int | None) -> str:
    """Render the state of an index: size, languages, what was skipped, masked and failed."""
    rows = [
        ("root", escape_text(root)),
        ("index", escape_text(status.location)),
        ("state", _format_state(status, pending)),
    ]
    if status.state is not IndexState.MISSING:
        amounts = ((status.files, "file"), (status.chunks, "chunk"), (status.entities, "definition"))
        rows += [
            ("holds", ", ".join(format_count(number, noun) for number, noun in amounts)),
            ("size", f"{format_size(status.size_bytes)}, generation {status.generation}"),
            ("languages", _format_tally(status.languages, MAX_LISTED)),
            ("parsed", _format_tally(status.health)),
        ]
    lines = [f"{name:<10} {value}" for name, value in rows]
    if status.report:
        lines += [
            *_skipped_lines(status.report),
            *_secret_lines(status.secrets),
            *_failure_lines(status.report),
        ]
        lines += _missing_vector_lines(status.report)
    return "\n".join(lines)


def _format_state(status: IndexStatus, pending: int | None) -> str:
    if status.state is IndexState.MISSING:
        return "missing: 'dowse index' makes it, and so does the first search"
    if status.state is not IndexState.CURRENT:
        return f"made with {status.state}: the next search or 'dowse index' rebuilds it"
    if pending is None:
        return "current; comparing all files with the disk takes too long: 'dowse index' does it"
    changed = f"{format_count(pending, 'file or folder', 'files or folders')} changed since"
    return f"current; {changed}: the next search takes it in" if pending else "current, and as the disk is"


def _skipped_lines(report: IndexReport) -> Iterator[str]:
    for tally, noun in ((report.skipped, "file"), (report.skipped_folders, "folder")):
        if tally:
            yield f"skipped {format_count(sum(tally.values()), noun)}: {_format_tally(tally)}"


def _secret_lines(secrets: Sequence[MaskedSecret]) -> Iterator[str]:
    if secrets:
        yield f"masked {format_count(len(secrets), 'secret')}:"
        yield from _first_lines(f"  {escape_text(s.path)}:{s.line} ({s.rule})" for s in secrets)


def _failure_lines(report: IndexReport) -> Iterator[str]:
    if report.failures:
        yield f"failed {len(report.failures)}:"
        yield from _first_lines(
            f"  {escape_text(f.path)}: {f.reason} ({escape_text(f.detail)})" for f in report.failures
        )


def _missing_vector_lines(report: IndexReport) -> Iterator[str]:
    if report.without_vectors:
        yield f"without vectors {format_count(report.without_vectors, 'file')}: {escape_text(report.why_without)}"
        yield "  'dowse index' makes them when the embedder works again"


def _first_lines(lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    yield from listed[:MAX_LISTED]
    if len(listed) > MAX_LISTED:
        yield f"  ... and {len(listed) - MAX_LISTED} more (all with --json)"


def _format_tally(numbers: Mapping[str, int], limit: int | None = None) -> str:
    shown = [f"{number} {escape_text(name)}" for name, number in list(numbers.items())[:limit]]
    rest = len(numbers) - len(shown)
    return ", ".join([*shown, *([f"{rest} more"] if rest else [])]) or "nothing"


def server_text(status: ServerStatus) -> str:
    """Render the state of a shared store: server, versions, checkouts."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(status.extensions.items()))
    repositories = len({view.repository for view in status.views})
    amounts = (
        format_count(repositories, "repository", "repositories"),
        format_count(len(status.views), "checkout"),
    )
    rows = [
        ("server", f"{escape_text(status.location)}, schema {escape_text(status.schema)}"),
        ("version", ", ".join(filter(None, (f"{status.product} {status.version}", versions)))),
        ("size", format_size(status.size_bytes)),
        ("holds", ", ".join(amounts)),
    ]
    lines = [f"{name:<10} {value}" for name, value in rows]
    if status.views:
        head = ("REPOSITORY", "CHECKOUT", "GENERATION", "FILES", "CHUNKS", "WRITTEN", "STATE")
        lines += ["", format_table([head, *map(_view_row, status.views)])]
    return "\n".join([*lines, *(f"note: {escape_text(note)}" for note in status.notes)])


def _view_row(view: ViewStatus) -> tuple[str, ...]:
    state = "being written" if view.being_written else "complete" if view.complete else "not finished"
    numbers = (view.generation, view.files, view.chunks)
    return (escape_text(view.repository), escape_text(view.view), *map(str, numbers), view.written, state)
