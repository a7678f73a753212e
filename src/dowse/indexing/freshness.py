"""Index freshness: detect stale files before a search, reindex them incrementally, and verify the hits against the
disk.

Notes that methods return say what kept the index from being fresh.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from itertools import dropwhile
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from dowse.errors import EmbedderError, IndexLocked, IndexMissing, IndexUnwritable
from dowse.frozen import frozen
from dowse.indexing import tree_diff
from dowse.indexing.change_tracker import ChangeTracker
from dowse.indexing.lock_retry import retry_while_locked
from dowse.indexing.stamps import is_same_stamp, stamp_of
from dowse.stores.protocol import Snapshot, Store
from dowse.types.answers import SearchResult
from dowse.types.discovered import FileStamp, FoundFile, IndexReport, WatchedTimes
from dowse.types.stored import IndexState, StoredFile

if TYPE_CHECKING:
    from dowse.indexing.pipeline import IndexConfig, Progress

CHECK_SECONDS = 2.0
"""A search compares files with the disk for no longer than this, which is enough for half a million on a local disk (4
microseconds a file). What is left is named in the answer."""

DOUBT_SECONDS = 20.0
"""For so long it goes on before it says that nothing good was found: what the query asks for may be new."""

CHECK_PAUSE_FACTOR = 10
"""Where watching is not possible, a search skips the check if the last one ended less than this many times its own
duration ago: in a burst of searches, checking takes a tenth of the time at most. A search after a pause always
checks."""

MAX_SINGLE_LOOKUPS = 100
"""Up to so many files are looked up one by one, more with the manifest of all."""


@frozen
class FreshnessContext:
    """What a freshness check needs: the tree, its store, and the configuration of indexing."""

    root: Path
    store: Store
    index_config: Callable[[], IndexConfig]  # for reindexing while a search waits
    index: Callable[[Progress | None], IndexReport]
    checks_changes: bool  # whether to check for changes
    read_only: bool


class FreshSnapshot(NamedTuple):
    """A snapshot of the index as the disk is, and what kept it from being that."""

    snapshot: Snapshot
    notes: list[str]
    unchecked: str = ""  # the first file that was not compared in time, as in a ``TreeDiff``
    is_compared: bool = True  # whether all before it was compared, not taken on trust


class Reading:
    """One round of answering, as a context: a snapshot of the index, and the check of the hits that it led to."""

    def __init__(
        self,
        freshness: Freshness,
        opened: AbstractContextManager[FreshSnapshot],
        *,
        by_content: bool,
    ) -> None:
        self.stale = tree_diff.TreeDiff()  # among the files of the hits
        self.unchecked = ""  # the first file that was not compared with the disk in time
        self.is_compared = True  # whether all before it was compared, not taken on trust
        self.is_doubtful = False  # whether the answer has nothing good
        self._notes: list[str] = []
        self._freshness = freshness
        self._opened = opened
        self._by_content = by_content

    def __enter__(self) -> Self:
        self.snapshot, self._notes, self.unchecked, self.is_compared = self._opened.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.__exit__(kind, error, trace)

    @property
    def notes(self) -> list[str]:
        """What stood in the way of a fresh index."""
        return [*self._notes, *([_describe_unchecked(self.unchecked)] if self.unchecked else [])]

    def verify(self, hits: Iterable[SearchResult], *, is_good: bool = True) -> tuple[SearchResult, ...]:
        """Compare the files of hits with the disk, and mark hits whose lines are not what the disk has.

        ``is_good`` says whether there is a good one among them.
        """
        hits = tuple(hits)
        self.is_doubtful = not (hits and is_good)
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
        self._unchecked = ""  # where the last comparison ended, if not at the end
        self._last_compared = 0.0  # when it began
        self._outer_rules: tuple[WatchedTimes, WatchedTimes] | None = None  # all that is watched, and they
        self._busy = threading.RLock()

    def close(self) -> None:
        """Stop watching; a later check starts again."""
        with self._busy:
            if "_tracker" in self.__dict__:
                self._tracker.close()

    @cached_property
    def _tracker(self) -> ChangeTracker:
        """What watches the tree, from the second check on: a process that searches once does not need it."""
        return ChangeTracker(self._root)

    # --- the whole tree ---

    def force_check(self) -> None:
        """Make sure that the next search checks the tree, however short ago the last one did."""
        # Not _next_check, which a check that is under way sets at its end.
        self._forced_check = time.monotonic()

    def refresh(self, progress: Progress | None = None) -> list[str]:
        """Make the index fresh, in more time than a search has; return notes on what prevented it."""
        with self.fresh_snapshot(progress) as (_, notes, unchecked, _):
            rest = self._diff_rest(unchecked) if unchecked else tree_diff.TreeDiff()
        notes = [*notes, *(self._reindex(rest, progress) if rest else [])]
        return [*notes, *([_describe_unchecked(rest.unchecked)] if rest.unchecked else [])]

    @contextmanager
    def fresh_snapshot(self, progress: Progress | None = None) -> Iterator[FreshSnapshot]:
        """Open a snapshot of the index after making it fresh.

        One thread at a time checks; the others wait, and skip their check if that one began after they came.
        """
        arrived, writes = time.monotonic(), self._writes
        notes: list[str] = []
        unchecked = ""
        with ExitStack() as reading:
            snapshot = self._open_current(reading)
            was_built = snapshot is None
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
                        notes, snapshot = self._reindex(diff, progress, is_all=not diff.unchecked), None
                    unchecked = self._unchecked
            is_compared = was_built or self._last_compared >= arrived
            snapshot = snapshot or reading.enter_context(self._store.snapshot())
            yield FreshSnapshot(snapshot, notes, unchecked, is_compared)

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
        """Count the files and folders that changed since the index was written; None if that takes too long."""
        if self._store.state() is not IndexState.CURRENT:
            return None
        with self._store.snapshot() as snapshot:
            watched = snapshot.list_watched()
            until = time.monotonic() + DOUBT_SECONDS
            diff = tree_diff.diff_tree(self._root, snapshot.list_stamps(), watched, until)
            return None if diff.unchecked else tree_diff.count_changes(diff, snapshot.file_at, watched)

    def _check(self, snapshot: Snapshot) -> tree_diff.TreeDiff | None:
        """Find how the disk differs from the index, by events or by a comparison; None if no check is due."""
        started = time.monotonic()
        if not self._last_check:
            diff = self._compare(snapshot, started, started + CHECK_SECONDS)
            self._last_check = started
            return diff
        tracker = self._tracker
        changed = tracker.drain_events(snapshot)
        if changed is not None and self._outer_rules_hold(snapshot):
            found = self._diff_paths(snapshot, changed) if changed else None
        elif tracker.is_unavailable and started < self._next_check and self._forced_check < self._last_check:
            return None  # all was compared a moment ago, which has to do where the tree cannot be watched
        else:
            tracker.begin(snapshot)
            until = math.inf if tracker.is_watching else started + CHECK_SECONDS
            found = self._compare(snapshot, started, until)
        self._last_check = started
        if not (found or self._unchecked):
            tracker.mark_synced(snapshot)
        return found

    def _outer_rules_hold(self, snapshot: Snapshot) -> bool:
        """Return whether the ignore files outside of the tree, which are not watched, are as they were."""
        watched = snapshot.list_watched()
        if self._outer_rules is None or self._outer_rules[0] is not watched:
            self._outer_rules = watched, tree_diff.select_outer_rules(watched)
        return not tree_diff.have_changed(self._outer_rules[1])

    def _compare(self, snapshot: Snapshot, started: float, until: float) -> tree_diff.TreeDiff:
        """Compare everything with the disk, up to a moment."""
        diff = tree_diff.diff_tree(self._root, snapshot.list_stamps(), snapshot.list_watched(), until)
        self._unchecked, self._last_compared = diff.unchecked, started
        done = time.monotonic()
        self._next_check = done + CHECK_PAUSE_FACTOR * (done - started)
        return diff

    def _diff_in_doubt(self, reading: Reading) -> tree_diff.TreeDiff:
        """Compare what a round of answering did not: what its time box left, or all that it took on trust.

        Events do not tell of everything (a hard link, a mapped file), but are trusted shortly after a comparison.
        """
        if reading.unchecked:
            return self._diff_rest(reading.unchecked)
        with self._busy, self._store.snapshot() as snapshot:
            now = time.monotonic()
            if reading.is_compared or (self._tracker.is_watching and now < self._next_check):
                return tree_diff.TreeDiff()
            return self._compare(snapshot, now, now + DOUBT_SECONDS)

    def _diff_rest(self, first: str) -> tree_diff.TreeDiff:
        """Compare the files from one on, in order of path, with the disk: what a time box has left."""
        with self._busy, self._store.snapshot() as snapshot:
            rest = dropwhile(lambda row: row[0] < first, snapshot.list_stamps())
            diff = tree_diff.diff_tree(self._root, rest, {}, time.monotonic() + DOUBT_SECONDS)
            self._unchecked = diff.unchecked
        return diff

    def _diff_paths(self, snapshot: Snapshot, paths: set[str]) -> tree_diff.TreeDiff:
        """Compare some paths with the disk."""
        watched = snapshot.list_watched()
        around = {
            found: watched[found] for path in paths for found in tree_diff.find_watched_around(path, watched)
        }
        manifest = snapshot.manifest() if len(paths) > MAX_SINGLE_LOOKUPS else None
        find = manifest.get if manifest is not None else snapshot.file_at
        known = [(path, *file.stamp) for path in paths if (file := find(path)) is not None]
        return tree_diff.diff_tree(self._root, known, around)

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

        An answer without a good hit has everything compared that was not, and is given again if need be.

        The caller opens each round, answers from its snapshot, and has the hits of the answer verified.
        """
        first = Reading(self, self.fresh_snapshot(progress), by_content=not self._may_update)
        yield first
        if not self._may_update:
            return
        stale = first.stale
        if first.is_doubtful:
            stale = tree_diff.merge_diffs(stale, self._diff_in_doubt(first))
            first.unchecked = stale.unchecked
        if stale:
            notes = [*first._notes, *self._reindex(stale, None)]
            yield Reading(self, self._open_as_it_is(notes, first.unchecked), by_content=True)

    @contextmanager
    def _open_as_it_is(self, notes: list[str], unchecked: str) -> Iterator[FreshSnapshot]:
        with self._store.snapshot() as snapshot:
            yield FreshSnapshot(snapshot, notes, unchecked)

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


def _describe_unchecked(first: str) -> str:
    """Say which part of the tree was not compared with the disk."""
    return (
        f"not compared with the disk in time: the files from {first} on, in order of path; "
        "what was edited there since may be missing ('dowse index' compares everything)"
    )


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
