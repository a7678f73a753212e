"""Tree diff: compare the files on disk with the index by stat (size, mtime, ctime), to find changed, new and deleted
files.

A stamp that is too recent is not trusted, since the file may change again under the same time ("racy" in git).
"""

from __future__ import annotations

import os
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dowse.indexing.decode import stamp_of
from dowse.indexing.ignore_files import IGNORE_FILES, changed_time
from dowse.stores.protocol import KnownFile
from dowse.types.discovered import OUTER_RULES_PREFIX, SKIPPED_PREFIX, FileStamp, Folder, FoundFile, Skipped

TRUSTED_AGE_NS = 50_000_000
COARSE_TRUSTED_AGE_NS = 2_000_000_000
"""A file read this soon after its last change may change again under the same time stamp (file systems count
in steps; some in whole seconds): its stamp is not trusted, so that it is checked again."""


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """The work of an indexing run: what to read and to remove, and what else the walk found."""

    read: tuple[FoundFile, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[Skipped, ...]
    folders: Mapping[str, int]

    @property
    def seen(self) -> int:
        """How many files discovery came across, not counting those in folders that are skipped as a whole."""
        return len(self.read) + self.unchanged + sum(not skipped.is_folder for skipped in self.skipped)


def plan_run(found: Iterable[FoundFile | Skipped | Folder], manifest: Mapping[str, KnownFile]) -> IndexPlan:
    """Decide which files to read and which paths to remove, after a complete walk."""
    read: list[FoundFile] = []
    skipped: list[Skipped] = []
    folders: dict[str, int] = {}
    known: set[str] = set()
    for item in found:
        if isinstance(item, FoundFile):
            if item.path in manifest and manifest[item.path].stamp == item.stamp:
                known.add(item.path)
            else:
                read.append(item)
        elif isinstance(item, Folder):
            folders[item.path] = trusted_time(item.changed_ns)
        else:
            skipped.append(item)
    removed = manifest.keys() - known - {candidate.path for candidate in read}
    return IndexPlan(tuple(read), tuple(sorted(removed)), len(known), tuple(skipped), folders)


@dataclass(frozen=True, slots=True)
class TreeDiff:
    """How the disk differs from the index, as far as ``stat`` of the known paths tells: no walk."""

    changed: tuple[FoundFile, ...]
    missing: tuple[str, ...]
    folders: Mapping[str, int]  # in which names changed, with their new times; -1 for what is to be removed
    rules_changed: bool

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.folders)


def diff_tree(root: Path, manifest: Mapping[str, KnownFile], folders: Mapping[str, int]) -> TreeDiff:
    """Diff the tree against the index by ``stat``; new files show in the time stamps of their folders."""
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
    stale_folders = {
        folder: now for folder, then in folders.items() if (now := _read_folder_time(base, folder)) != then
    }
    rules_changed = any(folder.startswith(OUTER_RULES_PREFIX) for folder in stale_folders)
    for file in [folder for folder in stale_folders if _is_skipped_file(folder)]:
        changed += _stat_file(base, file.removeprefix(SKIPPED_PREFIX))
        stale_folders[file] = -1
    rules_changed |= has_ignore_file([*missing, *(candidate.path for candidate in changed)])
    return TreeDiff(tuple(changed), tuple(missing), stale_folders, rules_changed)


def known_folders_above(path: str, known: Container[str]) -> Iterator[str]:
    """Yield the nearest known folder around a path, and the path itself if it is a known folder or skipped file."""
    yield from (name for name in (path, SKIPPED_PREFIX + path) if name in known)
    while path:
        path = path.rpartition("/")[0]
        if path in known:
            yield path
            return


def count_changes(diff: TreeDiff, manifest: Mapping[str, KnownFile], folders: Mapping[str, int]) -> int:
    """Count the files and folders that changed for sure, without those whose stamps are only not trusted."""
    changed = sum(
        not is_same_stamp(manifest[found.path].stamp, found.stamp)
        if found.path in manifest
        else abs(folders[SKIPPED_PREFIX + found.path]) != found.stamp.changed_ns
        for found in diff.changed
    )
    folder_changes = sum(
        abs(folders[folder]) != now for folder, now in diff.folders.items() if not _is_skipped_file(folder)
    )
    return changed + len(diff.missing) + folder_changes


def has_ignore_file(paths: Iterable[str]) -> bool:
    """Return whether one of these files is an ignore file, which decides about others."""
    return any(path.rpartition("/")[2] in IGNORE_FILES for path in paths)


def trusted_stamp(stamp: FileStamp) -> FileStamp:
    """Make the stamp to store for a file that was just read: one that matches nothing if it is too new to trust."""
    mtime_ns = trusted_time(stamp.mtime_ns)
    if mtime_ns > 0 > trusted_time(stamp.ctime_ns):  # written just now under an older time
        mtime_ns = -mtime_ns
    return stamp._replace(mtime_ns=mtime_ns)


def trusted_time(mtime_ns: int) -> int:
    """Make the time to store: negated, so that it never matches, if the file may change again under the same time."""
    is_coarse = mtime_ns % 1_000_000_000 == 0
    age = time.time_ns() - mtime_ns
    return -mtime_ns if 0 <= age < (COARSE_TRUSTED_AGE_NS if is_coarse else TRUSTED_AGE_NS) else mtime_ns


def is_same_stamp(stored: FileStamp, now: FileStamp) -> bool:
    """Return whether a stored stamp, trusted or not, is that of the file as it is now."""
    return stored._replace(mtime_ns=abs(stored.mtime_ns)) == now


def _stat_file(base: str, path: str) -> Iterator[FoundFile]:
    try:
        status = os.lstat(f"{base}/{path}")
    except OSError:
        return
    yield FoundFile(path, stamp_of(status))


def _is_skipped_file(folder: str) -> bool:
    """Return whether a key stands for a file that is skipped for its content."""
    return folder.startswith(SKIPPED_PREFIX) and not folder.startswith(OUTER_RULES_PREFIX)


def outer_rules(folders: Mapping[str, int]) -> dict[str, int]:
    """Select the ignore files outside of the tree from the folders of an index."""
    return {folder: then for folder, then in folders.items() if folder.startswith(OUTER_RULES_PREFIX)}


def have_changed(rules: Mapping[str, int]) -> bool:
    """Return whether one of these ignore files was changed since."""
    return any(_read_folder_time("", file) != then for file, then in rules.items())


def _read_folder_time(base: str, folder: str) -> int:
    if folder.startswith(OUTER_RULES_PREFIX):
        return changed_time(folder.removeprefix(OUTER_RULES_PREFIX))
    return changed_time(f"{base}/{folder}" if folder else base)
