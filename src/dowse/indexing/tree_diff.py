"""Tree diff: compare the files on disk with the index by stat (size, mtime, ctime), to find changed, new and deleted
files.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dowse.indexing.ignore_files import IGNORE_FILES
from dowse.indexing.stamps import is_same_stamp, read_changed_ns, stamp_of
from dowse.stores.protocol import KnownFile
from dowse.types.discovered import (
    FoundFile,
    Skipped,
    Watched,
    WatchedPath,
    WatchedTime,
    WatchedTimes,
    WatchKind,
)


@dataclass(frozen=True, slots=True)
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
    """Decide which files to read and which paths to remove, after a complete walk."""
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


@dataclass(frozen=True, slots=True)
class TreeDiff:
    """How the disk differs from the index, as far as ``stat`` of the known paths tells: no walk."""

    changed: tuple[FoundFile, ...] = ()
    missing: tuple[str, ...] = ()
    watched: WatchedTimes = field(default_factory=dict)  # with the times they have now
    unwatched: frozenset[WatchedPath] = frozenset()  # folders that are gone, and skipped files that changed
    rules_changed: bool = False

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.watched or self.unwatched)

    @property
    def folders(self) -> set[str]:
        """The folders in which names changed, and those that are gone."""
        return {path for kind, path in (*self.watched, *self.unwatched) if kind is WatchKind.FOLDER}


def diff_tree(root: Path, manifest: Mapping[str, KnownFile], watched: WatchedTimes) -> TreeDiff:
    """Diff the tree against the index by ``stat``; new files show in the times of their folders."""
    base = os.fspath(root)
    changed: list[FoundFile] = []
    missing: list[str] = []
    for path, known in manifest.items():
        try:
            status = os.lstat(f"{base}/{path}")
        except OSError:
            missing.append(path)
            continue
        if (stamp := stamp_of(status)) != known.stamp:
            changed.append(FoundFile(path, stamp))
    new_times = {at: now for at, then in watched.items() if (now := _read_time(base, at)) != then}
    unwatched = set()
    for at, now in new_times.items():
        if at.kind is WatchKind.SKIPPED_FILE:
            changed += _stat_file(base, at.path)
            unwatched.add(at)
        elif at.kind is WatchKind.FOLDER and now.changed_ns is None:
            unwatched.add(at)
    rules_changed = any(at.kind is WatchKind.OUTER_RULES for at in new_times) or has_ignore_file(
        [*missing, *(candidate.path for candidate in changed)]
    )
    return TreeDiff(
        tuple(changed),
        tuple(missing),
        {at: now for at, now in new_times.items() if at not in unwatched},
        frozenset(unwatched),
        rules_changed,
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


def count_changes(diff: TreeDiff, manifest: Mapping[str, KnownFile], watched: WatchedTimes) -> int:
    """Count the files and folders that changed for sure, without those whose stamps are only not trusted."""
    changed = sum(
        not is_same_stamp(manifest[found.path].stamp, found.stamp)
        if found.path in manifest
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
    return any(_read_time("", path) != then for path, then in rules.items())


def _read_time(base: str, watched: WatchedPath) -> WatchedTime:
    kind, path = watched
    if kind is WatchKind.OUTER_RULES:
        return WatchedTime(read_changed_ns(path))
    return WatchedTime(read_changed_ns(f"{base}/{path}" if path else base))
