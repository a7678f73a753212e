"""Ignore file discovery: .gitignore, .dowseignore, .git/info/exclude and global ignore files that apply in a folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from dowse.git_config import read_excludes_file
from dowse.indexing.ignore import Pattern, PatternList, parse_file
from dowse.indexing.stamps import judge_time, read_changed_ns
from dowse.safe_files import read_regular
from dowse.types.discovered import WatchedTime

GIT_IGNORE = ".gitignore"
DOWSE_IGNORE = ".dowseignore"
IGNORE_FILES = frozenset({GIT_IGNORE, DOWSE_IGNORE})
"""A change in one of these can bring in or take out any file below it."""

_GIT = ".git"
_IGNORE_MARKERS = IGNORE_FILES | {_GIT}

# The longest ignore files in use have a few thousand lines; a longer one is taken for a mistake and not read.
_MAX_FILE_BYTES = 1_000_000


class ScopedPatterns(NamedTuple):
    """The patterns of an ignore file, and where its folder is relative to the root."""

    patterns: PatternList
    path_offset: int = 0  # how many characters of a path lead to its folder
    prefix: str = ""  # for a folder above the root, the way from there to the root

    def last_match(self, path: str, name: str, *, is_folder: bool) -> Pattern | None:
        """Find the pattern that decides about an entry, if any; ``path`` is relative to the root."""
        return self.patterns.last_match(self.prefix + path[self.path_offset :], name, is_folder=is_folder)

    def leads_to(self, path: str) -> bool:
        """Return whether a ``!pattern`` names something below this folder."""
        return self.prefix + path[self.path_offset :] in self.patterns.ancestor_dirs


class ActiveIgnoreFiles(NamedTuple):
    """The ignore files of a folder, nearest first: the first that matches an entry decides."""

    git: tuple[ScopedPatterns, ...] = ()
    dowse: tuple[ScopedPatterns, ...] = ()


class IgnoreFiles:
    """The ignore files of one tree, read as a walk comes to them."""

    def __init__(self, root: Path, global_ignore: Path | None) -> None:
        self._root = root
        self._global_ignore = global_ignore
        self.outer: dict[str, WatchedTime] = {}
        """When each ignore file outside of the tree was last changed, as far as a walk has read them."""

    def read_outer(self) -> ActiveIgnoreFiles:
        """Read the ignore files of the folders above the root, up to the top of its repository."""
        root = self._root
        top = next((folder for folder in (root, *root.parents) if _find_git_folder(folder)), root)
        git = self._read_repository(top, _path_from(top, root), _path_to(top, root))
        dowse: tuple[ScopedPatterns, ...] = ()
        for folder in reversed([folder for folder in root.parents if folder.is_relative_to(top)]):
            prefix, shown = _path_from(folder, root), _path_to(folder, root)
            self._record_time(folder / GIT_IGNORE)
            self._record_time(folder / DOWSE_IGNORE)
            git = (*_read_scoped(folder / GIT_IGNORE, shown, prefix=prefix), *git)
            dowse = (*_read_scoped(folder / DOWSE_IGNORE, shown, prefix=prefix), *dowse)
        return ActiveIgnoreFiles(git, dowse)

    def within(self, prefix: str, names: Collection[str], outer: ActiveIgnoreFiles) -> ActiveIgnoreFiles:
        """Find the ignore files that apply in a folder of the tree; ``prefix`` is its path with a slash at the end."""
        if not _IGNORE_MARKERS.isdisjoint(names):
            return self._read_folder(prefix, names, outer)
        return outer

    def _read_folder(
        self, prefix: str, names: Collection[str], outer: ActiveIgnoreFiles
    ) -> ActiveIgnoreFiles:
        folder = self._root / prefix
        git, dowse = outer
        if prefix and _GIT in names and _find_git_folder(folder):
            git = self._read_repository(folder, "", prefix, path_offset=len(prefix))
        if GIT_IGNORE in names:
            git = (*_read_scoped(folder / GIT_IGNORE, prefix, path_offset=len(prefix)), *git)
        if DOWSE_IGNORE in names:
            dowse = (*_read_scoped(folder / DOWSE_IGNORE, prefix, path_offset=len(prefix)), *dowse)
        return ActiveIgnoreFiles(git, dowse)

    def _read_repository(
        self, top: Path, prefix: str, shown: str, path_offset: int = 0
    ) -> tuple[ScopedPatterns, ...]:
        """Read the ignore files that apply to a repository as a whole."""
        lists = [self._user_patterns]
        if git_folder := _find_git_folder(top):
            configured = read_excludes_file(git_folder / "config")
            if configured is not None:
                lists = [self._read_configured(top, configured)]
            path = Path(os.path.realpath(git_folder / "info" / "exclude"))
            inside = (top / _GIT).is_dir()
            self._record_time(path)
            lists.insert(0, _read_patterns(path, f"{shown}.git/info/exclude" if inside else str(path)))
        return tuple(ScopedPatterns(patterns, path_offset, prefix) for patterns in lists if patterns)

    def _read_configured(self, top: Path, file: str) -> PatternList | None:
        """Read the ignore file that a repository names instead of the user's own; it may name none."""
        if not file:
            return None
        path = Path(os.path.realpath(top / file))
        self._record_time(path)
        return _read_patterns(path, file)

    @cached_property
    def _user_patterns(self) -> PatternList | None:
        if not self._global_ignore:
            return None
        path = Path(os.path.realpath(self._global_ignore))
        self._record_time(path)
        return _read_patterns(path, str(self._global_ignore))

    def _record_time(self, path: Path) -> None:
        """Record when a file was changed, before it is read."""
        self.outer[str(path)] = judge_time(read_changed_ns(path))


def _read_scoped(
    path: Path, shown: str, *, path_offset: int = 0, prefix: str = ""
) -> Iterator[ScopedPatterns]:
    if patterns := _read_patterns(path, shown + path.name):
        yield ScopedPatterns(patterns, path_offset, prefix)


def _read_patterns(path: Path, shown: str) -> PatternList | None:
    """Read the patterns of an ignore file, if that is possible; a link is not followed, as in git."""
    try:
        content = read_regular(path, _MAX_FILE_BYTES)
    except OSError:
        return None
    return parse_file(shown, content)


def _path_from(top: Path, root: Path) -> str:
    """Build the path from a folder above the root to the root, with a slash at the end."""
    return "".join(f"{part}/" for part in root.relative_to(top).parts)


def _path_to(top: Path, root: Path) -> str:
    return "../" * len(root.relative_to(top).parts)


def _find_git_folder(folder: Path) -> Path | None:
    """Find git's own folder of the repository whose top is this folder; None if it is not the top of one.

    Submodules and worktrees have a file that points there; worktrees share the files of the main one.
    """
    marker = folder / _GIT
    if (marker / "HEAD").is_file():
        return marker
    pointer = _read_pointer(marker)
    if not pointer.startswith("gitdir:"):
        return None
    git_folder = folder / pointer.removeprefix("gitdir:").strip()
    return git_folder / _read_pointer(git_folder / "commondir")


def _read_pointer(path: Path) -> str:
    try:
        text = os.fsdecode(read_regular(path, _MAX_FILE_BYTES)).strip()
    except OSError:
        return ""
    return "" if "\0" in text else text
