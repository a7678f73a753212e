"""Keeps an index as the disk is: looks whether it is, brings it up to date, and says what stood in the way."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dowse.errors import EmbedderError, IndexLocked, IndexMissing, IndexUnwritable
from dowse.indexing import tree_diff
from dowse.indexing.change_tracker import Listening
from dowse.indexing.decode import stamp_of
from dowse.stores.protocol import KnownFile, Snapshot, Store
from dowse.types import Candidate, FileStamp, IndexReport, IndexState, SearchResult, StoredFile

if TYPE_CHECKING:
    from dowse.indexing.pipeline import Progress, Recipe

CHECKED_FILES = 20_000
"""Trees up to this size are compared with the disk before an answer (3 microseconds a file), or listened to. Of larger
ones the folders are, which tell what came and what went, and the files in the answer: what was edited in another file
while nobody listened is taken in when it is in an answer, or by ``dowse index``."""

CHECK_PAUSE = 10
"""Where they are not, searches that follow a comparison within this many times the time it took go without one: in a
burst of searches, checking takes a tenth of the time at most. A search after a pause always checks."""

FEW_PATHS = 100
"""Up to so many files are asked for one by one, more with the list of all."""

LOCKED_SECONDS = 120.0
LOCKED_PAUSE = 0.2
"""How long, and how often, it is tried again while another process makes the index that is asked for."""

WAITING = "wait"
"""The stage that progress is told of meanwhile."""

Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Means:
    """What it takes to look at a tree and to write its index."""

    root: Path
    store: Store
    recipe: Callable[[], Recipe]  # for files that a search waits for
    index: Callable[[Progress | None], IndexReport]
    looks: bool  # whether changes are looked for
    read_only: bool


class Reading:
    """One round of answering: a snapshot of the index, and the check of the hits that it led to."""

    def __init__(
        self, freshness: Freshness, snapshot: Snapshot, notes: list[str], *, by_content: bool
    ) -> None:
        self.snapshot = snapshot
        self.notes = notes  # what stood in the way of a fresh index
        self.stale: list[Candidate] = []
        self._freshness = freshness
        self._by_content = by_content

    def verify(self, hits: Iterable[SearchResult]) -> tuple[SearchResult, ...]:
        """Compare the files of hits with the disk, and mark hits whose lines are not what the disk has."""
        hits = tuple(hits)
        self.stale = self._freshness.find_stale(self.snapshot, hits, by_content=self._by_content)
        changed = {file.path for file in self.stale}
        return tuple(hit._replace(fresh=False) if hit.path in changed else hit for hit in hits)


class Freshness:
    """Of one tree and its index. Safe to use from several threads: one looks or writes, the others wait."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._root, self._store = means.root, means.store
        self._next_check = 0.0
        self._last_check = 0.0
        self._check_wanted = 0.0
        self._writes = 0  # by this object
        self._outer_rules: tuple[Mapping[str, int], Mapping[str, int]] | None = None  # of all these folders
        self._listening = Listening(means.root)
        self._busy = threading.RLock()

    def close(self) -> None:
        """Stop listening; a later look begins anew."""
        with self._busy:
            self._listening.close()

    # --- the whole tree ---

    def check_soon(self) -> None:
        """Make sure that the next search looks at the tree, however short ago the last did."""
        # Not _next_check, which a look that is under way sets at its end.
        self._check_wanted = time.monotonic()

    def refresh(self, progress: Progress | None = None) -> list[str]:
        """Make sure there is an index and that it says what the disk says; what stood in the way."""
        with self.current(progress) as (_, notes):
            return notes

    @contextmanager
    def current(self, progress: Progress | None = None) -> Iterator[tuple[Snapshot, list[str]]]:
        """The index, made to say what the disk says, for reading; and what stood in the way.

        One thread at a time looks; the others wait, and need not look again if that began after they came.
        """
        asked, writes = time.monotonic(), self._writes
        notes: list[str] = []
        with ExitStack() as reading:
            snapshot = self._usable(reading)
            if snapshot is None:
                notes = self._first_run(progress)
            elif self._may_update:
                with self._busy:
                    if self._writes != writes:  # another thread's, while this one waited
                        reading.close()
                        snapshot = self._usable(reading)
                    is_due = self._last_check <= asked
                    if snapshot and is_due and (drift := self._due_drift(snapshot)):
                        reading.close()
                        notes, snapshot = self._take_in(drift, progress, is_all=True), None
            yield snapshot or reading.enter_context(self._store.snapshot()), notes

    def _usable(self, reading: ExitStack) -> Snapshot | None:
        """The newest generation, if there is one and it was made with these settings."""
        try:
            snapshot = reading.enter_context(self._store.snapshot())
        except IndexMissing:
            return None
        if snapshot.is_current:
            return snapshot
        reading.close()
        return None

    def _first_run(self, progress: Progress | None) -> list[str]:
        """Make the index, unless another thread or process has meanwhile; what took so long."""
        return patiently(lambda: self._made(progress), progress)

    def _made(self, progress: Progress | None) -> list[str]:
        with self._busy:
            state = self._store.state()
            if state is IndexState.CURRENT:
                return []
            if self._means.read_only:
                raise IndexMissing(f"the index of {self._root} is {state}: run 'dowse index' there")
            return [_said_of_first_run(state, self._means.index(progress), self._root)]

    def take_in(self, paths: Iterable[str]) -> list[str]:
        """Bring files that are said to have changed up to date, however large the tree; what stood in the way."""
        if self._store.state() is not IndexState.CURRENT:
            return self.refresh()
        with self._store.snapshot() as snapshot:
            drift = self._drift_among(snapshot, set(paths))
        return self._take_in(drift, None) if drift else []

    def pending(self) -> int | None:
        """How many files and folders changed since the index was written; None where nobody looks."""
        if self._store.state() is not IndexState.CURRENT:
            return None
        if (known := self._known()) is None:
            return None
        return tree_diff.known_changes(tree_diff.drift(self._root, *known), *known)

    def _due_drift(self, snapshot: Snapshot) -> tree_diff.Drift | None:
        """How the disk differs from the index, as far as it is looked at."""
        started = time.monotonic()
        heard = self._listening.heard(snapshot)
        if heard is not None and self._rules_hold(snapshot):
            drift = self._drift_among(snapshot, heard) if heard else None
        elif self._is_pausing(started):
            return None
        else:
            drift = self._compared(snapshot, started)
        self._last_check = started
        if not drift:
            self._listening.note_good(snapshot)
        return drift

    def _rules_hold(self, snapshot: Snapshot) -> bool:
        """Whether the ignore files outside of the tree, which nobody hears of, are as they were."""
        folders = snapshot.folders()
        if self._outer_rules is None or self._outer_rules[0] is not folders:
            self._outer_rules = folders, tree_diff.outer_rules(folders)
        return not tree_diff.have_moved(self._outer_rules[1])

    def _is_pausing(self, now: float) -> bool:
        """Whether all was compared a moment ago, which is good enough where nothing better can be had."""
        is_soon = now < self._next_check and self._check_wanted < self._last_check
        return is_soon and self._listening.is_impossible

    def _compared(self, snapshot: Snapshot, started: float) -> tree_diff.Drift:
        """How the disk differs from the index, by comparing everything; of a large tree, all folders."""
        self._listening.begin(snapshot)
        folders = snapshot.folders()
        is_large = snapshot.file_count() > CHECKED_FILES
        drift = tree_diff.drift(self._root, {} if is_large else snapshot.manifest(), folders)
        if is_large and drift.folders:
            drift = tree_diff.drift(self._root, _files_in(drift.folders, snapshot.manifest()), folders)
        done = time.monotonic()
        self._next_check = done + CHECK_PAUSE * (done - started)
        return drift

    def _drift_among(self, snapshot: Snapshot, paths: set[str]) -> tree_diff.Drift:
        """How the disk differs from the index in some places."""
        folders = snapshot.folders()
        above = {
            folder: folders[folder] for path in paths for folder in tree_diff.folders_above(path, folders)
        }
        manifest = snapshot.manifest() if len(paths) > FEW_PATHS else None
        find = manifest.get if manifest is not None else snapshot.file_at
        known: dict[str, KnownFile] = {path: file for path in paths if (file := find(path)) is not None}
        return tree_diff.drift(self._root, known, above)

    def _known(self) -> tuple[Mapping[str, KnownFile], Mapping[str, int]] | None:
        """The files and folders of the index; None if the tree is too large to look at every one."""
        with self._store.snapshot() as snapshot:
            if snapshot.file_count() > CHECKED_FILES:
                return None
            return snapshot.manifest(), snapshot.folders()

    @property
    def _may_update(self) -> bool:
        return self._means.looks and not self._means.read_only

    def _take_in(
        self, drift: tree_diff.Drift, progress: Progress | None, *, is_all: bool = False
    ) -> list[str]:
        """Bring the index up to date, unless that is not possible now: then it stays as it is, and this says so.

        ``is_all`` says that the index differs from the disk in nothing else.
        """
        with self._busy:
            with self._store.snapshot() as snapshot:
                is_all = is_all or self._listening.is_good(snapshot)
                folders = snapshot.folders()
            self._listening.doubt()
            try:
                self._write(drift, folders, progress)
            except (EmbedderError, IndexLocked, IndexUnwritable) as error:
                return [f"answered from the index as it was: {error}"]
            finally:
                self._writes += 1
            if is_all:
                with self._store.snapshot() as snapshot:
                    self._listening.note_good(snapshot)
        return []

    def _write(self, drift: tree_diff.Drift, folders: Mapping[str, int], progress: Progress | None) -> None:
        from dowse.indexing import pipeline

        if drift.rules_changed:
            self._means.index(progress)
        else:
            pipeline.update(self._root, self._store, self._means.recipe(), drift, folders)

    # --- an answer ---

    def readings(self, progress: Progress | None = None) -> Generator[Reading]:
        """Yield the fresh index for reading; once more, brought up to date, if a file of the answer had changed.

        The caller answers from ``snapshot`` and has the hits of the answer verified, in a loop of at most two rounds.
        """
        with self.current(progress) as (snapshot, notes):
            reading = Reading(self, snapshot, notes, by_content=not self._may_update)
            yield reading
        if not (reading.stale and self._may_update):
            return
        stale = tree_diff.Drift(tuple(reading.stale), (), {}, rules_changed=False)
        notes = [*notes, *self._take_in(stale, None)]
        with self._store.snapshot() as snapshot:
            yield Reading(self, snapshot, notes, by_content=True)

    def find_stale(
        self, snapshot: Snapshot, hits: Iterable[SearchResult], *, by_content: bool
    ) -> list[Candidate]:
        """Find files of an answer that have changed or gone since they were indexed.

        A checkout elsewhere has its own time stamps: only ``by_content`` it is sure that a file has changed.
        """
        stale, base = [], os.fspath(self._root)
        for path in {hit.path for hit in hits}:
            file = snapshot.file_at(path)
            try:
                status = os.lstat(f"{base}/{path}")
                stamp = stamp_of(status)
            except OSError:
                stamp = FileStamp(-1, -1)
            if file is not None and tree_diff.same_moment(file.stamp, stamp):
                continue
            if file is None or not (by_content and self._says_the_same(file, stamp)):
                stale.append(Candidate(path, stamp))
        return stale

    def _says_the_same(self, file: StoredFile, stamp: FileStamp) -> bool:
        from dowse.indexing import pipeline

        return stamp.size == file.stamp.size and pipeline.says_the_same(
            self._root, self._means.recipe(), file.path, file.content_hash
        )


def patiently(work: Callable[[], Done], progress: Progress | None) -> Done:
    """What the work returns; as long as another process writes the index, within reason, it is tried again."""
    until = time.monotonic() + LOCKED_SECONDS
    while True:
        try:
            return work()
        except IndexLocked:
            if time.monotonic() > until:
                raise
        if progress:
            progress(WAITING, 0, 0)
        time.sleep(LOCKED_PAUSE)


def _files_in(folders: Container[str], manifest: Mapping[str, KnownFile]) -> dict[str, KnownFile]:
    """The files that are directly in some folders."""
    return {path: known for path, known in manifest.items() if path.rpartition("/")[0] in folders}


def _said_of_first_run(state: IndexState, report: IndexReport, root: Path) -> str:
    """Why a search took longer than it will from now on, or why it cannot find anything."""
    if not report.indexed:
        return f"nothing to index in {root}: 'dowse index' says why"
    why = "there was no index" if state is IndexState.MISSING else f"the index was made with {state}"
    without = (
        f"; {report.without_vectors} without vectors: {report.why_without}" if report.why_without else ""
    )
    files = "1 file" if report.indexed == 1 else f"{report.indexed} files"
    return f"indexed {files} in {report.seconds:.1f} s first: {why}{without}"
