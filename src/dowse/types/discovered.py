"""Indexing types: files found or skipped (with reasons), file stamps, files ready to store, index reports."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from dowse.frozen import frozen
from dowse.types.source import ChunkTerms, Definitions, MaskedSecret, ParsedFile, Role


class SkipReason(StrEnum):
    """Why a file on disk is not in the index."""

    IGNORED = "ignored by an ignore file"
    DEFAULT_EXCLUDED = "excluded by default"
    WORK_TREE = "another work tree of a repository in the tree"
    EXCLUDED = "excluded by a setting"
    NOT_INCLUDED = "not matched by include"
    TOO_LARGE = "too large"
    BINARY = "binary"
    MINIFIED = "minified or generated bundle"
    SYMLINK = "symlink that leaves the tree or repeats a part of it"
    UNREADABLE = "unreadable"
    NOT_A_FILE = "not a regular file"
    MISSING = "not there"
    OUTSIDE = "outside the root"
    FAILED = "failed to index"


class FileStamp(NamedTuple):
    """What ``stat`` said when a file was read: equal stamps mean that nothing has to be read again.

    ``ctime_ns`` is when the system itself last noted a change, which nobody can set; 0 where it does not. A stored
    stamp that is not trusted equals none that is read from disk.
    """

    size: int
    mtime_ns: int
    ctime_ns: int = 0
    is_trusted: bool = True

    @property
    def changed_ns(self) -> int:
        """When anything of it was last changed, its permissions included where the system notes that."""
        return self.ctime_ns or self.mtime_ns


class FoundFile(NamedTuple):
    """A file that discovery offers for indexing. ``path`` is POSIX-style and relative to the root."""

    path: str
    stamp: FileStamp


class WatchKind(StrEnum):
    """What is watched although it is not indexed: that it changes shows nowhere else."""

    __hash__ = str.__hash__  # that of an enum is a function of Python, and every watched path is hashed

    FOLDER = "folder"
    """One that was walked, or cannot be read: a new time means that a name came or went, or that it can be by now."""

    SKIPPED_FILE = "skipped file"
    """One that is skipped for its content (too large, binary) and may be indexed as soon as it changes."""

    OUTER_RULES = "outer rules"
    """An ignore file that is not indexed (of a folder above, of the repository, of the user, or ignored itself), or
    ``.git`` of a work tree that is skipped."""


class WatchedPath(NamedTuple):
    """A path that is watched: relative to the root, which is ``""``; of outer rules absolute."""

    kind: WatchKind
    path: str


class WatchedTime(NamedTuple):
    """When what is watched was last changed; None if it is not there.

    A stored time that is not trusted equals none that is read from disk.
    """

    changed_ns: int | None
    is_trusted: bool = True


WatchedTimes = Mapping[WatchedPath, WatchedTime]
"""All that an index watches, with the times that it had."""


class Watched(NamedTuple):
    """What discovery has found to be watched, and the time that it had before it was read."""

    path: WatchedPath
    time: WatchedTime


class Skipped(NamedTuple):
    """A file or folder that is skipped: why, and by which rule (``.gitignore:3 *.log``)."""

    path: str
    reason: SkipReason
    detail: str

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, with all that is in it."""
        return self.path.endswith("/")


NO_COUNTS: Mapping[str, int] = {}

KEY_BYTES = 16
"""What the key of a vector takes."""


class ChunkVector(NamedTuple):
    """A chunk's embedding (float32, little-endian, length one) under the hash of what was embedded."""

    key: bytes
    vector: bytes


class PreparedChunk(NamedTuple):
    """What an embedder is to know of a chunk, under the key of its vector."""

    key: bytes
    document: bytes


class SourceFile(NamedTuple):
    """A file ready to be stored: its path and stamp, its content (UTF-8), and what parsing and embedding gave."""

    path: str
    stamp: FileStamp
    content_hash: bytes
    role: Role
    content: bytes
    parsed: ParsedFile
    definitions: Definitions
    terms: tuple[ChunkTerms, ...]
    secrets: tuple[MaskedSecret, ...] = ()
    vectors: tuple[ChunkVector, ...] = ()
    references: bytes = b""  # packed by code/references.py; empty if the content is known to the store
    prepared: tuple[PreparedChunk, ...] = ()  # of embedders that prepare; not stored
    awaits_vectors: bool = False  # the embedder failed: to a writer, the file is not known yet


@frozen
class IndexReport:
    """What one complete indexing run saw and did; kept with the index for ``dowse status``."""

    seen: int
    indexed: int
    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: Mapping[str, int]  # files by reason: with those that are indexed, they are all that were seen
    failures: tuple[Skipped, ...]
    seconds: float
    without_vectors: int = 0  # files that wait for vectors because the embedder failed
    why_without: str = ""
    skipped_folders: Mapping[str, int] = NO_COUNTS  # skipped whole, nobody knows with what
    repaired: tuple[str, ...] = ()  # parts of the index that were corrupt or lost, and were made again


@frozen
class Revision:
    """The commit that a tree is at, and those of the files asked about that differ from what git has."""

    commit: str
    branch: str
    dirty: tuple[str, ...] = ()
