"""Keeps an index as the disk is: looks whether it is, brings it up to date, and says what stood in the way."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dowse.errors import EmbedderError, IndexLocked, IndexMissing, IndexUnwritable
from dowse.indexing import changes
from dowse.stores.base import KnownFile, Snapshot, Store
from dowse.types import Candidate, FileStamp, IndexReport, IndexState, SearchResult, StoredFile

if TYPE_CHECKING:
    from dowse.indexing.pipeline import Progress, Recipe

CHECKED_FILES = 20_000
"""Trees up to this size are compared with the disk before every answer (3 microseconds a file); of larger
ones, the files in the answer."""

CHECK_PAUSE = 10
"""After such a comparison, searches that follow within this many times the time it took go without one: in a
burst of searches, checking takes a tenth of the time at most. A search after a pause always checks."""

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Means:
    """What it takes to look at a tree and to write its index."""

    root: Path
    store: Store
    recipe: Callable[[], Recipe]  # for files that a search waits for
    index: Callable[[Progress | None], IndexReport]
    looks: bool  # whether changes are looked for
    read_only: bool


class Freshness:
    """Of one tree and its index. Safe to use from several threads: one looks or writes, the others wait."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._root, self._store = means.root, means.store
        self._next_check = 0.0
        self._last_check = 0.0
        self._check_wanted = 0.0
        self._busy = threading.RLock()

    # --- the whole tree ---

    def check_soon(self) -> None:
        """Make the next look a thorough one, however short ago the last was."""
        self._check_wanted = (
            time.monotonic()
        )  # not _next_check, which a look that is under way sets at its end

    def refresh(self, progress: Progress | None = None) -> list[str]:
        """Make sure there is an index and that it says what the disk says; what stood in the way.

        One thread at a time looks; the others wait, and need not look again if that began after they came.
        """
        asked = time.monotonic()
        with self._busy:
            return [] if self._last_check > asked else self._refresh_now(progress)

    def _refresh_now(self, progress: Progress | None) -> list[str]:
        state = self._store.state()
        if state is not IndexState.CURRENT:
            if self._means.read_only:
                raise IndexMissing(f"the index of {self._root} is {state}: run 'dowse index' there")
            return [_first_run(state, self._means.index(progress), self._root)]
        drift = self._due_drift() if self._may_update else None
        return self._take_in(drift, progress) if drift else []

    def take_in(self, paths: Iterable[str]) -> list[str]:
        """Bring files that are said to have changed up to date, however large the tree; what stood in the way."""
        if self._store.state() is not IndexState.CURRENT:
            return self.refresh()
        with self._store.snapshot() as snapshot:
            manifest, folders = snapshot.manifest(), snapshot.folders()
        known = {path: manifest[path] for path in paths if path in manifest}
        above = {folder: folders[folder] for path in paths for folder in changes.folders_above(path, folders)}
        drift = changes.drift(self._root, known, above)
        return self._take_in(drift, None) if drift else []

    def pending(self) -> int | None:
        """How many files and folders changed since the index was written; None where nobody looks."""
        if self._store.state() is not IndexState.CURRENT:
            return None
        if (known := self._known()) is None:
            return None
        return changes.known_changes(changes.drift(self._root, *known), *known)

    def _due_drift(self) -> changes.Drift | None:
        """How the disk differs from the index, unless that was looked at a moment ago."""
        started = time.monotonic()
        if started < self._next_check and self._check_wanted < self._last_check:
            return None
        self._last_check = started
        drift = self._drift()
        done = time.monotonic()
        self._next_check = done + CHECK_PAUSE * (done - started)
        return drift

    def _drift(self) -> changes.Drift | None:
        """How the disk differs from the index; None where nobody looks."""
        known = self._known()
        return None if known is None else changes.drift(self._root, *known)

    def _known(self) -> tuple[Mapping[str, KnownFile], Mapping[str, int]] | None:
        """The files and folders of the index; None if the tree is too large to look at every one."""
        with self._store.snapshot() as snapshot:
            if snapshot.file_count() > CHECKED_FILES:
                return None
            return snapshot.manifest(), snapshot.folders()

    @property
    def _may_update(self) -> bool:
        return self._means.looks and not self._means.read_only

    def _take_in(self, drift: changes.Drift, progress: Progress | None) -> list[str]:
        """Bring the index up to date, unless that is not possible now: then it stays as it is, and this says so."""
        from dowse.indexing import pipeline

        with self._busy:
            try:
                if drift.rules_changed:
                    self._means.index(progress)
                else:
                    with self._store.snapshot() as snapshot:
                        folders = snapshot.folders()
                    pipeline.update(self._root, self._store, self._means.recipe(), drift, folders)
            except (EmbedderError, IndexLocked, IndexUnwritable) as error:
                return [f"answered from the index as it was: {error}"]
        return []

    # --- an answer ---

    def checked(
        self, find: Callable[[Snapshot], Found], shown: Callable[[Found], Iterable[SearchResult]]
    ) -> tuple[Found, tuple[SearchResult, ...], list[str]]:
        """What is found, with the hits that it shows; found once more if a file of these has changed or gone.

        Hits whose lines are not what the disk has are marked; notes say what stood in the way.
        """
        notes: list[str] = []
        with self._store.snapshot() as snapshot:
            found = find(snapshot)
            stale = self._stale(snapshot, shown(found), by_content=not self._may_update)
        if stale and self._may_update:
            notes = self._take_in(changes.Drift(tuple(stale), (), {}, rules_changed=False), None)
            with self._store.snapshot() as snapshot:
                found = find(snapshot)
                stale = self._stale(snapshot, shown(found), by_content=True)
        changed = {candidate.path for candidate in stale}
        marked = (replace(hit, fresh=False) if hit.path in changed else hit for hit in shown(found))
        return found, tuple(marked), notes

    def _stale(
        self, snapshot: Snapshot, hits: Iterable[SearchResult], *, by_content: bool
    ) -> list[Candidate]:
        """Files of an answer that have changed or gone since they were indexed.

        A checkout elsewhere has its own time stamps: only ``by_content`` it is sure that a file has changed.
        """
        stale, base = [], os.fspath(self._root)
        for path in {hit.path for hit in hits}:
            file = snapshot.file_at(path)
            try:
                status = os.lstat(f"{base}/{path}")
                stamp = FileStamp(status.st_size, status.st_mtime_ns)
            except OSError:
                stamp = FileStamp(-1, -1)
            if file is not None and changes.same_moment(file.stamp, stamp):
                continue
            if file is None or not (by_content and self._says_the_same(file, stamp)):
                stale.append(Candidate(path, stamp))
        return stale

    def _says_the_same(self, file: StoredFile, stamp: FileStamp) -> bool:
        from dowse.indexing import pipeline

        return stamp.size == file.stamp.size and pipeline.says_the_same(
            self._root, self._means.recipe(), file.path, file.content_hash
        )


def _first_run(state: IndexState, report: IndexReport, root: Path) -> str:
    """Why a search took longer than it will from now on, or why it cannot find anything."""
    if not report.indexed:
        return f"nothing to index in {root}: 'dowse index' says why"
    why = "there was no index" if state is IndexState.MISSING else f"the index was made with {state}"
    without = (
        f"; {report.without_vectors} without vectors: {report.why_without}" if report.why_without else ""
    )
    return f"indexed {report.indexed} files in {report.seconds:.1f} s first: {why}{without}"
