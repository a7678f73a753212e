"""Tree diff: compare the files on disk with the index by stat (size, mtime, ctime), to find changed, new and deleted
files.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path

from dowse.frozen import frozen
from dowse.indexing.ignore_files import IGNORE_FILES
from dowse.indexing.stamps import HAS_CHANGE_TIME, is_same_stamp, read_changed_ns, stamp_of
from dowse.stores.protocol import KnownFile, StampRow
from dowse.types.discovered import (
    FoundFile,
    Skipped,
    Watched,
    WatchedPath,
    WatchedTime,
    WatchedTimes,
    WatchKind,
)

CLOCK_PERIOD_FILES = 256
"""Files that are compared between two looks at the clock: about a millisecond, and less on a slow disk than a look
after every file would be worth."""


@frozen
class IndexPlan:
    """The work of an indexing run: what to read and to remove, and what else the walk found."""

    read: tuple[FoundFile, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[Skipped, ...]
    watched: WatchedTimes

    @property
    def seen(self) -> int:
        """How many files discovery came across, not counting those in folders that are skipped as a whole."""
        return len(self.read) + self.unchanged + sum(not skipped.is_folder for skipped in self.skipped)


def plan_run(found: Iterable[FoundFile | Skipped | Watched], manifest: Mapping[str, KnownFile]) -> IndexPlan:
    """Decide which files were added or modified and are to be read, and which were deleted, after a complete walk."""
    read: list[FoundFile] = []
    skipped: list[Skipped] = []
    watched: dict[WatchedPath, WatchedTime] = {}
    known: set[str] = set()
    for item in found:
        if isinstance(item, FoundFile):
            if item.path in manifest and manifest[item.path].stamp == item.stamp:
                known.add(item.path)
            else:
                read.append(item)
        elif isinstance(item, Watched):
            watched[item.path] = item.time
        else:
            skipped.append(item)
    removed = manifest.keys() - known - {candidate.path for candidate in read}
    return IndexPlan(tuple(read), tuple(sorted(removed)), len(known), tuple(skipped), watched)


NOTHING_WATCHED: WatchedTimes = {}


@frozen
class TreeDiff:
    """How the disk differs from the index, as far as ``stat`` of the known paths tells: no walk."""

    changed: tuple[FoundFile, ...] = ()
    missing: tuple[str, ...] = ()
    watched: WatchedTimes = NOTHING_WATCHED  # with the times they have now
    unwatched: frozenset[WatchedPath] = frozenset()  # folders that are gone, and skipped files that changed
    rules_changed: bool = False
    unchecked: str = (
        ""  # the first file in order of path that was not compared in time, and with it all after it
    )

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.watched or self.unwatched)

    @property
    def folders(self) -> set[str]:
        """The folders in which names changed, and those that are gone."""
        return {path for kind, path in (*self.watched, *self.unwatched) if kind is WatchKind.FOLDER}


def diff_tree(
    root: Path,
    stamps: Iterable[StampRow],
    watched: WatchedTimes,
    until: float = math.inf,
) -> TreeDiff:
    """Detect modified and deleted files since the last indexing by ``stat``; added ones show in the times of folders.

    Files are compared in the order of ``stamps`` until a moment of the monotonic clock; what is watched, always.
    """
    base = os.fspath(root)
    changed: list[FoundFile] = []
    missing: list[str] = []
    unchecked = ""
    lstat = os.lstat
    for count, row in enumerate(stamps):
        path = row[0]
        if not count % CLOCK_PERIOD_FILES and time.monotonic() >= until:
            unchecked = path
            break
        try:
            status = lstat(f"{base}/{path}")
        except OSError:
            missing.append(path)
            continue
        ctime_ns = status.st_ctime_ns if HAS_CHANGE_TIME else 0
        if row != (path, status.st_size, status.st_mtime_ns, ctime_ns, True):
            changed.append(FoundFile(path, stamp_of(status)))
    new_times = _read_new_times(base, watched)
    unwatched = set()
    for at, now in new_times.items():
        if at.kind is WatchKind.SKIPPED_FILE:
            changed += _stat_file(base, at.path)
            unwatched.add(at)
        elif at.kind is WatchKind.FOLDER and now.changed_ns is None:
            unwatched.add(at)
    paths = [*missing, *(file.path for file in changed)]
    rules_changed = any(at.kind is WatchKind.OUTER_RULES for at in new_times)
    rules_changed = rules_changed or (bool(paths) and has_ignore_file(paths))
    return TreeDiff(
        tuple(changed),
        tuple(missing),
        {at: now for at, now in new_times.items() if at not in unwatched},
        frozenset(unwatched),
        rules_changed,
        unchecked,
    )


def merge_diffs(one: TreeDiff, rest: TreeDiff) -> TreeDiff:
    """Merge the diff of one part of a tree with that of the rest."""
    changed = {file.path: file for file in (*one.changed, *rest.changed)}
    return TreeDiff(
        tuple(changed.values()),
        tuple(dict.fromkeys((*one.missing, *rest.missing))),
        {**one.watched, **rest.watched},
        one.unwatched | rest.unwatched,
        one.rules_changed or rest.rules_changed,
        rest.unchecked,
    )


def find_watched_around(path: str, known: Container[WatchedPath]) -> Iterator[WatchedPath]:
    """Yield the nearest known folder around a path, and the path itself if it is a known folder or skipped file."""
    for kind in (WatchKind.FOLDER, WatchKind.SKIPPED_FILE):
        if (watched := WatchedPath(kind, path)) in known:
            yield watched
    while path:
        path = path.rpartition("/")[0]
        if (folder := WatchedPath(WatchKind.FOLDER, path)) in known:
            yield folder
            return


def count_changes(diff: TreeDiff, find_file: Callable[[str], KnownFile | None], watched: WatchedTimes) -> int:
    """Count the files and folders that changed for sure, without those whose stamps are only not trusted."""
    changed = sum(
        not is_same_stamp(file.stamp, found.stamp)
        if (file := find_file(found.path))
        else watched[WatchedPath(WatchKind.SKIPPED_FILE, found.path)].changed_ns != found.stamp.changed_ns
        for found in diff.changed
    )
    new_times = sum(watched[path].changed_ns != now.changed_ns for path, now in diff.watched.items())
    gone_folders = sum(path.kind is WatchKind.FOLDER for path in diff.unwatched)
    return changed + len(diff.missing) + new_times + gone_folders


def has_ignore_file(paths: Iterable[str]) -> bool:
    """Return whether one of these files is an ignore file, which decides about others."""
    return any(path.rpartition("/")[2] in IGNORE_FILES for path in paths)


def _stat_file(base: str, path: str) -> Iterator[FoundFile]:
    try:
        status = os.lstat(f"{base}/{path}")
    except OSError:
        return
    yield FoundFile(path, stamp_of(status))


def select_outer_rules(watched: WatchedTimes) -> dict[WatchedPath, WatchedTime]:
    """Select the ignore files outside of the tree from all that is watched."""
    return {path: then for path, then in watched.items() if path.kind is WatchKind.OUTER_RULES}


def have_changed(rules: WatchedTimes) -> bool:
    """Return whether one of these ignore files was changed since."""
    return bool(_read_new_times("", rules))


def _read_new_times(base: str, watched: WatchedTimes) -> dict[WatchedPath, WatchedTime]:
    """Read the times of what is watched, and return those that are not what they were, or were not trusted."""
    new_times = {}
    for at, (then, is_trusted) in watched.items():
        kind, path = at
        if kind is not WatchKind.OUTER_RULES:
            path = f"{base}/{path}" if path else base
        if (now := read_changed_ns(path)) != then or not is_trusted:
            new_times[at] = WatchedTime(now)
    return new_times
