"""Composed store: one index out of a catalogue and channels that know nothing of each other.

A commit is written to the channels first, where nobody sees it; then the catalogue makes its generation visible, in
one step. A reader opens the catalogue, and sees of the channels what belongs to the generation that it found there.
What a writer leaves behind that is killed in between stays invisible, and is swept by the next one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from dowse.stores.catalogue_protocol import (
    Catalogue,
    JoinableSnapshot,
    JoinableWriter,
    KnownFile,
    StampRow,
)
from dowse.stores.channels_protocol import Channels, JoinableChannels
from dowse.types.discovered import ChunkVector, FileStamp, IndexReport, SourceFile, WatchedPath, WatchedTimes
from dowse.types.queries import Term
from dowse.types.source import ParsedFile
from dowse.types.stored import (
    CHUNK_BITS,
    DEFAULT_BM25,
    Bm25,
    FileReferences,
    Filter,
    IndexState,
    IndexStatus,
    NameHit,
    NameTier,
    Scored,
    StoredFile,
)


class ComposedStore:
    """An index whose files are in a catalogue, and whose words, vectors and names are in channels."""

    def __init__(self, catalogue: Catalogue, channels: Channels) -> None:
        self.catalogue = catalogue
        self.channels = channels

    @property
    def fingerprint(self) -> str:
        """The settings that the index is read and written with."""
        return self.catalogue.fingerprint

    @fingerprint.setter
    def fingerprint(self, value: str) -> None:
        self.catalogue.fingerprint = value

    def state(self) -> IndexState:
        """Return whether there is an index, and whether it is of these settings."""
        return self.catalogue.state()

    def status(self) -> IndexStatus:
        """Describe the index."""
        return self.catalogue.status()

    @contextmanager
    def snapshot(self) -> Iterator[ComposedSnapshot]:
        """Open the newest generation."""
        with self.catalogue.snapshot() as files:
            yield ComposedSnapshot(files, self.channels.snapshot(files.visible, files.find_changed))

    @contextmanager
    def writer(self, *, thorough: bool = False) -> Iterator[ComposedWriter]:
        """Take the lock and open a writer."""
        with self.catalogue.writer(thorough=thorough) as files:
            yield ComposedWriter(files, self.channels)

    def clear(self) -> None:
        """Delete the whole index: once the catalogue has forgotten it, nobody can see the rest."""
        with self.catalogue.writer() as files:
            visible = files.visible()
        self.catalogue.clear()
        self.channels.clear(visible)

    def find_corrupt_parts(self) -> tuple[str, ...]:
        """Find nothing: servers and memory answer for what they have."""
        return ()

    def put_blob(self, name: str, data: bytes) -> None:
        """Keep something derived from the index."""
        self.catalogue.put_blob(name, data)

    def get_blob(self, name: str) -> bytes | None:
        """Return what was kept under a name."""
        return self.catalogue.get_blob(name)

    def dump(self) -> Iterator[tuple[object, ...]]:
        """List everything that is searchable, by path."""
        with self.snapshot() as snapshot:
            indexed = snapshot.channels.list_chunks()
            for row in snapshot.references():
                file = snapshot.file_at(row.path)
                assert file is not None, "a file with references is there"
                content = snapshot.content(file.id)
                chunks, vectors = indexed.get(file.id, ([], []))
                rest = content, chunks, vectors, row.packed
                yield (row.path, file.content_hash, file.role, file.parsed, *rest)

    def close(self) -> None:
        """Close both."""
        self.channels.close()
        self.catalogue.close()


class ComposedWriter:
    """The one writer of a composed index."""

    def __init__(self, files: JoinableWriter, channels: Channels) -> None:
        self.repaired = files.repaired
        self._files = files
        self._channels = channels

    def manifest(self, paths: Collection[str] | None = None) -> Mapping[str, KnownFile]:
        """List some files or all by path."""
        return self._files.manifest(paths)

    def find_parsed(self, content_hash: bytes) -> ParsedFile | None:
        """Find what was parsed of a content before."""
        return self._files.find_parsed(content_hash)

    def find_vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Find vectors that were computed before."""
        return self._files.find_vectors(keys)

    def apply(self, removed: Sequence[str], files: Sequence[SourceFile]) -> int:
        """Write one generation to the channels, then make it visible."""
        by_path = {file.path: file for file in files}  # of two at one path the later one
        commit = self._files.plan(removed, list(by_path.values()))
        self._channels.put(commit)
        self._channels.drop(commit)
        self._files.publish(commit)
        return commit.generation

    def restamp(
        self,
        stamps: Mapping[str, FileStamp],
        watched: WatchedTimes | None = None,
        unwatched: Collection[WatchedPath] = (),
    ) -> None:
        """Note new stamps of unchanged files, and changes in what is watched."""
        self._files.restamp(stamps, watched, unwatched)

    def finish(self, report: IndexReport, watched: WatchedTimes) -> None:
        """Record what the run saw, then tidy up."""
        self._files.finish(report, watched)
        visible = self._files.visible()
        self._channels.sweep(visible)
        self._files.forget_abandoned(visible)


class ComposedSnapshot:
    """One generation of a composed index: files from the catalogue, hits from the channels."""

    def __init__(self, files: JoinableSnapshot, channels: JoinableChannels) -> None:
        self.generation = files.generation
        self.identity = files.identity
        self.is_current = files.is_current
        self.channels = channels
        self._files = files

    # --- what is searched ---

    def lexical(
        self,
        terms: Sequence[Term],
        fields: Mapping[str, float],
        filter: Filter,
        limit: int,
        bm25: Bm25 = DEFAULT_BM25,
    ) -> list[Scored]:
        """Rank chunks by BM25."""
        return self._prefetch_files(self.channels.lexical(terms, fields, filter, limit, bm25))

    def document_frequency(self, token: str) -> int:
        """Count the chunks that have a token in their body."""
        return self.channels.document_frequency(token)

    def find_tokens(self, part: str, limit: int) -> list[str]:
        """Find tokens of bodies that contain a text, shortest first."""
        return self.channels.find_tokens(part, limit)

    def chunk_count(self) -> int:
        """Count the chunks."""
        return self.channels.chunk_count()

    def dense(self, vector: Sequence[float], filter: Filter, limit: int) -> list[Scored]:
        """Rank chunks by cosine."""
        return self._prefetch_files(self.channels.dense(vector, filter, limit))

    def file_cosines(self, vector: Sequence[float], files: Sequence[int]) -> dict[int, list[float]]:
        """Compare the vector with all chunks of some files."""
        return self.channels.file_cosines(vector, files)

    def names(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Find entities by name."""
        hits = self.channels.names(pattern, tier, filter, limit)
        self._files.prefetch_rows([hit.file for hit in hits])
        return hits

    def _prefetch_files(self, hits: list[Scored]) -> list[Scored]:
        self._files.prefetch_rows([hit.chunk >> CHUNK_BITS for hit in hits])
        return hits

    # --- what there is ---

    def find_files_named(self, name: str, filter: Filter, limit: int) -> list[int]:
        """Find files by name, stem or trailing path."""
        return self._files.find_files_named(name, filter, limit)

    def file(self, id: int) -> StoredFile | None:
        """Read a file by its id."""
        return self._files.file(id)

    def file_at(self, path: str) -> StoredFile | None:
        """Read a file by its path."""
        return self._files.file_at(path)

    def prefetch(self, ids: Sequence[int]) -> None:
        """Read the contents of some files at once."""
        self._files.prefetch(ids)

    def content(self, id: int) -> bytes:
        """Read the content of a file."""
        return self._files.content(id)

    def contents(self, filter: Filter) -> Iterator[tuple[int, bytes]]:
        """Read id and content of every file that passes, in order of path."""
        return self._files.contents(filter)

    def file_vectors(self, id: int) -> tuple[ChunkVector, ...]:
        """Read the vectors of a file's chunks."""
        return self._files.file_vectors(id)

    def references(self, paths: Collection[str] | None = None) -> Iterator[FileReferences]:
        """Read what files define and mention, in order of path."""
        return self._files.references(paths)

    def chunk_passes(self, chunk: int, filter: Filter) -> bool:
        """Whether a chunk passes by its definitions."""
        return self._files.chunk_passes(chunk, filter)

    def file_count(self) -> int:
        """Count the files."""
        return self._files.file_count()

    def manifest(self) -> Mapping[str, KnownFile]:
        """List every file by path."""
        return self._files.manifest()

    def list_stamps(self) -> Iterable[StampRow]:
        """List every file in order of path, with its stamp."""
        return self._files.list_stamps()

    def list_watched(self) -> WatchedTimes:
        """List what is watched beside the files."""
        return self._files.list_watched()
