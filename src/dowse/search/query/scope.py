"""Scope of a query: the repositories (``repo:``) and branches (``branch:``) it names, and whether an index has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from dowse.errors import UsageError
from dowse.types.discovered import Revision
from dowse.types.queries import ParsedQuery


def matches_any(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a name is one of some names or patterns; letter case does not count."""
    return any(fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)


def check_scope(parsed: ParsedQuery, repository: str, read_revision: Callable[[], Revision | None]) -> None:
    """Refuse a query about another repository, or another branch than the one that is checked out."""
    if parsed.repositories and not matches_any(repository, parsed.repositories):
        names = ", ".join(parsed.repositories)
        raise UsageError(f"this is the repository {repository}: '--repo' searches others, such as {names}")
    if not parsed.branches:
        return
    revision = read_revision()
    branch = revision.branch if revision else ""
    if not matches_any(branch, parsed.branches):
        shown = f"the branch {branch}" if branch else "no branch"
        raise UsageError(
            f"what is checked out is indexed, here {shown}: search a work tree of the other ('git worktree add')"
        )
