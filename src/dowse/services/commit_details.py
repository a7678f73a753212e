"""Git commit reader: author, date, message and diff of some commits, which commits pass a filter, and blame.

Reads only; whatever a repository configures is switched off (``services/git.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from dowse.errors import UsageError
from dowse.lazy_regex import compile_lazily
from dowse.services import git
from dowse.types.commit_values import BlamedLines, CommitHit, Hunk

MAX_BYTES = 20_000_000
MAX_SECONDS = 20.0
"""What is read of diffs at the most, and for how long."""

MAX_HUNK_LINES = 400
"""Lines of a hunk that are read: a longer one is a new file."""

MOVED_LINES = ("-M", "-C")
"""Options of blame that follow lines which were moved within a file, or copied from others of the same commit."""

_ADVICE = "history is of git repositories, and of revisions that they have"
_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT = f"--format={_RECORD}%H{_FIELD}%an{_FIELD}%as{_FIELD}%s{_FIELD}%b{_FIELD}"
_HUNK = compile_lazily(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")
_BLAMED = compile_lazily(r"([0-9a-f]{40,64}) (\d+) (\d+)")


def list_shas(
    root: Path, *, author: str = "", since: str = "", span: str = "", paths: Sequence[str] = ()
) -> list[str]:
    """List the commits that pass a filter, newest first."""
    if span.startswith("-"):
        raise UsageError(f"{span} is not a range of revisions: write v1.0..v2.0")
    filters = [f"--author={author}"] if author else []
    filters += [f"--since={since}"] if since else []
    arguments = ("log", "--no-merges", "--format=%H", "-i", *filters, span or "HEAD", "--", *paths)
    return git.run_text(root, *arguments, otherwise=_ADVICE).split()


def read_details(root: Path, shas: Sequence[str]) -> dict[str, CommitHit]:
    """Read commits with their diffs, by hash; those that git does not give within the limits are missing."""
    if not shas:
        return {}
    arguments = ("log", "--no-walk=unsorted", "-p", "-U2", "-w", "-M", "--relative", *git.PLAIN_DIFF)
    quiet = git.disable_filters(root, otherwise=_ADVICE)
    output = git.run_within(
        root, MAX_BYTES, MAX_SECONDS, *quiet, *arguments, "--encoding=UTF-8", _FORMAT, *shas, "--"
    )
    records = output.decode("utf-8", "replace").split(_RECORD)[1:]
    commits = (_parse_commit(record) for record in records if record.count(_FIELD) >= 5)
    return {commit.sha: commit for commit in commits}


def _parse_commit(record: str) -> CommitHit:
    sha, author, date, subject, body, diff = record.split(_FIELD, 5)
    hunks = tuple(_parse_diff(diff))
    paths = tuple(dict.fromkeys(hunk.path for hunk in hunks))
    return CommitHit(sha, author, date, subject.strip(), body.strip(), 0.0, paths, hunks)


def _parse_diff(diff: str) -> Iterator[Hunk]:
    """Parse a unified diff into its hunks."""
    path, at, within, lines = "", 0, "", list[str]()
    for line in diff.split("\n"):
        is_header = line.startswith(("diff --git ", "@@ "))
        if is_header and lines:
            yield Hunk(path, at, within, tuple(lines))
            lines = []
        if match := _HUNK.match(line):
            at, within = int(match[1]), match[2].strip()
        elif line.startswith("diff --git "):
            at = 0
        elif not at:
            if line.startswith(("+++ b/", "--- a/")) and not line.startswith("+++ /dev/null"):
                path = line[6:].rstrip("\t")
        elif line[:1] in ("+", "-", " ") and len(lines) < MAX_HUNK_LINES:
            lines.append(line)
    if lines:
        yield Hunk(path, at, within, tuple(lines))


def blame(root: Path, path: str, first: int, last: int) -> list[BlamedLines]:
    """Find the commits that some lines are from, the newest first; changes of white space and moves do not count."""
    quiet = git.disable_filters(root, otherwise=_ADVICE)
    lines = git.run_text(
        root,
        *quiet,
        "blame",
        "--porcelain",
        "-w",
        *MOVED_LINES,
        f"-L{first},{last}",
        "--",
        path,
        otherwise=_ADVICE,
    ).split("\n")
    about: dict[str, dict[str, str]] = {}
    held: dict[str, list[int]] = {}
    sha = ""
    for line in lines:
        if match := _BLAMED.match(line):
            sha = match[1]
            held.setdefault(sha, []).append(int(match[3]))
            about.setdefault(sha, {})
        elif sha and not line.startswith("\t"):
            key, _, value = line.partition(" ")
            about[sha].setdefault(key, value)
    found = sorted(held, key=lambda each: -int(about[each].get("author-time", "0")))
    return [_make_blamed(sha, about[sha], held[sha], path) for sha in found]


def _make_blamed(sha: str, about: dict[str, str], lines: list[int], path: str) -> BlamedLines:
    if not sha.strip("0"):
        return BlamedLines("", "", "", "not committed yet", tuple(lines))
    date = datetime.fromtimestamp(int(about.get("author-time", "0")), UTC).date().isoformat()
    then = about.get("filename", path)
    return BlamedLines(
        sha,
        about.get("author", ""),
        date,
        about.get("summary", ""),
        tuple(lines),
        "" if then.endswith(path) else then,
    )
