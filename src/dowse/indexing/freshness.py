"""Index freshness: detect stale files before a search, reindex them incrementally, and verify the hits against the
disk.

Notes that methods return say what kept the index from being fresh.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from dowse.errors import EmbedderError, IndexLocked, IndexMissing, IndexUnwritable
from dowse.indexing import tree_diff
from dowse.indexing.change_tracker import ChangeTracker
from dowse.indexing.stamps import is_same_stamp, stamp_of
from dowse.stores.protocol import KnownFile, Snapshot, Store
from dowse.types.answers import SearchResult
from dowse.types.discovered import FileStamp, FoundFile, IndexReport, WatchedTimes
from dowse.types.stored import IndexState, StoredFile

if TYPE_CHECKING:
    from dowse.indexing.pipeline import IndexConfig, Progress

MAX_CHECKED_FILES = 20_000
"""Trees up to this size are compared with the disk before a search (3 microseconds a file), or watched. Of larger ones
only the folders are, which show new and removed files, and the files in the response: an edit of another file that
happened while nobody watched is indexed when that file is a hit, or by ``dowse index``."""

CHECK_PAUSE_FACTOR = 10
"""Where watching is not possible, a search skips the check if the last one ended less than this many times its own
duration ago: in a burst of searches, checking takes a tenth of the time at most. A search after a pause always
checks."""

MAX_SINGLE_LOOKUPS = 100
"""Up to so many files are looked up one by one, more with the manifest of all."""

LOCKED_SECONDS = 120.0
LOCKED_PAUSE_SECONDS = 0.2
"""How long, and how often, work is tried again while another process writes the index."""

WAIT_STAGE = "wait"
"""The stage that is reported as progress meanwhile."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class FreshnessContext:
    """What a freshness check needs: the tree, its store, and the configuration of indexing."""

    root: Path
    store: Store
    index_config: Callable[[], IndexConfig]  # for reindexing while a search waits
    index: Callable[[Progress | None], IndexReport]
    checks_changes: bool  # whether to check for changes
    read_only: bool


class Reading:
    """One round of answering, as a context: a snapshot of the index, and the check of the hits that it led to."""

    def __init__(
        self,
        freshness: Freshness,
        opened: AbstractContextManager[tuple[Snapshot, list[str]]],
        *,
        by_content: bool,
    ) -> None:
        self.stale = tree_diff.TreeDiff()  # among the files of the hits
        self.notes: list[str] = []  # what stood in the way of a fresh index
        self._freshness = freshness
        self._opened = opened
        self._by_content = by_content

    def __enter__(self) -> Self:
        self.snapshot, self.notes = self._opened.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.__exit__(kind, error, trace)

    def verify(self, hits: Iterable[SearchResult]) -> tuple[SearchResult, ...]:
        """Compare the files of hits with the disk, and mark hits whose lines are not what the disk has."""
        hits = tuple(hits)
        self.stale = self._freshness.find_stale(self.snapshot, hits, by_content=self._by_content)
        changed = {*self.stale.missing, *(file.path for file in self.stale.changed)}
        return tuple(hit._replace(fresh=False) if hit.path in changed else hit for hit in hits)


class Freshness:
    """Keeps one index fresh. Safe to use from several threads: one checks or writes, the others wait."""

    def __init__(self, context: FreshnessContext) -> None:
        self._context = context
        self._root, self._store = context.root, context.store
        self._may_update = context.checks_changes and not context.read_only
        self._next_check = 0.0
        self._last_check = 0.0
        self._forced_check = 0.0
        self._writes = 0  # by this object
        self._outer_rules: tuple[WatchedTimes, WatchedTimes] | None = None  # all that is watched, and they
        self._tracker = ChangeTracker(context.root)
        self._busy = threading.RLock()

    def close(self) -> None:
        """Stop watching; a later check starts again."""
        with self._busy:
            self._tracker.close()

    # --- the whole tree ---

    def force_check(self) -> None:
        """Make sure that the next search checks the tree, however short ago the last one did."""
        # Not _next_check, which a check that is under way sets at its end.
        self._forced_check = time.monotonic()

    def refresh(self, progress: Progress | None = None) -> list[str]:
        """Make the index fresh; return notes on what prevented it."""
        with self.fresh_snapshot(progress) as (_, notes):
            return notes

    @contextmanager
    def fresh_snapshot(self, progress: Progress | None = None) -> Iterator[tuple[Snapshot, list[str]]]:
        """Open a snapshot of the index after making it fresh; yield it with notes.

        One thread at a time checks; the others wait, and skip their check if that one began after they came.
        """
        arrived, writes = time.monotonic(), self._writes
        notes: list[str] = []
        with ExitStack() as reading:
            snapshot = self._open_current(reading)
            if snapshot is None:
                notes = retry_while_locked(lambda: self._build(progress), progress)
            elif self._may_update:
                with self._busy:
                    if self._writes != writes:  # another thread's, while this one waited
                        reading.close()
                        snapshot = self._open_current(reading)
                    is_due = self._last_check <= arrived
                    if snapshot and is_due and (diff := self._check(snapshot)):
                        reading.close()
                        notes, snapshot = self._reindex(diff, progress, is_all=True), None
            yield snapshot or reading.enter_context(self._store.snapshot()), notes

    def _open_current(self, reading: ExitStack) -> Snapshot | None:
        """Open the newest generation, if there is one and it was made with these settings."""
        try:
            snapshot = reading.enter_context(self._store.snapshot())
        except IndexMissing:
            return None
        if snapshot.is_current:
            return snapshot
        reading.close()
        return None

    def _build(self, progress: Progress | None) -> list[str]:
        """Build the index, unless another thread or process did meanwhile; return notes."""
        with self._busy:
            state = self._store.state()
            if state is IndexState.CURRENT:
                return []
            if self._context.read_only:
                raise IndexMissing(f"the index of {self._root} is {state}: run 'dowse index' there")
            return [_describe_first_run(state, self._context.index(progress), self._root)]

    def reindex(self, paths: Iterable[str]) -> list[str]:
        """Reindex files that are reported as changed, however large the tree; return notes."""
        if self._store.state() is not IndexState.CURRENT:
            return self.refresh()
        with self._store.snapshot() as snapshot:
            diff = self._diff_paths(snapshot, set(paths))
        return self._reindex(diff, None) if diff else []

    def count_pending(self) -> int | None:
        """Count the files and folders that changed since the index was written; None if the tree is too large."""
        if self._store.state() is not IndexState.CURRENT:
            return None
        if (known := self._load_known()) is None:
            return None
        return tree_diff.count_changes(tree_diff.diff_tree(self._root, *known), *known)

    def _check(self, snapshot: Snapshot) -> tree_diff.TreeDiff | None:
        """Find how the disk differs from the index, by events or by a comparison; None if no check is due."""
        started = time.monotonic()
        changed = self._tracker.drain_events(snapshot)
        if changed is not None and self._outer_rules_hold(snapshot):
            diff = self._diff_paths(snapshot, changed) if changed else None
        elif (
            self._tracker.is_unavailable
            and started < self._next_check
            and self._forced_check < self._last_check
        ):
            return None  # all was compared a moment ago, which has to do where the tree cannot be watched
        else:
            diff = self._compare(snapshot, started)
        self._last_check = started
        if not diff:
            self._tracker.mark_synced(snapshot)
        return diff

    def _outer_rules_hold(self, snapshot: Snapshot) -> bool:
        """Return whether the ignore files outside of the tree, which are not watched, are as they were."""
        watched = snapshot.list_watched()
        if self._outer_rules is None or self._outer_rules[0] is not watched:
            self._outer_rules = watched, tree_diff.select_outer_rules(watched)
        return not tree_diff.have_changed(self._outer_rules[1])

    def _compare(self, snapshot: Snapshot, started: float) -> tree_diff.TreeDiff:
        """Compare everything with the disk; of a large tree, all folders and the files in those that changed."""
        self._tracker.begin(snapshot)
        watched = snapshot.list_watched()
        is_large = snapshot.file_count() > MAX_CHECKED_FILES
        diff = tree_diff.diff_tree(self._root, {} if is_large else snapshot.manifest(), watched)
        if is_large and (folders := diff.folders):
            files = snapshot.manifest().items()
            inside = {path: known for path, known in files if path.rpartition("/")[0] in folders}
            diff = tree_diff.diff_tree(self._root, inside, watched)
        done = time.monotonic()
        self._next_check = done + CHECK_PAUSE_FACTOR * (done - started)
        return diff

    def _diff_paths(self, snapshot: Snapshot, paths: set[str]) -> tree_diff.TreeDiff:
        """Compare some paths with the disk."""
        watched = snapshot.list_watched()
        around = {
            found: watched[found] for path in paths for found in tree_diff.find_watched_around(path, watched)
        }
        manifest = snapshot.manifest() if len(paths) > MAX_SINGLE_LOOKUPS else None
        find = manifest.get if manifest is not None else snapshot.file_at
        known: dict[str, KnownFile] = {path: file for path in paths if (file := find(path)) is not None}
        return tree_diff.diff_tree(self._root, known, around)

    def _load_known(self) -> tuple[Mapping[str, KnownFile], WatchedTimes] | None:
        """Load the files of the index and what else is watched; None if the tree is too large to check every one."""
        with self._store.snapshot() as snapshot:
            if snapshot.file_count() > MAX_CHECKED_FILES:
                return None
            return snapshot.manifest(), snapshot.list_watched()

    def _reindex(
        self, diff: tree_diff.TreeDiff, progress: Progress | None, *, is_all: bool = False
    ) -> list[str]:
        """Reindex what changed; if that is not possible now, return a note that the index stays as it is.

        ``is_all`` says that the index differs from the disk in nothing else.
        """
        with self._busy:
            with self._store.snapshot() as snapshot:
                is_all = is_all or self._tracker.is_synced(snapshot)
                watched = snapshot.list_watched()
            self._tracker.invalidate()
            try:
                self._write(diff, watched, progress)
            except (EmbedderError, IndexLocked, IndexUnwritable) as error:
                return [f"answered from the index as it was: {error}"]
            finally:
                self._writes += 1
            if is_all:
                with self._store.snapshot() as snapshot:
                    self._tracker.mark_synced(snapshot)
        return []

    def _write(self, diff: tree_diff.TreeDiff, watched: WatchedTimes, progress: Progress | None) -> None:
        from dowse.indexing import pipeline

        if diff.rules_changed:
            self._context.index(progress)
        else:
            pipeline.update(self._root, self._store, self._context.index_config(), diff, watched)

    # --- the hits of one search ---

    def readings(self, progress: Progress | None = None) -> Iterator[Reading]:
        """Yield a round of answering from the fresh index; a second one, reindexed, if a file of it had changed.

        The caller opens each round, answers from its snapshot, and has the hits of the answer verified.
        """
        first = Reading(self, self.fresh_snapshot(progress), by_content=not self._may_update)
        yield first
        if first.stale and self._may_update:
            notes = [*first.notes, *self._reindex(first.stale, None)]
            yield Reading(self, self._open_as_it_is(notes), by_content=True)

    @contextmanager
    def _open_as_it_is(self, notes: list[str]) -> Iterator[tuple[Snapshot, list[str]]]:
        with self._store.snapshot() as snapshot:
            yield snapshot, notes

    def find_stale(
        self, snapshot: Snapshot, hits: Iterable[SearchResult], *, by_content: bool
    ) -> tree_diff.TreeDiff:
        """Find the files of hits that have changed or gone since they were indexed.

        A checkout elsewhere has its own time stamps: only ``by_content`` is it sure that a file has changed.
        """
        changed, missing, base = [], [], os.fspath(self._root)
        for path in {hit.path for hit in hits}:
            file = snapshot.file_at(path)
            try:
                stamp = stamp_of(os.lstat(f"{base}/{path}"))
            except OSError:
                missing.append(path)
                continue
            if file is not None and is_same_stamp(file.stamp, stamp):
                continue
            if file is None or not (by_content and self._content_unchanged(file, stamp)):
                changed.append(FoundFile(path, stamp))
        return tree_diff.TreeDiff(tuple(changed), tuple(missing))

    def _content_unchanged(self, file: StoredFile, stamp: FileStamp) -> bool:
        from dowse.indexing import pipeline

        return stamp.size == file.stamp.size and pipeline.content_unchanged(
            self._root, self._context.index_config(), file.path, file.content_hash
        )


def retry_while_locked(work: Callable[[], Result], progress: Progress | None) -> Result:
    """Do work, again and again for a while if another process is writing the index; return its result."""
    until = time.monotonic() + LOCKED_SECONDS
    while True:
        try:
            return work()
        except IndexLocked:
            if time.monotonic() > until:
                raise
        if progress:
            progress(WAIT_STAGE, 0, 0)
        time.sleep(LOCKED_PAUSE_SECONDS)


def _describe_first_run(state: IndexState, report: IndexReport, root: Path) -> str:
    """Say why the first search took longer than later ones will, or why it cannot find anything."""
    if not report.indexed:
        return f"nothing to index in {root}: 'dowse index' says why"
    why = "there was no index" if state is IndexState.MISSING else f"the index was made with {state}"
    without = (
        f"; {report.without_vectors} without vectors: {report.why_without}" if report.why_without else ""
    )
    files = "1 file" if report.indexed == 1 else f"{report.indexed} files"
    return f"indexed {files} in {report.seconds:.1f} s first: {why}{without}"
