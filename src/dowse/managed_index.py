"""Index administration: build, rebuild, status, integrity check, list files, garbage-collect, copy, trust and clear.

Searching is not here: ``Engine`` builds on it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dowse import index_folder, roots, stores
from dowse.errors import EmbedderError, IndexCorrupt, IndexMissing, IndexUnwritable, UsageError
from dowse.filters import file_passes
from dowse.indexing import git_index
from dowse.indexing.ignore_files import IGNORE_FILES
from dowse.indexing.lock_retry import retry_while_locked
from dowse.indexing.watcher import watch_paths
from dowse.search.output import read_place
from dowse.settings import ResolvedSettings
from dowse.stores.protocol import KnownFile
from dowse.tree_context import TreeContext
from dowse.types.discovered import FoundFile, IndexReport, Revision, Skipped
from dowse.types.stored import Collected, FileFacts, Filter, IndexState, IndexStatus, ServerStatus, StoredFile

if TYPE_CHECKING:
    from dowse.indexing.pipeline import Progress
    from dowse.search.commit_index import CommitIndex

GO_ON = (
    "what was indexed is kept: run 'dowse index' again to go on from there, "
    "or with --allow-missing-vectors to go on without this embedder"
)
"""What to do when the embedder failed."""


class ManagedIndex(TreeContext):
    """The index of one tree, and the operations that manage it."""

    _history: CommitIndex | None = None

    def with_settings(self, **given: Any) -> Self:
        """Return an engine with other settings of answers, for the same index, which is closed with this one."""
        settings = replace(self.settings, **given)
        other = type(self)(self.root, ResolvedSettings(settings, self.origins, self.notes))
        other.read_only = self.read_only
        check = ("_freshness",) if settings.refresh == self.settings.refresh else ()
        shared = ("store", "embedder", "_query_embedder", "languages", *check)
        vars(other).update((name, getattr(self, name)) for name in shared)
        return other

    def index(
        self, progress: Progress | None = None, *, rebuild: bool = False, wait: bool = False
    ) -> IndexReport:
        """Index new and changed files, and remove deleted ones.

        ``rebuild`` starts from nothing; ``wait`` waits for another process that writes the index, for some time.
        """
        if wait:
            return retry_while_locked(lambda: self.index(progress, rebuild=rebuild), progress)
        from dowse.indexing import pipeline as indexing

        if self.read_only:
            raise IndexUnwritable(f"the index of {self.root} is open for reading only: nothing is indexed")
        if rebuild:
            self.clear()
        try:
            report = indexing.index(
                self.root, self.store, self._index_config(), progress or indexing.ignore_progress
            )
            self.load_history()
            return report
        except EmbedderError as error:
            raise EmbedderError(f"{error}; {GO_ON}") from error

    def load_history(self) -> CommitIndex | None:
        """Load the index of commits, and bring it up to what is checked out; None without git history.

        Commits after the one that is checked out are never in it.
        """
        head = git_index.read_head(self.root) if self.settings.history_weight else ""
        known = self._history
        if not head or (known is not None and known.head == head):
            return known if head else None
        from dowse.search import commit_index

        known = known or commit_index.unpack(self.store.get_blob(commit_index.BLOB))
        if known is None or known.head != head:
            known = None if self.read_only else self._read_history(head, known)
        self._history = known
        return known

    def _read_history(self, head: str, known: CommitIndex | None) -> CommitIndex:
        """Read the commits that are new, or all if those that are known are not those before."""
        from dowse.search import commit_index
        from dowse.services import commit_log

        if known is not None and not commit_log.is_ancestor(self.root, known.head):
            known = None
        commits = commit_log.read_commits(self.root, known.head if known else "")
        index = commit_index.build(head, commits, known)
        with suppress(IndexUnwritable):  # it is made again next time
            self.store.put_blob(commit_index.BLOB, commit_index.pack(index))
        return index

    def status(self) -> IndexStatus:
        """Return the index at a glance."""
        return self.store.status()

    def state(self) -> IndexState:
        """Return the state of the index alone: cheap enough for every query."""
        return self.store.state()

    def find_corrupt_parts(self) -> tuple[str, ...]:
        """Find the parts of the index that are corrupt; reads all of it."""
        return self.store.find_corrupt_parts()

    def generation(self) -> int:
        """Return the generation of the index that a search would see now."""
        with self.store.snapshot() as snapshot:
            return snapshot.generation

    # --- files ---

    def files(self, *patterns: str) -> Iterator[StoredFile]:
        """List the files of the index as it is, by path; patterns are those of a filter's paths."""
        if self.store.state() is IndexState.MISSING:
            raise IndexMissing(f"there is no index of {self.root}: run 'dowse index'")
        wanted = Filter(paths=patterns)
        with self.store.snapshot() as snapshot:
            for path in sorted(snapshot.manifest()):
                if file_passes(wanted, FileFacts(path, "", "", 0)) and (file := snapshot.file_at(path)):
                    yield file

    def why(self, path: str) -> FoundFile | Skipped:
        """Return whether a file belongs in the index, and if not, why."""
        from dowse.indexing import pipeline as indexing

        return indexing.check_file(self.root, path, self._index_config())

    def why_unread(self, target: str) -> FoundFile | Skipped:
        """Return whether the file that a target of ``read`` names belongs in the index, and if not, why."""
        return self.why(read_place.parse_location(target).path)

    def list_skipped(self, *patterns: str) -> Iterator[Skipped]:
        """List the files and folders that are skipped as the disk is now, and why; patterns as those of ``files``."""
        from dowse.indexing import pipeline as indexing

        wanted = Filter(paths=patterns)
        manifest: Mapping[str, KnownFile] = {}
        if self.store.state() is IndexState.CURRENT:  # with other settings, a run looks at every file again
            with self.store.snapshot() as snapshot:
                manifest = snapshot.manifest()
        for skipped in indexing.find_skipped(self.root, self._index_config(), manifest):
            if file_passes(wanted, FileFacts(skipped.path, "", "", 0)):
                yield skipped

    def load_file(self, path: str) -> tuple[StoredFile, str] | None:
        """Load a file and its text as the index has them; None if it is not in the index."""
        with self.store.snapshot() as snapshot:
            file = snapshot.file_at(path)
            return (file, snapshot.content(file.id).decode("utf-8", "replace")) if file else None

    def load_text_at(self, path: str, commit: str) -> str | None:
        """Load the text that a file of the index has in a commit, secrets masked; None if there is none.

        Only what is in the index can be read: what the rules skip now is not shown as it was either.
        """
        from dowse.code.secrets import mask
        from dowse.indexing.decode import decode_source, limit_size
        from dowse.services import file_history

        content = file_history.read_content_at(self.root, path, commit) if self.load_file(path) else None
        max_size = self.settings.max_file_size
        if content is None or len(content) > limit_size(path, max_size):
            return None
        decoded = decode_source(content, path, max_size)
        if isinstance(decoded, Skipped):
            return None
        text = mask(decoded[0], path)[0] if self.settings.mask_secrets else decoded[0]
        return text.decode("utf-8", "replace")

    def paths(self) -> list[str]:
        """List the paths of all files in the index as it is."""
        with self.store.snapshot() as snapshot:
            return list(snapshot.manifest())

    def watch(self) -> Iterator[list[str]]:
        """Give the paths that change, relative to the root and in batches, from the first ``next`` on."""
        return watch_paths(self.root, self.index_folder)

    def list_ignore_files(self) -> list[str]:
        """List the files with ignore rules that the root has."""
        return [name for name in sorted(IGNORE_FILES) if (self.root / name).is_file()]

    def path_inside(self, path: str) -> str:
        """Return a path as the index has it: relative to the root, with forward slashes; it need not exist."""
        if os.path.isabs(path):
            inside = os.path.relpath(path, self.root)
        else:
            inside = os.path.normpath(path)
        inside = inside.replace(os.sep, "/")
        if inside == ".." or inside.startswith("../") or os.path.isabs(inside):
            raise UsageError(f"{path} is outside {self.root}: give a path below it")
        return inside

    def parse_place(self, place: str, folder: Path | None = None) -> tuple[str, int]:
        """Parse ``path`` or ``path:line`` into a path from the root and a line, 0 if none is given.

        A path is relative to the root; with ``folder``, to that folder, unless this leads out of the tree.
        """
        path, line = read_place.parse_position(place)
        if folder is None:
            return self.path_inside(path), line
        inside = os.path.relpath(folder / path, self.root).replace(os.sep, "/")
        return (path.replace(os.sep, "/") if inside.startswith("../") else inside), line

    def revision(self, paths: Iterable[str] = ()) -> Revision | None:
        """Return the commit that the tree is at, and which of some files differ from it; None without git."""
        return git_index.read_revision(self.root, paths)

    # --- a server that many share ---

    def init_server(self, grant_read: Sequence[str] = (), *, rebuild: bool = False) -> None:
        """Make what the server of the index lacks: extensions, schema, tables, rights of readers."""
        stores.require_shared_store(self.store).init(grant_read, rebuild=rebuild)

    def server_status(self) -> ServerStatus:
        """List all that the server of the index has."""
        return stores.require_shared_store(self.store).server_status()

    def collect_garbage(self, forget: Sequence[str] = (), older_than_days: float | None = None) -> Collected:
        """Take out of the server repositories and views by name or age, and then what nobody uses."""
        return stores.require_shared_store(self.store).collect_garbage(forget, older_than_days)

    def copy_index(self, source: str, target: str, progress: Progress | None = None) -> int:
        """Make the index in one store (a name or an address) what it is in another; how many files were copied."""
        from dowse.indexing import pipeline as indexing
        from dowse.stores import copy_store

        if source == target:
            raise UsageError("source and target are the same store: name two")
        with closing(self.store_at(source)) as one, closing(self.store_at(target)) as two:
            return copy_store.copy(one, two, progress or indexing.ignore_progress)

    # --- the files of the index ---

    @property
    def is_on_server(self) -> bool:
        """Whether the index is on a server, and not in a folder."""
        return stores.is_server(self.settings.store)

    def lock_file(self) -> Path | None:
        """Return the file that a writer of the index locks; None if nobody has written it yet."""
        from dowse.stores.embedded.layout import LOCK_FILE

        return next((file for file in self.index_files() if file.name == LOCK_FILE), None)

    def index_files(self) -> list[Path]:
        """List the files that ``clear`` deletes; none of an index on a server."""
        files = getattr(self.store, "files", None)
        return files() if files else []

    def clear(self) -> None:
        """Remove the index: our own files by name, and nothing else."""
        self.store.clear()

    def trust_index(self, *, fresh: bool = False) -> Path:
        """Take the index that is in the folder of this tree for the user's own, though it was made elsewhere.

        All of it is looked at first. ``fresh`` makes a new one beside it instead.
        """
        path = roots.default_index_folder(self.root, self.settings)
        if fresh:
            return index_folder.make_fresh(path).path
        folder = index_folder.find_foreign(path)
        with closing(stores.create("embedded", folder, str(self.root), self.fingerprint)) as store:
            if corrupt := store.find_corrupt_parts():
                raise IndexCorrupt(f"of the index at {path} {', '.join(corrupt)} cannot be read")
        index_folder.seal(folder.data)
        return path
