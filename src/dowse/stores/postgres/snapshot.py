"""Reading: one generation of a view, in one read-only transaction on one connection.

The server keeps for that transaction what it was when it began (REPEATABLE READ): nothing a writer does
shows. If the connection breaks, the snapshot goes on with a new one as long as the view is still of the same
generation, which means equal answers; otherwise it is an error, never a mixture.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from psycopg import sql

from dowse.code import terms as chunk_fields
from dowse.errors import IndexCorrupt, IndexMissing, IndexUnreachable
from dowse.stores import naming, packing
from dowse.stores.postgres import conditions, postings, schema
from dowse.stores.postgres.conditions import Where, stored
from dowse.stores.postgres.connection import Connection, ConnectionLost, Connections, unreachable
from dowse.stores.postgres.postings import Allowed, Array, Segment, Statistics
from dowse.types import (
    CHUNK_BITS,
    ChunkVector,
    FileReferences,
    FileStamp,
    Filter,
    NameHit,
    NameTier,
    ParsedFile,
    Role,
    Scored,
    StoredFile,
    Term,
    split_chunk_id,
)

CACHED_CONTENTS = 4000
"""Parsed files kept in memory between queries: about 20 MB."""

CACHED_TEXT = 16_000_000
"""Bytes of contents kept in memory between queries."""

CACHED_FILTERS = 20
"""Filters whose files are remembered: a session asks with few."""

EXACT_CHUNKS = 20_000
"""Where a filter leaves no more than this, all of them are compared with the question: as fast as the graph, which
would have to pass over too much, and exact."""

GRAPH_LIMIT = 500
"""More hits than this are not asked of a graph: it finds the nearest, not all."""

STREAMED = 50
STREAMED_REFERENCES = 1000
"""Contents, and references of files, per round trip when all are read."""

ORDINALS = (1 << CHUNK_BITS) - 1

T = TypeVar("T")

Key = tuple[str, int, int]


class ViewState(NamedTuple):
    """How far a view has come. ``restamps`` counts changes of stamps, which make no new generation."""

    id: int
    repository: int
    generation: int
    fingerprint: str
    restamps: int
    files: int
    chunks: int
    tokens: Sequence[int]
    dimensions: Sequence[int]
    identity: str

    @property
    def key(self) -> Key:
        """Equal for equal answers."""
        return self.identity, self.generation, self.restamps


STATE = (
    "SELECT v.id, v.repository, generation, fingerprint, restamps, files, chunks, tokens, dimensions, "
    "identity FROM views v JOIN repositories r ON r.id = v.repository WHERE r.name = %s AND v.name = %s"
)


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file of the manifest, and the settings it was written under."""

    id: int
    stamp: FileStamp
    content_hash: bytes
    fingerprint: str


class _Content(NamedTuple):
    hash: bytes
    parsed: ParsedFile
    definitions: tuple[tuple[int, ...], ...]


@dataclass
class Remembered:
    """What was read between queries. Contents never change under their id, the rest belongs to a key."""

    key: Key | None = None
    contents: dict[int, _Content] = field(default_factory=dict)
    texts: dict[int, bytes] = field(default_factory=dict)
    text_bytes: int = 0
    files: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    paths: dict[str, int] = field(default_factory=dict)
    allowed: dict[Filter, Allowed] = field(default_factory=dict)
    segments: Mapping[int, Segment] | None = None
    manifest: Mapping[str, KnownFile] | None = None
    folders: Mapping[str, int] | None = None

    def at(self, key: Key) -> Remembered:
        """What still holds at a key."""
        if self.key == key:
            return self
        contents = self.contents if len(self.contents) < CACHED_CONTENTS else {}
        return Remembered(key, contents, self.texts, self.text_bytes)


def begin(connection: Connection) -> None:
    """Begin a transaction that sees one state of the database from first to last."""
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")


def view_state(connection: Connection, repository: str, view: str) -> ViewState | None:
    """How far a view has come; None if it is not there."""
    row = connection.execute(STATE, [repository, view]).fetchone()
    return ViewState(*row) if row else None


class PostgresSnapshot:
    """One generation of a view."""

    def __init__(
        self,
        connections: Connections,
        connection: Connection,
        names: tuple[str, str],
        state: ViewState,
        remembered: Remembered,
    ) -> None:
        self.generation = state.generation
        self.identity = state.identity
        self.state = state
        self._connections = connections
        self._connection = connection
        self._names = names
        self._remembered = remembered
        self._lists: dict[str, Sequence[tuple[Segment, Array]]] = {}
        self._own: Connection | None = None

    def close(self) -> None:
        """Let go of a connection that was opened in place of a lost one."""
        if self._own is not None:
            self._own.close()

    # --- asking ---

    def _ask(self, query: str | sql.Composed, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query; on a new connection if the old one is gone and nothing has changed."""
        return self._again(lambda connection: connection.execute(query, values, binary=True).fetchall())

    def _again(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._connections.mapped():
                return work(self._connection)
        except ConnectionLost:
            pass
        try:
            with self._connections.mapped():
                self._resume()
                return work(self._connection)
        except ConnectionLost as error:
            raise unreachable(self._connections.server, error) from error

    def _resume(self) -> None:
        connection = self._connections.open()
        begin(connection)
        state = view_state(connection, *self._names)
        if state is None or state.key != self.state.key:
            connection.close()
            raise IndexUnreachable(
                f"the connection to {self._connections.server.shown} was lost, and the index has changed meanwhile: "
                "ask again"
            )
        self._connection = self._own = connection

    @property
    def _view(self) -> int:
        return self.state.id

    # --- the lexical channel ---

    def lexical(
        self, terms: Sequence[Term], fields: Mapping[str, float], filter: Filter, limit: int
    ) -> list[Scored]:
        """Chunks by BM25 over the posting lists of the terms."""
        if limit < 1:
            return []
        used = [term for term in terms if term.weight]
        lists = self._postings([term.text for term in used])
        found = postings.scores(lists, used, fields, Statistics(self.state.chunks, self.state.tokens))
        hits = postings.best(found, self._allowed(filter) if found else Allowed(), limit)
        self._load({hit.chunk >> CHUNK_BITS for hit in hits})
        return hits

    def frequency(self, token: str) -> int:
        """How many chunks have a token in their body."""
        lists = self._postings([token]).get(token, ())
        return int(postings.holders(lists)[postings.FIELDS.index("body")])

    def chunk_count(self) -> int:
        """How many chunks there are."""
        return self.state.chunks

    def _postings(self, tokens: Iterable[str]) -> postings.Lists:
        missing = sorted({token for token in tokens if token not in self._lists and "\0" not in token})
        if missing:
            segments = self._segments()
            rows = self._ask(
                "SELECT token, segment, data FROM postings "
                "WHERE view = %s AND segment = ANY(%s) AND token = ANY(%s)",
                [self._view, list(segments), missing],
            )
            self._lists.update(dict.fromkeys(missing, ()))
            self._lists.update(postings.unpacked(segments, rows))
        return self._lists

    def _segments(self) -> Mapping[int, Segment]:
        remembered = self._remembered
        if remembered.segments is None:
            rows = self._ask(
                "SELECT number, files, chunks, removed FROM segments WHERE view = %s", [self._view]
            )
            remembered.segments = {row[0]: segment(*row) for row in rows}
        return remembered.segments

    def _allowed(self, filter: Filter) -> Allowed:
        """What a filter lets through, as ids."""
        if not (filter.about_files or filter.about_chunks):
            return Allowed()
        known = self._remembered.allowed
        if filter not in known:
            where = conditions.files(filter)
            chunks = not_chunks = None
            if filter.kinds:
                chunks = self._defining(conditions.kinds(filter.kinds), where)
            if filter.names:
                named = self._defining(conditions.names(filter.names), where)
                chunks = named if chunks is None else np.intersect1d(chunks, named)
            if filter.not_kinds:
                not_chunks = self._defining(conditions.kinds(filter.not_kinds), where)
            files = None
            if filter.about_files:
                query = "SELECT string_agg(int8send(f.id), ''::bytea) FROM files f WHERE f.view = %s"
                files = self._ids(query, where)
            if len(known) >= CACHED_FILTERS:
                known.clear()
            known[filter] = Allowed(files, chunks, not_chunks)
        return known[filter]

    def _defining(self, definition: Where, where: Where) -> Array:
        """The chunks in or around which there is such a definition."""
        return self._ids(
            "SELECT string_agg(int8send(f.id << 20 | place), ''::bytea) FROM files f "
            "JOIN names n ON n.content = f.content CROSS JOIN unnest(n.around || n.chunk) place WHERE f.view = %s",
            Where(definition.text + where.text, definition.values + where.values),
        )

    def _ids(self, query: str, where: Where) -> Array:
        ((packed,),) = self._ask(query + where.text, [self._view, *where.values])
        return np.frombuffer(packed or b"", dtype=">i8").astype(np.int64)

    # --- the dense channel ---

    def dense(self, vector: Sequence[float], filter: Filter, limit: int) -> list[Scored]:
        """Chunks by cosine: along the graph, or one by one where that is as fast."""
        if limit < 1 or len(vector) not in self.state.dimensions:
            return []
        asked = "[" + ",".join(map(repr, map(float, vector))) + "]"
        table = schema.dense_table(self._view, len(vector))
        if filter.about_chunks:
            rows = self._dense_among(table, asked, self._allowed_chunks(filter), limit)
        elif limit <= GRAPH_LIMIT and self._reaches(filter) > EXACT_CHUNKS:
            rows = self._dense_along(table, asked, conditions.files(filter), limit)
        else:
            rows = self._dense_exactly(table, asked, self._allowed(filter).files, limit)
        hits = [Scored(chunk, 0.0 if distance != distance else 1.0 - distance) for chunk, distance in rows]
        hits.sort(key=lambda hit: (-hit.score, hit.chunk))
        self._load({hit.chunk >> CHUNK_BITS for hit in hits})
        return hits

    def _reaches(self, filter: Filter) -> int:
        """How many chunks the files that pass have."""
        files = self._allowed(filter).files
        if files is None:
            return self.state.chunks
        return sum(int(one.chunks[np.isin(one.files, files)].sum()) for one in self._segments().values())

    def _dense_along(
        self, table: sql.Identifier, asked: str, where: Where, limit: int
    ) -> list[tuple[Any, ...]]:
        """In the order of the graph, which goes on until enough pass."""
        passes = (
            "WHERE EXISTS (SELECT FROM files f WHERE f.view = %s AND f.id = d.chunk >> 20" + where.text + ")"
            if where.text
            else ""
        )
        values = [self._view, *where.values] if where.text else []
        query = sql.SQL(
            "SELECT chunk, embedding <=> %s::halfvec FROM {} d "
            + passes
            + " ORDER BY embedding <=> %s::halfvec LIMIT %s"
        ).format(table)
        return self._ask(query, [asked, *values, asked, limit])

    def _dense_exactly(
        self, table: sql.Identifier, asked: str, files: Array | None, limit: int
    ) -> list[tuple[Any, ...]]:
        """Every chunk of some files, or of all; "+ 0" keeps the graph out of it."""
        among, values = "FROM {} d", []
        if files is not None:
            values = [files.tolist()]
            among = (
                "FROM unnest(%s::bigint[]) file CROSS JOIN LATERAL "
                "(SELECT * FROM {} WHERE chunk BETWEEN file << 20 AND file << 20 | 1048575 OFFSET 0) d"
            )
        query = sql.SQL(
            "SELECT d.chunk, (d.embedding <=> %s::halfvec) + 0 AS distance "
            + among
            + " ORDER BY 2, 1 LIMIT %s"
        ).format(table)
        return self._ask(query, [asked, *values, limit])

    def _dense_among(
        self, table: sql.Identifier, asked: str, chunks: Array, limit: int
    ) -> list[tuple[Any, ...]]:
        """The chunks of these ids."""
        query = sql.SQL(
            "WITH near AS MATERIALIZED (SELECT chunk, embedding <=> %s::halfvec AS distance FROM {} "
            "WHERE chunk = ANY(%s)) SELECT chunk, distance FROM near ORDER BY distance, chunk LIMIT %s"
        ).format(table)
        return self._ask(query, [asked, chunks.tolist(), limit])

    def _allowed_chunks(self, filter: Filter) -> Array:
        allowed = self._allowed(filter)
        parts = [np.empty(0, dtype=np.int64)]
        for one in self._segments().values():
            passes = allowed.of(one)
            parts.append(one.ids[one.live if passes is None else one.live & passes])
        return np.concatenate(parts)

    # --- names ---

    def names(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Entities by name, in the order of the server's indexes."""
        if limit < 1:
            return []
        match, checked = _matching(pattern, tier)
        where = conditions.files(filter), conditions.definition(filter)
        rows = self._ask(
            "SELECT f.id, n.ordinal, n.chunk, n.name_key FROM names n "
            "JOIN files f ON f.view = %s AND f.content = n.content "
            f"WHERE n.repository = %s{match.text}{where[0].text}{where[1].text} "
            "ORDER BY n.name_key, f.path, n.ordinal" + ("" if checked else " LIMIT %s"),
            [
                self._view, self.state.repository, *match.values, *where[0].values, *where[1].values,
                *([] if checked else [limit]),
            ],
        )  # fmt: skip
        if checked:  # one name may have many definitions
            alike = {name: naming.matches(tier, pattern, name) for name in {row[3] for row in rows}}
            rows = [row for row in rows if alike[row[3]]][:limit]
        hits = [NameHit(file, ordinal, chunk, tier) for file, ordinal, chunk, _ in rows]
        self._load({hit.file for hit in hits})
        return hits

    def chunk_passes(self, chunk: int, filter: Filter) -> bool:
        """Whether a chunk passes by its definitions."""
        from dowse.stores.filtering import chunk_passes

        id, ordinal = split_chunk_id(chunk)
        file = self.file(id)
        return file is not None and chunk_passes(filter, file, ordinal)

    # --- files ---

    def files_named(self, name: str, filter: Filter, limit: int) -> list[int]:
        """Files by name, stem or trailing path."""
        wanted = stored(name.lower().strip("/"))
        last, where = wanted.rpartition("/")[2], conditions.files(filter)
        rows = self._ask(
            "SELECT f.id, f.path FROM files f WHERE f.view = %s AND (f.name_key = %s OR f.stem_key = %s)"
            f"{where.text} ORDER BY f.path",
            [self._view, last, last, *where.values],
        )
        found = (id for id, path in rows if naming.path_ends_with(path, wanted))
        return list(islice(found, max(0, limit)))

    def file(self, id: int) -> StoredFile | None:
        """A file by id."""
        if id not in self._remembered.files:
            self._load([id])
        row = self._remembered.files.get(id)
        if row is None:
            return None
        _, path, size, mtime_ns, role, content = row
        known = self._remembered.contents[content]
        return StoredFile(
            id, path, FileStamp(size, mtime_ns), known.hash, Role(role), known.parsed, known.definitions
        )

    def _load(self, ids: Iterable[int]) -> None:
        """Read some files at once: one by one they would be asked for next."""
        remembered = self._remembered
        missing = [id for id in ids if id not in remembered.files and abs(id) < 2**43]
        if not missing:
            return
        rows = self._ask(
            "SELECT id, path, size, mtime_ns, role, content FROM files WHERE view = %s AND id = ANY(%s)",
            [self._view, missing],
        )
        unknown = [row[5] for row in rows if row[5] not in remembered.contents]
        if unknown:
            for id, digest, language, health, packed in self._ask(
                "SELECT id, hash, language, health, parsed FROM contents WHERE id = ANY(%s)", [unknown]
            ):
                parsed = packing.unpacked(language, health, unzipped(packed).decode())
                remembered.contents[id] = _Content(digest, parsed, chunk_fields.definitions_by_chunk(parsed))
        for row in rows:
            remembered.files[row[0]] = row
            remembered.paths[row[1]] = row[0]

    def file_at(self, path: str) -> StoredFile | None:
        """A file by path."""
        id = self._remembered.paths.get(path)
        if id is None:
            rows = self._ask("SELECT id FROM files WHERE view = %s AND path = %s", [self._view, stored(path)])
            id = rows[0][0] if rows else None
        return self.file(id) if id is not None else None

    def content(self, id: int) -> bytes:
        """What a file says."""
        remembered = self._remembered
        self._load([id])
        row = remembered.files.get(id)
        if row is None:
            return b""
        if row[5] not in remembered.texts:
            ((packed,),) = self._ask("SELECT text FROM contents WHERE id = %s", [row[5]])
            text = unzipped(packed)
            if remembered.text_bytes + len(text) > CACHED_TEXT:
                remembered.texts, remembered.text_bytes = {}, 0
            remembered.texts[row[5]] = text
            remembered.text_bytes += len(text)
        return remembered.texts[row[5]]

    def contents(self, filter: Filter) -> Iterator[tuple[int, bytes]]:
        """Id and content of every file that passes, in order of path."""
        where = conditions.files(filter)
        rows = self._ask(
            f"SELECT f.id, f.content FROM files f WHERE f.view = %s{where.text} ORDER BY f.path",
            [self._view, *where.values],
        )
        for some in _batches(rows, STREAMED):
            texts = dict(
                self._ask("SELECT id, text FROM contents WHERE id = ANY(%s)", [[row[1] for row in some]])
            )
            for id, content in some:
                yield id, unzipped(texts[content])

    def references(self, paths: Collection[str] | None = None) -> Iterator[FileReferences]:
        """What files define and mention, in order of path."""
        some = "" if paths is None else " AND f.path = ANY(%s)"
        rows = self._ask(
            f"SELECT f.path, f.language, f.role, f.content FROM files f WHERE f.view = %s{some} ORDER BY f.path",
            [self._view] if paths is None else [self._view, list(map(stored, paths))],
        )
        for some_rows in _batches(rows, STREAMED_REFERENCES):
            found = self._ask(
                "SELECT id, hash, mentions FROM contents WHERE id = ANY(%s)", [[row[3] for row in some_rows]]
            )
            known = {id: (digest, packed) for id, digest, packed in found}
            for path, language, role, content in some_rows:
                digest, packed = known[content]
                yield FileReferences(path, digest, language, Role(role), packed)

    def file_vectors(self, id: int) -> tuple[ChunkVector, ...]:
        """The vectors of a file's chunks, in order."""
        rows = self._ask(
            "SELECT v.key, v.vector FROM files f CROSS JOIN unnest(f.vectors) WITH ORDINALITY u (key, place) "
            "JOIN vectors v ON v.repository = %s AND v.key = u.key WHERE f.view = %s AND f.id = %s ORDER BY place",
            [self.state.repository, self._view, id],
        )
        return tuple(map(ChunkVector._make, rows))

    def file_count(self) -> int:
        """How many files there are."""
        return self.state.files

    def manifest(self) -> Mapping[str, KnownFile]:
        """Every file by path."""
        remembered = self._remembered
        if remembered.manifest is None:
            remembered.manifest = manifest(self._ask(MANIFEST, [self._view]))
        return remembered.manifest

    def folders(self) -> Mapping[str, int]:
        """The folders of the last walk."""
        remembered = self._remembered
        if remembered.folders is None:
            ((text,),) = self._ask("SELECT folders FROM views WHERE id = %s", [self._view])
            remembered.folders = json.loads(text) if text else {}
        return remembered.folders

    # --- what is indexed, for comparing indexes ---

    def indexed_chunks(self) -> dict[int, list[int]]:
        """For each file, the places of the chunks that the lexical index has."""
        return _by_file(self._allowed_chunks(Filter()).tolist())

    def embedded_chunks(self) -> dict[int, list[int]]:
        """For each file, the places of the chunks that have a vector."""
        chunks: list[int] = []
        for dimensions in self.state.dimensions:
            table = schema.dense_table(self._view, dimensions)
            chunks += [id for (id,) in self._ask(sql.SQL("SELECT chunk FROM {}").format(table))]
        return _by_file(chunks)


MANIFEST = (
    "SELECT f.path, f.id, f.size, f.mtime_ns, c.hash, f.fingerprint FROM files f "
    "JOIN contents c ON c.id = f.content WHERE f.view = %s"
)


def manifest(rows: Iterable[tuple[Any, ...]]) -> dict[str, KnownFile]:
    """Files by path."""
    return {
        path: KnownFile(id, FileStamp(size, mtime_ns), digest, fingerprint)
        for path, id, size, mtime_ns, digest, fingerprint in rows
    }


def segment(number: int, files: bytes, chunks: bytes, removed: Sequence[int]) -> Segment:
    """A segment from its row."""
    return Segment(
        number,
        np.frombuffer(files, dtype="<i8"),
        np.frombuffer(chunks, dtype="<i4"),
        frozenset(removed),
    )


def unzipped(packed: bytes) -> bytes:
    """A compressed value, or an error that says what to do."""
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        raise IndexCorrupt(
            f"a file's entry in the index is damaged ({error}): run 'dowse index --rebuild'"
        ) from error


def missing(root: str) -> IndexMissing:
    """There is nothing to read yet."""
    return IndexMissing(f"there is no index of {root}: run 'dowse index'")


def _batches(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _by_file(chunks: Iterable[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for file, ordinal in map(split_chunk_id, sorted(chunks)):
        found.setdefault(file, []).append(ordinal)
    return found


def _matching(pattern: str, tier: NameTier) -> tuple[Where, bool]:
    """What the names of a tier are looked up by, and whether each is to be checked after that."""
    key = stored(pattern.lower())
    if tier is NameTier.EXACT:
        return Where(" AND n.name_key = %s AND n.name = %s", (key, stored(pattern))), False
    if tier is NameTier.CASE:
        return Where(" AND n.name_key = %s", (key,)), False
    if tier is NameTier.PREFIX:
        return Where(" AND n.name_key >= %s AND n.name_key <= %s", (key, key + "\U0010ffff")), False
    if tier is NameTier.GLOB:
        return Where(" AND n.name_key ~ %s", (conditions.named(pattern),)), False
    edits = naming.typos_allowed(key)
    return Where(
        " AND char_length(n.name_key) BETWEEN %s AND %s AND bit_count((n.letters # %s)::bit(64)) <= %s",
        (len(key) - edits, len(key) + edits, conditions.letters(key), 2 * edits),
    ), True
