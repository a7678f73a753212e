"""Files of a view and what they say: read when they are needed, many at a time, and remembered."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from dowse.code import chunk_fields
from dowse.errors import IndexCorrupt
from dowse.serialization import inflate
from dowse.stores import name_match, row_codec
from dowse.stores.postgres import filter_sql
from dowse.stores.postgres.filter_cache import Filters
from dowse.stores.postgres.filter_sql import stored
from dowse.stores.postgres.read_cache import LISTED_FILES, Content, Directory, FileRow, Remembered
from dowse.stores.postgres.state import MANIFEST, KnownFile, manifest
from dowse.stores.postgres.transaction import Session
from dowse.types import ChunkVector, FileReferences, FileStamp, Filter, Role, StoredFile

STREAMED = 50
STREAMED_REFERENCES = 1000
"""Contents, and references of files, per round trip when all are read."""

AT_HAND = 50
"""Texts that are not decompressed again during a question."""

FILE_ROW = "SELECT id, path, size, mtime_ns, ctime_ns, role, content FROM files WHERE view = %s"

T = TypeVar("T")


class Files:
    """Files of one snapshot."""

    def __init__(self, session: Session, remembered: Remembered, filters: Filters) -> None:
        self._session = session
        self._remembered = remembered
        self._filters = filters
        self._known: dict[int, StoredFile | None] = {}
        self._awaited: set[int] = set()
        self._texts: dict[bytes, bytes] = {}

    # --- one file ---

    def expect(self, ids: Iterable[int]) -> None:
        """Files that are likely to be asked for: all are read when the first one is."""
        self._awaited.update(ids)

    def file(self, id: int) -> StoredFile | None:
        """A file by id."""
        if id not in self._known:
            self._load({id, *self._awaited})
        return self._known[id]

    def _load(self, ids: Iterable[int]) -> None:
        self._awaited.clear()
        new = [id for id in ids if id not in self._known]
        self._known.update((id, self._remembered.files.get(id)) for id in new)
        rows = self._rows([id for id in new if self._known[id] is None and abs(id) < 2**43])
        contents = self._contents({row.content for row in rows})
        for row in rows:
            digest, parsed, definitions = contents[row.content]
            stamp = FileStamp(row.size, row.mtime_ns, row.ctime_ns)
            file = StoredFile(row.id, row.path, stamp, digest, Role(row.role), parsed, definitions)
            self._known[row.id] = file
            self._remembered.files.put(row.id, file)

    def _rows(self, ids: Sequence[int]) -> list[FileRow]:
        if not ids:
            return []
        if (directory := self._directory()) is not None:
            return [directory.rows[id] for id in ids if id in directory.rows]
        rows = self._session.ask(f"{FILE_ROW} AND id = ANY(%s)", [self._session.view, ids], prepare=True)
        return list(map(FileRow._make, rows))

    def _contents(self, ids: Collection[int]) -> Mapping[int, Content]:
        found = {id: known for id in ids if (known := self._remembered.contents.get(id))}
        missing = [id for id in ids if id not in found]
        if not missing:
            return found
        for id, digest, language, health, packed in self._session.ask(
            "SELECT id, hash, language, health, parsed FROM contents WHERE id = ANY(%s)",
            [missing],
            prepare=True,
        ):
            parsed = row_codec.unpacked(language, health, unzipped(packed))
            found[id] = Content(digest, parsed, chunk_fields.definitions_by_chunk(parsed))
            self._remembered.contents.put(id, found[id])
        return found

    def at(self, path: str) -> StoredFile | None:
        """A file by path."""
        if (directory := self._directory()) is not None:
            id = directory.ids.get(stored(path))
        else:
            held = (file.id for file in self._known.values() if file is not None and file.path == path)
            id = next(held, None)
        if id is None and directory is None:
            query = "SELECT id FROM files WHERE view = %s AND path = %s"
            rows = self._session.ask(query, [self._session.view, stored(path)], prepare=True)
            id = rows[0][0] if rows else None
        return self.file(id) if id is not None else None

    def named(self, name: str, filter: Filter, limit: int) -> list[int]:
        """Files by name, stem or trailing path."""
        wanted = stored(name.lower().strip("/"))
        last = wanted.rpartition("/")[2]
        rows = self._named(last, filter)
        found = (id for id, path in rows if name_match.path_ends_with(path, wanted))
        return list(islice(found, max(0, limit)))

    def _named(self, last: str, filter: Filter) -> Iterable[tuple[int, str]]:
        if (directory := self._directory()) is None:
            where = filter_sql.files(filter)
            rows = self._session.ask(
                "SELECT f.id, f.path FROM files f WHERE f.view = %s AND (f.name_key = %s OR f.stem_key = %s)"
                f"{where.text} ORDER BY f.path",
                [self._session.view, last, last, *where.values],
            )
            return [(id, path) for id, path in rows]
        named = directory.named(last)
        files = self._filters.files(filter) if named else None
        return [(row.id, row.path) for row in named if files is None or row.id in files]

    def _directory(self) -> Directory | None:
        """All files, if they are asked for often and are not too many."""
        remembered = self._remembered
        if not remembered.asked_often or self._session.state.files > LISTED_FILES:
            return None
        if remembered.directory is None:
            rows = self._session.ask(FILE_ROW, [self._session.view])
            remembered.directory = Directory(list(map(FileRow._make, rows)))
        return remembered.directory

    # --- what files say ---

    def expect_texts(self, ids: Iterable[int]) -> None:
        """Read what some files say at once: one by one they are asked for next."""
        self._read([file.content_hash for id in ids if (file := self.file(id)) is not None])

    def content(self, id: int) -> bytes:
        """What a file says."""
        file = self.file(id)
        if file is None:
            return b""
        if file.content_hash not in self._texts:
            self._read([file.content_hash])
        return self._texts[file.content_hash]

    def _read(self, hashes: Sequence[bytes]) -> None:
        if len(self._texts) > AT_HAND:
            self._texts.clear()
        packed = {
            digest: self._remembered.texts.get(digest) for digest in hashes if digest not in self._texts
        }
        if missing := [digest for digest, text in packed.items() if text is None]:
            query = "SELECT hash, text FROM contents WHERE repository = %s AND hash = ANY(%s)"
            for digest, text in self._session.ask(
                query, [self._session.state.repository, missing], prepare=True
            ):
                packed[digest] = text
                self._remembered.texts.put(digest, text, len(text))
        self._texts.update((digest, unzipped(text or b"")) for digest, text in packed.items())

    def contents(self, filter: Filter) -> Iterator[tuple[int, bytes]]:
        """Id and content of every file that passes, in order of path."""
        where = filter_sql.files(filter)
        rows = self._session.ask(
            f"SELECT f.id, f.content FROM files f WHERE f.view = %s{where.text} ORDER BY f.path",
            [self._session.view, *where.values],
        )
        for some in _batches(rows, STREAMED):
            texts: dict[int, bytes] = dict(
                self._session.ask(
                    "SELECT id, text FROM contents WHERE id = ANY(%s)", [[row[1] for row in some]]
                )
            )
            for id, content in some:
                yield id, unzipped(texts[content])

    # --- what else is kept of files ---

    def references(self, paths: Collection[str] | None = None) -> Iterator[FileReferences]:
        """What files define and mention, in order of path."""
        some = "" if paths is None else " AND f.path = ANY(%s)"
        rows = self._session.ask(
            f"SELECT f.path, f.language, f.role, f.content FROM files f WHERE f.view = %s{some} ORDER BY f.path",
            [self._session.view] if paths is None else [self._session.view, list(map(stored, paths))],
        )
        for some_rows in _batches(rows, STREAMED_REFERENCES):
            found = self._session.ask(
                "SELECT id, hash, mentions FROM contents WHERE id = ANY(%s)", [[row[3] for row in some_rows]]
            )
            known = {id: (digest, packed) for id, digest, packed in found}
            for path, language, role, content in some_rows:
                digest, packed = known[content]
                yield FileReferences(path, digest, language, Role(role), packed)

    def vectors(self, id: int) -> tuple[ChunkVector, ...]:
        """The vectors of a file's chunks, in order."""
        rows = self._session.ask(
            "SELECT v.key, v.vector FROM files f CROSS JOIN unnest(f.vectors) WITH ORDINALITY u (key, place) "
            "JOIN vectors v ON v.repository = %s AND v.key = u.key WHERE f.view = %s AND f.id = %s ORDER BY place",
            [self._session.state.repository, self._session.view, id],
        )
        return tuple(map(ChunkVector._make, rows))

    def manifest(self) -> Mapping[str, KnownFile]:
        """Every file by path."""
        remembered = self._remembered
        if remembered.manifest is None:
            remembered.manifest = manifest(self._session.ask(MANIFEST, [self._session.view]))
        return remembered.manifest

    def folders(self) -> Mapping[str, int]:
        """The folders of the last walk."""
        remembered = self._remembered
        if remembered.folders is None:
            ((text,),) = self._session.ask("SELECT folders FROM views WHERE id = %s", [self._session.view])
            remembered.folders = json.loads(text) if text else {}
        return remembered.folders


def unzipped(packed: bytes) -> bytes:
    """A compressed value, or an error that says what to do."""
    try:
        return inflate(packed)
    except (zlib.error, ValueError) as error:
        raise IndexCorrupt.beyond_repair(f"a file's entry in the index is damaged ({error})") from error


def _batches(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
