"""Finds the ignore files of a tree and says which are in force in a folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from dowse.indexing.decode import stamp_of
from dowse.indexing.ignore import Pattern, PatternList, parse_file
from dowse.safe_files import read_regular
from dowse.settings import git_excludes_file

GIT_IGNORE = ".gitignore"
DOWSE_IGNORE = ".dowseignore"
IGNORE_FILES = frozenset({GIT_IGNORE, DOWSE_IGNORE})
"""A change in one of these can bring in or take out any file below it."""

_GIT = ".git"
_MARKERS = IGNORE_FILES | {_GIT}

# The longest ignore files in use have a few thousand lines; a longer one is taken for a mistake and not read.
_MAX_SIZE = 1_000_000


class Scoped(NamedTuple):
    """An ignore file in force, and where its folder is as seen from the root."""

    patterns: PatternList
    skipped: int = 0  # how many characters of a path lead to its folder
    prefix: str = ""  # for a folder above the root, the way from there to the root

    def last_match(self, path: str, name: str, *, is_folder: bool) -> Pattern | None:
        """The pattern that decides about an entry, if any; ``path`` is relative to the root."""
        return self.patterns.last_match(self.prefix + path[self.skipped :], name, is_folder=is_folder)

    def leads_to(self, path: str) -> bool:
        """A ``!pattern`` spells out something below this folder."""
        return self.prefix + path[self.skipped :] in self.patterns.doors


class InForce(NamedTuple):
    """The ignore files of a folder, nearest first: the first that matches an entry decides."""

    git: tuple[Scoped, ...] = ()
    dowse: tuple[Scoped, ...] = ()


class IgnoreFiles:
    """The ignore files of one tree, read as a walk comes to them."""

    def __init__(self, root: Path, global_ignore: Path | None) -> None:
        self._root = root
        self._global_ignore = global_ignore
        self.outer: dict[str, int] = {}
        """When each ignore file that is no part of the tree was last changed, as far as a walk has come."""

    def above(self) -> InForce:
        """What the folders above the root say, as far up as its repository goes."""
        root = self._root
        top = next((folder for folder in (root, *root.parents) if _git_folder(folder)), root)
        git = self._of_repository(top, _way(top, root), _up(top, root))
        dowse: tuple[Scoped, ...] = ()
        for folder in reversed([folder for folder in root.parents if folder.is_relative_to(top)]):
            prefix, shown = _way(folder, root), _up(folder, root)
            self._note(folder / GIT_IGNORE)
            self._note(folder / DOWSE_IGNORE)
            git = (*_scoped(folder / GIT_IGNORE, shown, prefix=prefix), *git)
            dowse = (*_scoped(folder / DOWSE_IGNORE, shown, prefix=prefix), *dowse)
        return InForce(git, dowse)

    def within(self, prefix: str, names: Collection[str], outer: InForce) -> InForce:
        """What is in force in a folder of the tree; ``prefix`` is its path with a slash at the end."""
        if not _MARKERS.isdisjoint(names):
            return self._changed(prefix, names, outer)
        return outer

    def _changed(self, prefix: str, names: Collection[str], outer: InForce) -> InForce:
        folder = self._root / prefix
        git, dowse = outer
        if prefix and _GIT in names and _git_folder(folder):
            git = self._of_repository(folder, "", prefix, skipped=len(prefix))
        if GIT_IGNORE in names:
            git = (*_scoped(folder / GIT_IGNORE, prefix, skipped=len(prefix)), *git)
        if DOWSE_IGNORE in names:
            dowse = (*_scoped(folder / DOWSE_IGNORE, prefix, skipped=len(prefix)), *dowse)
        return InForce(git, dowse)

    def _of_repository(self, top: Path, prefix: str, shown: str, skipped: int = 0) -> tuple[Scoped, ...]:
        """The ignore files that belong to a repository as a whole."""
        lists = [self._of_user]
        if git_folder := _git_folder(top):
            configured = git_excludes_file(git_folder / "config")
            if configured is not None:
                lists = [self._configured(top, configured)]
            path = Path(os.path.realpath(git_folder / "info" / "exclude"))
            inside = (top / _GIT).is_dir()
            self._note(path)
            lists.insert(0, _read(path, f"{shown}.git/info/exclude" if inside else str(path)))
        return tuple(Scoped(patterns, skipped, prefix) for patterns in lists if patterns)

    def _configured(self, top: Path, file: str) -> PatternList | None:
        """The ignore file that a repository names instead of the user's own; it may name none."""
        if not file:
            return None
        path = Path(os.path.realpath(top / file))
        self._note(path)
        return _read(path, file)

    @cached_property
    def _of_user(self) -> PatternList | None:
        if not self._global_ignore:
            return None
        path = Path(os.path.realpath(self._global_ignore))
        self._note(path)
        return _read(path, str(self._global_ignore))

    def _note(self, path: Path) -> None:
        """Remember when a file was changed, before it is read."""
        self.outer[str(path)] = modified(path)


def modified(path: str | Path) -> int:
    """When a file or folder was last changed; -1 if it is not there."""
    try:
        return stamp_of(os.stat(path)).changed_ns
    except OSError:
        return -1


def _scoped(path: Path, shown: str, *, skipped: int = 0, prefix: str = "") -> Iterator[Scoped]:
    if patterns := _read(path, shown + path.name):
        yield Scoped(patterns, skipped, prefix)


def _read(path: Path, shown: str) -> PatternList | None:
    """The patterns of an ignore file, if it can be read; a link is not followed, as in git."""
    try:
        content = read_regular(path, _MAX_SIZE)
    except OSError:
        return None
    return parse_file(shown, content)


def _way(top: Path, root: Path) -> str:
    """The path from a folder above the root to the root, with a slash at the end."""
    return "".join(f"{part}/" for part in root.relative_to(top).parts)


def _up(top: Path, root: Path) -> str:
    return "../" * len(root.relative_to(top).parts)


def _git_folder(folder: Path) -> Path | None:
    """Where the repository whose top is this folder keeps its own files; None if it is not the top of one.

    Submodules and worktrees have a file that points there; worktrees share the files of the main one.
    """
    marker = folder / _GIT
    if (marker / "HEAD").is_file():
        return marker
    pointer = _pointer(marker)
    if not pointer.startswith("gitdir:"):
        return None
    git_folder = folder / pointer.removeprefix("gitdir:").strip()
    return git_folder / _pointer(git_folder / "commondir")


def _pointer(path: Path) -> str:
    try:
        text = os.fsdecode(read_regular(path, _MAX_SIZE)).strip()
    except OSError:
        return ""
    return "" if "\0" in text else text
