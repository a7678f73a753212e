"""What has to be done: compares what is on disk with what is stored."""

from __future__ import annotations

import os
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dowse.indexing.decode import stamp_of
from dowse.indexing.ignore_files import IGNORE_FILES, modified
from dowse.stores.protocol import KnownFile
from dowse.types import LEFT_OUT, OUTER_RULES, Candidate, FileStamp, Folder, Skipped

SETTLED_NS = 50_000_000
COARSE_SETTLED_NS = 2_000_000_000
"""A file read this soon after its last change may change again under the same time stamp (file systems count
in steps; some in whole seconds): its stamp is not trusted, so that it is looked at again."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of an indexing run."""

    read: tuple[Candidate, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[Skipped, ...]
    folders: Mapping[str, int]

    @property
    def seen(self) -> int:
        """Files that discovery came across, folders that were left out whole not counted."""
        return len(self.read) + self.unchanged + sum(not skipped.is_folder for skipped in self.skipped)


def compare(found: Iterable[Candidate | Skipped | Folder], manifest: Mapping[str, KnownFile]) -> Plan:
    """Which files to read, and which paths to forget, after a complete walk."""
    read: list[Candidate] = []
    skipped: list[Skipped] = []
    folders: dict[str, int] = {}
    known: set[str] = set()
    for item in found:
        if isinstance(item, Candidate):
            if item.path in manifest and manifest[item.path].stamp == item.stamp:
                known.add(item.path)
            else:
                read.append(item)
        elif isinstance(item, Folder):
            folders[item.path] = settled_time(item.changed_ns)
        else:
            skipped.append(item)
    removed = manifest.keys() - known - {candidate.path for candidate in read}
    return Plan(tuple(read), tuple(sorted(removed)), len(known), tuple(skipped), folders)


@dataclass(frozen=True, slots=True)
class Drift:
    """How the disk differs from the index at a glance: ``stat`` of what is known, no walk."""

    changed: tuple[Candidate, ...]
    missing: tuple[str, ...]
    folders: Mapping[
        str, int
    ]  # those whose names changed, with their new times; -1 for what is to be forgotten
    rules_changed: bool

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.folders)


def drift(root: Path, manifest: Mapping[str, KnownFile], folders: Mapping[str, int]) -> Drift:
    """What changed since the index was written; new files show in the time stamps of their folders."""
    base = os.fspath(root)
    changed: list[Candidate] = []
    missing: list[str] = []
    for path, known in manifest.items():
        try:
            status = os.lstat(f"{base}/{path}")
        except OSError:
            missing.append(path)
            continue
        if (stamp := stamp_of(status)) != known.stamp:
            changed.append(Candidate(path, stamp))
    moved = {folder: now for folder, then in folders.items() if (now := _folder_mtime(base, folder)) != then}
    rules_changed = any(folder.startswith(OUTER_RULES) for folder in moved)
    for file in [folder for folder in moved if _is_left_out(folder)]:
        changed += _looked_at(base, file.removeprefix(LEFT_OUT))
        moved[file] = -1
    rules_changed |= rules_among([*missing, *(candidate.path for candidate in changed)])
    return Drift(tuple(changed), tuple(missing), moved, rules_changed)


def folders_above(path: str, known: Container[str]) -> Iterator[str]:
    """The nearest folder around a path that is known, and the path itself if it is one or a file that was left out."""
    yield from (name for name in (path, LEFT_OUT + path) if name in known)
    while path:
        path = path.rpartition("/")[0]
        if path in known:
            yield path
            return


def known_changes(drift: Drift, manifest: Mapping[str, KnownFile], folders: Mapping[str, int]) -> int:
    """How many files and folders surely changed: not those that are only to be looked at again."""
    changed = sum(
        not same_moment(manifest[found.path].stamp, found.stamp)
        if found.path in manifest
        else abs(folders[LEFT_OUT + found.path]) != found.stamp.changed_ns
        for found in drift.changed
    )
    moved = sum(
        abs(folders[folder]) != now for folder, now in drift.folders.items() if not _is_left_out(folder)
    )
    return changed + len(drift.missing) + moved


def rules_among(paths: Iterable[str]) -> bool:
    """Whether some of these files say which others are indexed."""
    return any(path.rpartition("/")[2] in IGNORE_FILES for path in paths)


def settled(stamp: FileStamp) -> FileStamp:
    """The stamp to store of a file that was just read."""
    mtime_ns = settled_time(stamp.mtime_ns)
    if mtime_ns > 0 > settled_time(stamp.ctime_ns):  # written just now under an older time
        mtime_ns = -mtime_ns
    return stamp._replace(mtime_ns=mtime_ns)


def settled_time(mtime_ns: int) -> int:
    """The time to store: negative, so that it never matches, if more may happen under the same time."""
    coarse = mtime_ns % 1_000_000_000 == 0
    age = time.time_ns() - mtime_ns
    return -mtime_ns if 0 <= age < (COARSE_SETTLED_NS if coarse else SETTLED_NS) else mtime_ns


def same_moment(stored: FileStamp, now: FileStamp) -> bool:
    """Whether a stored stamp, settled or not, is of the file as it is now."""
    return stored._replace(mtime_ns=abs(stored.mtime_ns)) == now


def _looked_at(base: str, path: str) -> Iterator[Candidate]:
    try:
        status = os.lstat(f"{base}/{path}")
    except OSError:
        return
    yield Candidate(path, stamp_of(status))


def _is_left_out(folder: str) -> bool:
    """Whether this stands for a file that its content leaves out."""
    return folder.startswith(LEFT_OUT) and not folder.startswith(OUTER_RULES)


def outer_rules(folders: Mapping[str, int]) -> dict[str, int]:
    """The ignore files outside of the tree among what an index has for folders."""
    return {folder: then for folder, then in folders.items() if folder.startswith(OUTER_RULES)}


def have_moved(rules: Mapping[str, int]) -> bool:
    """Whether one of these was changed since."""
    return any(_folder_mtime("", file) != then for file, then in rules.items())


def _folder_mtime(base: str, folder: str) -> int:
    if folder.startswith(OUTER_RULES):
        return modified(folder.removeprefix(OUTER_RULES))
    return modified(f"{base}/{folder}" if folder else base)
