"""What has to be done: compares what is on disk with what is stored."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dowse.stores.base import KnownFile
from dowse.types import Candidate, FileStamp, Folder, Skipped

IGNORE_FILES = frozenset({".gitignore", ".dowseignore"})
"""A change in one of these can bring in or take out any file below it."""

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
        return len(self.read) + self.unchanged + sum(not s.path.endswith("/") for s in self.skipped)


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
            folders[item.path] = item.mtime_ns
        else:
            skipped.append(item)
    removed = manifest.keys() - known - {candidate.path for candidate in read}
    return Plan(tuple(read), tuple(sorted(removed)), len(known), tuple(skipped), folders)


@dataclass(frozen=True, slots=True)
class Drift:
    """How the disk differs from the index at a glance: ``stat`` of what is known, no walk."""

    changed: tuple[Candidate, ...]
    missing: tuple[str, ...]
    needs_walk: bool

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.needs_walk)


def drift(root: Path, manifest: Mapping[str, KnownFile], folders: Mapping[str, int]) -> Drift:
    """What changed since the index was written; new files show in the time stamps of their folders."""
    base = os.fspath(root)
    needs_walk = any(_folder_mtime(base, folder) != mtime for folder, mtime in folders.items())
    changed: list[Candidate] = []
    missing: list[str] = []
    for path, known in manifest.items():
        try:
            status = os.lstat(f"{base}/{path}")
        except OSError:
            missing.append(path)
            continue
        stamp = FileStamp(status.st_size, status.st_mtime_ns)
        if stamp != known.stamp:
            changed.append(Candidate(path, stamp))
    needs_walk = needs_walk or any(c.path.rpartition("/")[2] in IGNORE_FILES for c in changed)
    return Drift(tuple(changed), tuple(missing), needs_walk)


def settled(stamp: FileStamp) -> FileStamp:
    """The stamp to store: with its time negative, so that it never matches, if the file may still change under it."""
    coarse = stamp.mtime_ns % 1_000_000_000 == 0
    age = time.time_ns() - stamp.mtime_ns
    if 0 <= age < (COARSE_SETTLED_NS if coarse else SETTLED_NS):
        return FileStamp(stamp.size, -stamp.mtime_ns)
    return stamp


def same_moment(stored: FileStamp, now: FileStamp) -> bool:
    """Whether a stored stamp, settled or not, is of the file as it is now."""
    return stored.size == now.size and abs(stored.mtime_ns) == now.mtime_ns


def _folder_mtime(base: str, folder: str) -> int:
    try:
        return os.stat(f"{base}/{folder}" if folder else base).st_mtime_ns
    except OSError:
        return -1
