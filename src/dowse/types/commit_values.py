"""Values of the history of a tree: commits that a query finds, and who wrote which lines."""

from __future__ import annotations

from typing import NamedTuple

from dowse.frozen import frozen


@frozen
class HistoryOptions:
    """The options of a search over commits. Patterns of paths are git's, dates are what git understands."""

    limit: int = 10
    author: str = ""
    paths: tuple[str, ...] = ()
    since: str = ""
    span: str = ""  # a range of revisions: v1.0..v2.0

    @property
    def narrows(self) -> bool:
        """Whether it says which commits count."""
        return bool(self.author or self.paths or self.since or self.span)


class Hunk(NamedTuple):
    """A part of a diff: its file, the line it begins in after the change, what it is in, and its lines."""

    path: str
    line: int
    within: str
    lines: tuple[str, ...]


class CommitHit(NamedTuple):
    """A commit that a query finds, with the hunks that have most of the query."""

    sha: str
    author: str
    date: str
    subject: str
    body: str
    score: float
    paths: tuple[str, ...]
    hunks: tuple[Hunk, ...] = ()


@frozen
class HistoryAnswer:
    """The commits that a query finds, best first, and what should be known of the answer."""

    commits: tuple[CommitHit, ...]
    searched: int
    notes: tuple[str, ...] = ()


class BlamedLines(NamedTuple):
    """What is left of a commit in some lines: how many, and which; an empty hash stands for what is not committed."""

    sha: str
    author: str
    date: str
    subject: str
    lines: tuple[int, ...]
    path: str = ""  # where they were in that commit, if elsewhere


class BlamedEntity(NamedTuple):
    """A definition, or some lines, and the commits that its lines are from, the newest first."""

    path: str
    start_line: int
    end_line: int
    entity: str
    commits: tuple[BlamedLines, ...]
