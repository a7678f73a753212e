"""Storage interface, the other half (protocols ``Channels``, ``ChannelsSnapshot``): what is searched.

Channels have words, vectors and names of chunks, by the numbers that a catalogue gives to files, and apply filters
inside each. They have no generation of their own: every row says which commit added it and which removed it, and a
reader says which commits it sees.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from dowse.types.discovered import SourceFile
from dowse.types.queries import Term
from dowse.types.stored import DEFAULT_BM25, Bm25, Filter, NameHit, NameTier, Scored


class VisibleGeneration(NamedTuple):
    """Which rows of the channels a reader sees: those of an index that were added up to a generation and not removed.

    Commits that never came to be are abandoned: what they added is not there, what they removed still is.
    """

    identity: str  # of the index
    repository: str  # indexes of one repository are kept close to each other
    generation: int
    abandoned: frozenset[int] = frozenset()
    chunks: int = 0
    tokens: tuple[int, ...] = ()  # of all chunks, by field

    def shows(self, added: int, removed: int | None) -> bool:
        """Whether a row is there that one commit added, and perhaps another one removed."""
        is_added = added <= self.generation and added not in self.abandoned
        return is_added and (removed is None or removed > self.generation or removed in self.abandoned)


class NumberedFile(NamedTuple):
    """A file that a commit adds, under its id."""

    id: int
    source: SourceFile


class RemovedFile(NamedTuple):
    """A file that a commit removes: how much of it the channels have."""

    id: int
    chunks: int
    entities: int


class PlannedCommit(NamedTuple):
    """What a commit is to change, numbered by the catalogue."""

    base: VisibleGeneration
    generation: int
    added: tuple[NumberedFile, ...]
    removed: tuple[RemovedFile, ...]
    removed_paths: tuple[str, ...] = ()


FindChanged = Callable[[int], Collection[int]]
"""The ids of the files that were modified at a time or later."""


class ChannelsSnapshot(Protocol):
    """One generation of an index, as far as it is searched: filters act inside each channel."""

    def lexical(
        self,
        terms: Sequence[Term],
        fields: Mapping[str, float],
        filter: Filter,
        limit: int,
        bm25: Bm25 = DEFAULT_BM25,
    ) -> list[Scored]:
        """Rank chunks by BM25 over the weighted fields of ``ChunkTerms``, best first.

        ``UsageError`` for constants that the engine of the store does not have.
        """
        ...

    def document_frequency(self, token: str) -> int:
        """Count the chunks that have a token in their body."""
        ...

    def find_tokens(self, part: str, limit: int) -> list[str]:
        """Find tokens of bodies that contain a text in lower case, shortest first; those just deleted may be there."""
        ...

    def chunk_count(self) -> int:
        """Count the chunks."""
        ...

    def dense(self, vector: Sequence[float], filter: Filter, limit: int) -> list[Scored]:
        """Rank chunks by cosine with the vector, best first; none where the index has no vectors."""
        ...

    def file_cosines(self, vector: Sequence[float], files: Sequence[int]) -> dict[int, list[float]]:
        """Compare the vector with all chunks of some files: cosines in order, by file; files without vectors lack."""
        ...

    def names(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Find entities whose name matches in this way, by name (ignoring case) and then by path."""
        ...


class JoinableChannels(ChannelsSnapshot, Protocol):
    """A generation in channels whose catalogue is elsewhere."""

    def list_chunks(self) -> dict[int, tuple[list[int], list[int]]]:
        """List for each file its chunks that have words, and those that have a vector, for comparing indexes."""
        ...


class Channels(Protocol):
    """Where the words, vectors and names of many indexes are."""

    def snapshot(self, visible: VisibleGeneration, find_changed: FindChanged) -> JoinableChannels:
        """Open what belongs to a generation, for reading."""
        ...

    def put(self, commit: PlannedCommit) -> None:
        """Write what a commit adds, for nobody to see yet. It can be repeated."""
        ...

    def drop(self, commit: PlannedCommit) -> None:
        """Mark what a commit removes, for nobody to see yet; then make all of the commit ready to be searched."""
        ...

    def sweep(self, visible: VisibleGeneration) -> None:
        """Delete what nobody can see any more: rows of abandoned commits, and those removed long ago."""
        ...

    def clear(self, visible: VisibleGeneration) -> None:
        """Delete all rows of an index."""
        ...

    def close(self) -> None:
        """Close connections."""
        ...
