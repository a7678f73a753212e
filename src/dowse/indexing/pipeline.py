"""The indexing pipeline from end to end: discover, diff, read and decode, mask secrets, analyze, embed, commit.

``index`` does a full scan of the tree, ``update`` only files that are known to have changed; both write through
``_Run`` in batches. One bad file never stops a run: it is skipped with a reason, and the report says so.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from dowse.code import file_roles, parsing, secrets
from dowse.embedders.embedder import Embedder, PretokenizingEmbedder
from dowse.gc_pause import gc_paused
from dowse.indexing import tree_diff
from dowse.indexing.analyze_file import VERSION, AnalyzedFile, ParserConfig, PendingFile
from dowse.indexing.decode import read_source
from dowse.indexing.discover import PartialWalk, Rules, check_path, discover
from dowse.indexing.embed import EmbeddingRun
from dowse.indexing.stamps import judge_time
from dowse.indexing.workers import analyze_all, describe_error
from dowse.stores.protocol import KnownFile, Store, Writer
from dowse.types.discovered import (
    FileStamp,
    FoundFile,
    IndexReport,
    Skipped,
    SkipReason,
    SourceFile,
    Watched,
    WatchedPath,
    WatchedTime,
    WatchedTimes,
    WatchKind,
)

BATCH_BYTES = 8_000_000
"""Source bytes per commit: what a kill can lose, against what a commit costs."""

Progress = Callable[[str, int, int], None]
"""Called with a stage, how much is done and how much there is to do (0: not known)."""


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """The configuration of indexing: discovery rules, parser, secret masking, embedder and number of processes."""

    rules: Rules
    parser: ParserConfig
    mask_secrets: bool
    content_key: str  # the settings that change how a content is indexed, as text
    embedder: Embedder | None
    processes: int
    allow_missing_vectors: bool = False  # go on if the embedder fails

    def content_hash(self, path: str, content: bytes) -> bytes:
        """Hash a content with all that decides how it is indexed: equal hashes give equal rows."""
        language = self.parser.languages.detect(path, content)
        name = path.rpartition("/")[2] if language.named else ""
        key = f"{VERSION} {self.content_key} {language.name} {language.reader} {name} "
        return blake2b(key.encode() + content, digest_size=16).digest()


def index(root: Path, store: Store, config: IndexConfig, progress: Progress) -> IndexReport:
    """Index the whole tree incrementally: a full walk, then only what differs from the index is read and written."""
    started = time.perf_counter()
    progress("discover", 0, 0)
    with store.writer(thorough=True) as writer:
        run = _Run(root, writer, config, progress, writer.manifest())
        plan = tree_diff.plan_run(discover(root, config.rules), run.manifest)
        run.write(plan.read, plan.removed)
        report = run.report(plan, time.perf_counter() - started)
        writer.finish(report, {**plan.watched, **run.skipped_times})
    return report


def update(
    root: Path,
    store: Store,
    config: IndexConfig,
    diff: tree_diff.TreeDiff,
    known: Collection[WatchedPath],
) -> None:
    """Reindex files that are known to have changed, without a full walk; only folders in which names changed are
    walked.

    ``known`` is what was watched so far.
    """
    stale_folders = diff.folders
    walk = PartialWalk(known, stale_folders)
    found = list(discover(root, config.rules, walk)) if stale_folders else []
    watched = {item.path: item.time for item in found if isinstance(item, Watched)}
    files = {item.path: item for item in (*diff.changed, *found) if isinstance(item, FoundFile)}
    with store.writer() as writer:
        manifest = writer.manifest([*files, *diff.missing])
        stale = [f for f in files.values() if f.path not in manifest or manifest[f.path].stamp != f.stamp]
        has_new_rules = tree_diff.has_ignore_file([*diff.missing, *(file.path for file in stale)]) or bool(
            tree_diff.select_outer_rules(watched).keys() - set(known)
        )
        if not has_new_rules:
            run = _Run(root, writer, config, ignore_progress, manifest)
            run.write(stale, diff.missing, {**diff.watched, **watched}, diff.unwatched)
            return
    index(root, store, config, ignore_progress)


def check_file(root: Path, path: str, config: IndexConfig) -> FoundFile | Skipped:
    """Say whether a run would index a path; a file that no rule skips is read, since its content may."""
    found = check_path(root, path, config.rules)
    if isinstance(found, FoundFile) and (problem := _find_problem(root, found.path, config)):
        return problem
    return found


def find_skipped(root: Path, config: IndexConfig, manifest: Mapping[str, KnownFile]) -> Iterator[Skipped]:
    """Yield every file and folder that a run would skip; files of the index that have not changed are not read."""
    for item in discover(root, config.rules):
        if isinstance(item, Skipped):
            yield item
        elif isinstance(item, FoundFile):
            is_known = item.path in manifest and manifest[item.path].stamp == item.stamp
            if not is_known and (problem := _find_problem(root, item.path, config)):
                yield problem


def _find_problem(root: Path, path: str, config: IndexConfig) -> Skipped | None:
    """Find what keeps a file out of the index, as far as can be told without parsing it."""
    source = read_source(root / path, path, config.rules.max_file_size)
    if isinstance(source, Skipped):
        return source
    error = parsing.find_problem(config.parser.languages.detect(path, source.content))
    return Skipped(path, SkipReason.FAILED, describe_error(error)) if error else None


def content_unchanged(root: Path, config: IndexConfig, path: str, content_hash: bytes) -> bool:
    """Return whether a file still has the content that the index knows, whatever its time stamp."""
    source = read_source(root / path, path, config.rules.max_file_size)
    return not isinstance(source, Skipped) and config.content_hash(path, source.content) == content_hash


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Ignore progress: nobody watches."""


@dataclass
class _Run:
    """One run of the writer: the stages of a file in order, and what was done so far.

    A file is a ``FoundFile``, a ``SourceText`` (read), a ``PendingFile`` (masked, to be analyzed), an ``AnalyzedFile``,
    and a ``SourceFile``, which is embedded and committed.
    """

    root: Path
    writer: Writer
    config: IndexConfig
    progress: Progress
    manifest: Mapping[str, KnownFile]
    added: int = 0
    changed: int = 0
    removed: int = 0
    gone: list[str] = field(default_factory=list)  # paths to remove with the next commit
    restamped: dict[str, FileStamp] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    skipped_times: dict[WatchedPath, WatchedTime] = field(default_factory=dict)  # of files that were read

    def __post_init__(self) -> None:
        config = self.config
        self.embedding = EmbeddingRun(
            config.embedder, self.writer.find_vectors, self.progress, config.allow_missing_vectors
        )

    def write(
        self,
        found: Sequence[FoundFile],
        removed: Sequence[str],
        watched: WatchedTimes | None = None,
        unwatched: Collection[WatchedPath] = (),
    ) -> None:
        """Index the files that were found, remove what is gone, and note new time stamps."""
        self.gone = list(removed)
        with gc_paused():
            self._index_files(found)
        self.gone += [skip.path for skip in self.skipped if skip.path in self.manifest]
        if self.gone:
            self._commit([])
        times = {**watched, **self.skipped_times} if watched is not None else {}
        if self.restamped or times or unwatched:
            self.writer.restamp(self.restamped, times, unwatched)

    def _index_files(self, found: Sequence[FoundFile]) -> None:
        """Take files through all stages: read and mask, analyze, embed, commit in batches."""
        total = self.embedding.total = sum(file.stamp.size for file in found)
        embedder = self.config.embedder
        parser = replace(
            self.config.parser,
            embedder=embedder if isinstance(embedder, PretokenizingEmbedder) else None,
        )
        batch: list[SourceFile] = []
        batch_bytes = done = 0
        for file, analyzed in analyze_all(parser, self._read_all(found), total, self.config.processes):
            done += len(file.content)
            self.progress("index", min(done, total), total)
            if analyzed.error:
                self.skipped.append(Skipped(file.path, SkipReason.FAILED, analyzed.error))
                continue
            batch.append(self._join(file, analyzed))
            batch_bytes += len(file.content)
            if batch_bytes >= BATCH_BYTES:
                self._embed_and_commit(batch)
                batch, batch_bytes = [], 0
        if batch:
            self._embed_and_commit(batch)

    def _read_all(self, found: Iterable[FoundFile]) -> Iterator[PendingFile]:
        """Read, decode and mask files one by one, as the analysis asks for them; unchanged contents end here."""
        for file in found:
            found_time = judge_time(file.stamp.changed_ns)
            path, config = file.path, self.config
            source = read_source(self.root / path, path, config.rules.max_file_size)
            if isinstance(source, Skipped):
                self.skipped.append(source)
                self.skipped_times[WatchedPath(WatchKind.SKIPPED_FILE, path)] = found_time
                continue
            content, stamp = source.content, source.stamp
            content_hash = config.content_hash(path, content)
            if path in self.manifest and self.manifest[path].content_hash == content_hash:
                self.restamped[path] = stamp
                continue
            known = self.writer.find_parsed(content_hash)
            content, masked = secrets.mask(content, path) if config.mask_secrets else (content, ())
            yield PendingFile(path, content, known, stamp, content_hash, masked)

    def _join(self, file: PendingFile, analyzed: AnalyzedFile) -> SourceFile:
        """Put together what was read and what was found in it."""
        if file.path in self.manifest:
            self.changed += 1
        else:
            self.added += 1
        return SourceFile(
            file.path,
            file.stamp,
            file.content_hash,
            file_roles.classify_role(file.path, file.content),
            file.content,
            analyzed.parsed,
            analyzed.definitions,
            analyzed.terms,
            file.secrets,
            references=analyzed.references,
            prepared=analyzed.prepared,
        )

    def _embed_and_commit(self, batch: list[SourceFile]) -> None:
        for portion in self.embedding.embed(batch):
            self._commit(portion)

    def _commit(self, files: Sequence[SourceFile]) -> None:
        """Store files, and remove the paths that are gone."""
        self.writer.apply(self.gone, files)
        self.removed += len(self.gone)
        self.gone = []

    def report(self, plan: tree_diff.IndexPlan, seconds: float) -> IndexReport:
        """Sum up what the run saw and did."""
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
            skipped=_count_by_reason(skip for skip in skipped if not skip.is_folder),
            skipped_folders=_count_by_reason(skip for skip in skipped if skip.is_folder),
            failures=tuple(failures),
            seconds=seconds,
            without_vectors=self.embedding.files_without_vectors,
            why_without=self.embedding.problem,
            repaired=self.writer.repaired,
        )


def _count_by_reason(skipped: Iterable[Skipped]) -> dict[str, int]:
    return dict(Counter(skip.reason.value for skip in skipped).most_common())
