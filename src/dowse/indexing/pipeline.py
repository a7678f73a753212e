"""Indexing from end to end: discover, compare, read, understand, embed, store.

One bad file never stops a run: it is left out with a reason, and the report says so.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import tee
from pathlib import Path
from typing import NamedTuple

from dowse.code import file_roles, parsing, secrets
from dowse.embedders.embedder import Embedder, Preparing
from dowse.gc_pause import uncollected
from dowse.indexing import tree_diff
from dowse.indexing.analyze_file import VERSION, Task, Understanding
from dowse.indexing.decode import read
from dowse.indexing.discover import Again, Rules, discover
from dowse.indexing.discover import why as judged
from dowse.indexing.embed import Embedding
from dowse.indexing.workers import grouped, reason, understand_all
from dowse.stores.protocol import KnownFile, Store, Writer
from dowse.types import (
    LEFT_OUT,
    Candidate,
    FileStamp,
    Folder,
    IndexReport,
    MaskedSecret,
    ParsedFile,
    Skipped,
    SkipReason,
    SourceFile,
)

BATCH_BYTES = 8_000_000
"""Source bytes per commit: what a kill can lose, against what a commit costs."""

Progress = Callable[[str, int, int], None]
"""Called with a stage, how much is done and how much there is to do (0: not known)."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides what a tree becomes in the index."""

    rules: Rules
    understanding: Understanding
    mask_secrets: bool
    content_key: str  # the settings that change what a content becomes, as text
    embedder: Embedder | None
    processes: int
    without_vectors: bool = False  # go on if the embedder fails

    def content_hash(self, path: str, content: bytes) -> bytes:
        """What the index knows a content by: equal for what would become the same."""
        language = self.understanding.languages.detect(path, content).name
        key = f"{VERSION} {self.content_key} {language} "
        return blake2b(key.encode() + content, digest_size=16).digest()


def index(root: Path, store: Store, recipe: Recipe, progress: Progress) -> IndexReport:
    """Bring the index up to what is on disk, by a complete walk."""
    started = time.perf_counter()
    progress("discover", 0, 0)
    with store.writer(thorough=True) as writer:
        run = _Run(root, writer, recipe, progress, writer.manifest())
        plan = tree_diff.compare(discover(root, recipe.rules), run.manifest)
        run.write(plan.read, plan.removed)
        report = run.report(plan, time.perf_counter() - started)
        writer.finish(report, {**plan.folders, **run.left_out})
    return report


def update(
    root: Path, store: Store, recipe: Recipe, drift: tree_diff.Drift, known_folders: Collection[str]
) -> None:
    """Bring files that are known to have changed up to date, and look into folders whose names changed."""
    moved = [folder for folder in drift.folders if not folder.startswith(LEFT_OUT)]
    found = list(discover(root, recipe.rules, Again(known_folders, moved))) if moved else []
    folders = {
        item.path: tree_diff.settled_time(item.changed_ns) for item in found if isinstance(item, Folder)
    }
    candidates = {item.path: item for item in (*drift.changed, *found) if isinstance(item, Candidate)}
    with store.writer() as writer:
        manifest = writer.manifest([*candidates, *drift.missing])
        new = [c for c in candidates.values() if c.path not in manifest or manifest[c.path].stamp != c.stamp]
        has_new_rules = tree_diff.rules_among(c.path for c in new) or bool(
            tree_diff.outer_rules(folders).keys() - set(known_folders)
        )
        if not has_new_rules:
            _Run(root, writer, recipe, quiet, manifest).write(
                new, drift.missing, {**drift.folders, **folders}
            )
            return
    index(root, store, recipe, quiet)


def why(root: Path, path: str, recipe: Recipe) -> Candidate | Skipped:
    """What a run would make of a path: a file that no rule leaves out is read, which may be the end of it."""
    found = judged(root, path, recipe.rules)
    if isinstance(found, Candidate) and (problem := _problem(root, found.path, recipe)):
        return problem
    return found


def left_out(root: Path, recipe: Recipe, manifest: Mapping[str, KnownFile]) -> Iterator[Skipped]:
    """Every file and folder that a run would leave out; those of the index that have not changed are not read."""
    for item in discover(root, recipe.rules):
        if isinstance(item, Skipped):
            yield item
        elif isinstance(item, Candidate):
            is_known = item.path in manifest and manifest[item.path].stamp == item.stamp
            if not is_known and (problem := _problem(root, item.path, recipe)):
                yield problem


def _problem(root: Path, path: str, recipe: Recipe) -> Skipped | None:
    """Why a file cannot be taken in, as far as can be told without taking it apart."""
    source = read(root / path, path, recipe.rules.max_file_size)
    if isinstance(source, Skipped):
        return source
    error = parsing.problem(recipe.understanding.languages.detect(path, source.content))
    return Skipped(path, SkipReason.FAILED, reason(error)) if error else None


def says_the_same(root: Path, recipe: Recipe, path: str, content_hash: bytes) -> bool:
    """Whether a file still has the content that the index knows, whatever its time stamp."""
    source = read(root / path, path, recipe.rules.max_file_size)
    return not isinstance(source, Skipped) and recipe.content_hash(path, source.content) == content_hash


def quiet(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


class _Reading(NamedTuple):
    """A file read and found to be new or changed."""

    path: str
    stamp: FileStamp
    content: bytes
    content_hash: bytes
    secrets: tuple[MaskedSecret, ...]
    known: ParsedFile | None


@dataclass
class _Run:
    """One run of the writer, and what it has done so far."""

    root: Path
    writer: Writer
    recipe: Recipe
    progress: Progress
    manifest: Mapping[str, KnownFile]
    added: int = 0
    changed: int = 0
    removed: int = 0
    restamped: dict[str, FileStamp] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)  # of these, files that were read, with their times

    def __post_init__(self) -> None:
        recipe = self.recipe
        self.embedding = Embedding(
            recipe.embedder, self.writer.vectors, self.progress, recipe.without_vectors
        )

    def write(
        self,
        candidates: Sequence[Candidate],
        removed: Sequence[str],
        folders: Mapping[str, int] | None = None,
    ) -> None:
        """Read, understand, embed and store in batches; forget what is gone."""
        with uncollected():
            gone = self._store(candidates, removed)
        gone += [skip.path for skip in self.skipped if skip.path in self.manifest]
        if gone:
            self.writer.apply(gone, [])
            self.removed += len(gone)
        noted = {**folders, **self.left_out} if folders is not None else {}
        if self.restamped or noted:
            self.writer.restamp(self.restamped, noted)

    def _store(self, candidates: Sequence[Candidate], removed: Sequence[str]) -> list[str]:
        """Store the files in batches; what is gone with the first of them, or returned if there is none."""
        total = self.embedding.total = sum(candidate.stamp.size for candidate in candidates)
        gone = list(removed)
        for batch in grouped(self._sources(candidates, total), BATCH_BYTES):
            for portion in self.embedding.embedded(batch):
                self.writer.apply(gone, portion)
                self.removed, gone = self.removed + len(gone), []
        return gone

    def _sources(self, candidates: Sequence[Candidate], total: int) -> Iterator[SourceFile]:
        readings, again = tee(self._readings(candidates))
        tasks = (Task(reading.path, reading.content, reading.known) for reading in again)
        embedder = self.recipe.embedder
        how = replace(
            self.recipe.understanding, embedder=embedder if isinstance(embedder, Preparing) else None
        )
        understood = understand_all(how, tasks, total, self.recipe.processes)
        done = 0
        for result, reading in zip(understood, readings, strict=False):
            done += len(reading.content)
            self.progress("index", min(done, total), total)
            if result.error:
                self.skipped.append(Skipped(reading.path, SkipReason.FAILED, result.error))
                continue
            self._count(reading.path)
            yield SourceFile(
                reading.path,
                tree_diff.settled(reading.stamp),
                reading.content_hash,
                file_roles.role(reading.path, reading.content[:1000]),
                reading.content,
                result.parsed,
                result.definitions,
                result.terms,
                reading.secrets,
                references=result.references,
                prepared=result.prepared,
            )

    def _readings(self, candidates: Iterable[Candidate]) -> Iterator[_Reading]:
        recipe = self.recipe
        for candidate in candidates:
            path = candidate.path
            source = read(self.root / path, path, recipe.rules.max_file_size)
            if isinstance(source, Skipped):
                self.skipped.append(source)
                self.left_out[LEFT_OUT + path] = tree_diff.settled_time(candidate.stamp.changed_ns)
                continue
            digest = recipe.content_hash(path, source.content)
            if path in self.manifest and self.manifest[path].content_hash == digest:
                self.restamped[path] = tree_diff.settled(source.stamp)
                continue
            content, found = (
                secrets.mask(source.content, path) if recipe.mask_secrets else (source.content, ())
            )
            yield _Reading(path, source.stamp, content, digest, found, self.writer.parsed(digest))

    def _count(self, path: str) -> None:
        if path in self.manifest:
            self.changed += 1
        else:
            self.added += 1

    def report(self, plan: tree_diff.Plan, seconds: float) -> IndexReport:
        """What the run saw and did."""
        skipped = [*plan.skipped, *self.skipped]
        failures = [s for s in skipped if s.reason in (SkipReason.FAILED, SkipReason.UNREADABLE)]
        unchanged = plan.unchanged + len(self.restamped)
        return IndexReport(
            seen=plan.seen,
            indexed=unchanged + self.added + self.changed,
            added=self.added,
            changed=self.changed,
            removed=self.removed,
            unchanged=unchanged,
            skipped=_by_reason(skip for skip in skipped if not skip.is_folder),
            skipped_folders=_by_reason(skip for skip in skipped if skip.is_folder),
            failures=tuple(failures),
            seconds=seconds,
            without_vectors=self.embedding.left_out,
            why_without=self.embedding.problem,
            repaired=self.writer.repaired,
        )


def _by_reason(skipped: Iterable[Skipped]) -> dict[str, int]:
    return dict(Counter(skip.reason.value for skip in skipped).most_common())
