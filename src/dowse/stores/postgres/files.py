"""Read files of a view on PostgreSQL and their contents: lazily, in batches (few round trips), and cached."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from dowse.code import chunk_fields
from dowse.errors import IndexCorrupt
from dowse.serialization import inflate
from dowse.stores import name_match, row_codec
from dowse.stores.postgres import filter_sql
from dowse.stores.postgres.filter_cache import FilterCache
from dowse.stores.postgres.filter_sql import to_sql_text
from dowse.stores.postgres.read_cache import MAX_LISTED_FILES, Content, Directory, FileRow, ReadCache
from dowse.stores.postgres.state import SELECT_MANIFEST, ManifestRow, build_manifest
from dowse.stores.postgres.transaction import Transaction
from dowse.types.discovered import ChunkVector, FileStamp, WatchedTimes
from dowse.types.source import Role
from dowse.types.stored import FileReferences, Filter, StoredFile

CONTENTS_PER_TRIP = 50
REFERENCES_PER_TRIP = 1000
"""Contents, and references of files, per round trip when all are read."""

MAX_INFLATED_TEXTS = 50
"""Texts that are held inflated during a query."""

FILE_ROW = "SELECT id, path, size, mtime_ns, ctime_ns, is_trusted, role, content FROM files WHERE view = %s"

T = TypeVar("T")


class FileReader:
    """Reads the files of one snapshot, with prefetching and a cache."""

    def __init__(self, transaction: Transaction, cache: ReadCache, filters: FilterCache) -> None:
        self._transaction = transaction
        self._cache = cache
        self._filters = filters
        self._files: dict[int, StoredFile | None] = {}
        self._prefetch_ids: set[int] = set()
        self._inflated_texts: dict[bytes, bytes] = {}

    # --- one file ---

    def prefetch(self, ids: Iterable[int]) -> None:
        """Note files that are likely to be needed: all are read when the first one is."""
        self._prefetch_ids.update(ids)

    def file(self, id: int) -> StoredFile | None:
        """Read a file by its id."""
        if id not in self._files:
            self._load({id, *self._prefetch_ids})
        return self._files[id]

    def _load(self, ids: Iterable[int]) -> None:
        self._prefetch_ids.clear()
        new = [id for id in ids if id not in self._files]
        self._files.update((id, self._cache.files.get(id)) for id in new)
        rows = self._load_rows([id for id in new if self._files[id] is None and abs(id) < 2**43])
        contents = self._load_contents({row.content for row in rows})
        for row in rows:
            digest, parsed, definitions = contents[row.content]
            stamp = FileStamp(row.size, row.mtime_ns, row.ctime_ns, row.is_trusted)
            file = StoredFile(row.id, row.path, stamp, digest, Role(row.role), parsed, definitions)
            self._files[row.id] = file
            self._cache.files.put(row.id, file)

    def _load_rows(self, ids: Sequence[int]) -> list[FileRow]:
        if not ids:
            return []
        if (directory := self._load_directory()) is not None:
            return [directory.rows[id] for id in ids if id in directory.rows]
        rows = self._transaction.fetch_rows(
            f"{FILE_ROW} AND id = ANY(%s)", [self._transaction.view, ids], prepare=True
        )
        return list(map(FileRow._make, rows))

    def _load_contents(self, ids: Collection[int]) -> Mapping[int, Content]:
        found = {id: known for id in ids if (known := self._cache.contents.get(id))}
        missing = [id for id in ids if id not in found]
        if not missing:
            return found
        for id, digest, language, health, packed in self._transaction.fetch_rows(
            "SELECT id, hash, language, health, parsed FROM contents WHERE id = ANY(%s)",
            [missing],
            prepare=True,
        ):
            parsed = row_codec.unpack_parsed(language, health, inflate_value(packed))
            found[id] = Content(digest, parsed, chunk_fields.definitions_by_chunk(parsed))
            self._cache.contents.put(id, found[id])
        return found

    def find_by_path(self, path: str) -> StoredFile | None:
        """Read a file by its path."""
        if (directory := self._load_directory()) is not None:
            id = directory.ids.get(to_sql_text(path))
        else:
            ids_at_path = (file.id for file in self._files.values() if file is not None and file.path == path)
            id = next(ids_at_path, None)
        if id is None and directory is None:
            query = "SELECT id FROM files WHERE view = %s AND path = %s"
            rows = self._transaction.fetch_rows(
                query, [self._transaction.view, to_sql_text(path)], prepare=True
            )
            id = rows[0][0] if rows else None
        return self.file(id) if id is not None else None

    def find_named(self, name: str, filter: Filter, limit: int) -> list[int]:
        """Find files by name, stem or trailing path."""
        wanted = to_sql_text(name.lower().strip("/"))
        last = wanted.rpartition("/")[2]
        rows = self._list_named(last, filter)
        found = (id for id, path in rows if name_match.path_ends_with(path, wanted))
        return list(islice(found, max(0, limit)))

    def find_changed(self, since_ns: int) -> list[int]:
        """Find the files that were modified at a time or later."""
        files = self._filters.find_files(Filter(changed_since_ns=since_ns))
        return [] if files is None else files.tolist()

    def _list_named(self, last: str, filter: Filter) -> Iterable[tuple[int, str]]:
        if (directory := self._load_directory()) is None:
            where = filter_sql.file_conditions(filter)
            rows = self._transaction.fetch_rows(
                "SELECT f.id, f.path FROM files f WHERE f.view = %s AND (f.name_key = %s OR f.stem_key = %s)"
                f"{where.text} ORDER BY f.path",
                [self._transaction.view, last, last, *where.values],
            )
            return [(id, path) for id, path in rows]
        named = directory.find_named(last)
        files = self._filters.find_files(filter) if named else None
        return [(row.id, row.path) for row in named if files is None or row.id in files]

    def _load_directory(self) -> Directory | None:
        """Load the list of all files, if they are read often and are not too many."""
        cache = self._cache
        if not cache.is_hot or self._transaction.state.files > MAX_LISTED_FILES:
            return None
        if cache.directory is None:
            rows = self._transaction.fetch_rows(FILE_ROW, [self._transaction.view])
            cache.directory = Directory(list(map(FileRow._make, rows)))
        return cache.directory

    # --- contents ---

    def prefetch_texts(self, ids: Iterable[int]) -> None:
        """Read the contents of some files at once: they are needed one by one next."""
        self._load_texts([file.content_hash for id in ids if (file := self.file(id)) is not None])

    def content(self, id: int) -> bytes:
        """Read the content of a file."""
        file = self.file(id)
        if file is None:
            return b""
        if file.content_hash not in self._inflated_texts:
            self._load_texts([file.content_hash])
        return self._inflated_texts[file.content_hash]

    def _load_texts(self, hashes: Sequence[bytes]) -> None:
        if len(self._inflated_texts) > MAX_INFLATED_TEXTS:
            self._inflated_texts.clear()
        packed = {
            digest: self._cache.texts.get(digest) for digest in hashes if digest not in self._inflated_texts
        }
        if missing := [digest for digest, text in packed.items() if text is None]:
            query = "SELECT hash, text FROM contents WHERE repository = %s AND hash = ANY(%s)"
            for digest, text in self._transaction.fetch_rows(
                query, [self._transaction.state.repository, missing], prepare=True
            ):
                packed[digest] = text
                self._cache.texts.put(digest, text, len(text))
        self._inflated_texts.update((digest, inflate_value(text or b"")) for digest, text in packed.items())

    def contents(self, filter: Filter) -> Iterator[tuple[int, bytes]]:
        """Read id and content of every file that passes, in order of path."""
        where = filter_sql.file_conditions(filter)
        rows = self._transaction.fetch_rows(
            f"SELECT f.id, f.content FROM files f WHERE f.view = %s{where.text} ORDER BY f.path",
            [self._transaction.view, *where.values],
        )
        for some in _batches(rows, CONTENTS_PER_TRIP):
            texts: dict[int, bytes] = dict(
                self._transaction.fetch_rows(
                    "SELECT id, text FROM contents WHERE id = ANY(%s)", [[row[1] for row in some]]
                )
            )
            for id, content in some:
                yield id, inflate_value(texts[content])

    # --- what else is stored of files ---

    def list_references(self, paths: Collection[str] | None = None) -> Iterator[FileReferences]:
        """Read what files define and mention, in order of path."""
        some = "" if paths is None else " AND f.path = ANY(%s)"
        rows = self._transaction.fetch_rows(
            f"SELECT f.path, f.language, f.role, f.content FROM files f WHERE f.view = %s{some} ORDER BY f.path",
            [self._transaction.view]
            if paths is None
            else [self._transaction.view, list(map(to_sql_text, paths))],
        )
        for some_rows in _batches(rows, REFERENCES_PER_TRIP):
            found = self._transaction.fetch_rows(
                "SELECT id, hash, mentions FROM contents WHERE id = ANY(%s)", [[row[3] for row in some_rows]]
            )
            known = {id: (digest, packed) for id, digest, packed in found}
            for path, language, role, content in some_rows:
                digest, packed = known[content]
                yield FileReferences(path, digest, language, Role(role), packed)

    def load_vectors(self, id: int) -> tuple[ChunkVector, ...]:
        """Read the vectors of a file's chunks, in order."""
        rows = self._transaction.fetch_rows(
            "SELECT v.key, v.vector FROM files f CROSS JOIN unnest(f.vectors) WITH ORDINALITY u (key, place) "
            "JOIN vectors v ON v.repository = %s AND v.key = u.key WHERE f.view = %s AND f.id = %s ORDER BY place",
            [self._transaction.state.repository, self._transaction.view, id],
        )
        return tuple(map(ChunkVector._make, rows))

    def manifest(self) -> Mapping[str, ManifestRow]:
        """List every file by path."""
        cache = self._cache
        if cache.manifest is None:
            cache.manifest = build_manifest(
                self._transaction.fetch_rows(SELECT_MANIFEST, [self._transaction.view])
            )
        return cache.manifest

    def list_watched(self) -> WatchedTimes:
        """List what is watched beside the files."""
        cache = self._cache
        if cache.watched is None:
            ((text,),) = self._transaction.fetch_rows(
                "SELECT watched FROM views WHERE id = %s", [self._transaction.view]
            )
            cache.watched = row_codec.unpack_watched(text)
        return cache.watched


def inflate_value(packed: bytes) -> bytes:
    """Inflate a compressed value; raise an error that says what to do if it is corrupt."""
    try:
        return inflate(packed)
    except (zlib.error, ValueError) as error:
        raise IndexCorrupt.beyond_repair(f"a file's entry in the index is corrupt ({error})") from error


def _batches(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
