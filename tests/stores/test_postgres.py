"""What is special about the store on PostgreSQL: lost connections, roles, many views, errors that say what to do."""

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import psycopg
import pytest
from psycopg import sql

from dowse import stores
from dowse.errors import (
    IndexLocked,
    IndexMissing,
    IndexTooNew,
    IndexUnreachable,
    IndexUnwritable,
    SettingsError,
    UsageError,
)
from dowse.index_folder import IndexFolder
from dowse.lru import LruCache
from dowse.stores import SharedIndexOptions, copy_store
from dowse.stores.postgres import PostgresStore, Server, schema, state
from dowse.stores.postgres import dense_search as reading
from dowse.stores.postgres.connection import Connections
from dowse.stores.postgres.postings import (
    FIELD_LENGTHS,
    MERGE_SEGMENTS,
    PostingSegment,
    choose_merge,
    encode_lengths,
)
from dowse.stores.protocol import FORMAT, Store
from dowse.types.discovered import ChunkVector, SourceFile
from dowse.types.queries import Term
from dowse.types.stored import Filter, IndexState, NameTier

from . import server
from .building import (
    BODY,
    REPORT,
    TREE,
    build,
    dense,
    lexical,
    paths,
    source,
    sources,
    terms_of,
    watch_folders,
    write,
)
from .conftest import Create

OPENED: list[PostgresStore] = []
"""Closed after the test."""

REPOSITORY = Path(__file__).parent.parent.parent
posix_only = pytest.mark.skipif(os.name == "nt", reason="a process cannot be killed in the same way there")


def opened(
    url: str, repository: str = "repository", view: str = "/tree", fingerprint: str = "one"
) -> PostgresStore:
    store = stores.create(url, None, "/tree", fingerprint, SharedIndexOptions(repository, view))
    assert isinstance(store, PostgresStore)
    OPENED.append(store)
    return store


@pytest.fixture
def store(create: Create, tmp_path: Path) -> Iterator[PostgresStore]:
    made = create("postgresql", tmp_path)
    assert isinstance(made, PostgresStore)
    yield made
    made.close()


@pytest.fixture
def url(admin_url: str, worker_id: str) -> Iterator[str]:
    """A database of its own, with a schema."""
    made = server.database(admin_url, f"dowse_alone_{worker_id}")
    schema.init(Connections(Server(made)))
    yield made
    while OPENED:
        OPENED.pop().close()


def kick(url: str) -> None:
    """Break every other connection to a database, as a restart of the server does."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


# --- kills and lost connections --------------------------------------------------------------------


@posix_only
def test_a_killed_writer_leaves_the_last_commit_and_no_lock(url: str) -> None:
    chance = random.Random(3)
    generation = 0
    for seed in range(2):
        writing = subprocess.Popen(
            [sys.executable, "-m", "tests.stores.endless_writer", url, str(seed)],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
        )
        assert writing.stdout is not None
        assert writing.stdout.readline() == b"ready\n"
        time.sleep(chance.uniform(0, 0.3))
        writing.kill()
        writing.communicate()
        with closing(opened(url, "killed")) as store:
            with store.snapshot() as snapshot:
                assert snapshot.generation > generation
                generation = snapshot.generation
                manifest = set(snapshot.manifest())
                assert set(lexical(snapshot, "def return", limit=10_000)) <= manifest
                assert set(dense(snapshot, "return", limit=10_000)) == manifest
            for path, _, _, parsed, content, chunks, vectors, _ in store.dump():
                ordinals = list(range(len(parsed.chunks)))  # type: ignore[attr-defined]
                assert content and (chunks, vectors) == (ordinals, ordinals), path
            assert unlocked(store)


def unlocked(store: Store) -> bool:
    """Whether the lock is free, or becomes so as soon as the server notices that its holder is gone."""
    for _ in range(100):
        try:
            with store.writer():
                return True
        except IndexLocked:
            time.sleep(0.05)
    return False


def test_readers_find_the_way_back_to_a_server_that_was_away(url: str) -> None:
    with closing(opened(url)) as store:
        build(store, TREE)
        with store.snapshot() as snapshot:
            before = lexical(snapshot, "token")
        kick(url)
        assert store.state() is IndexState.CURRENT
        kick(url)
        with store.snapshot() as snapshot:
            assert lexical(snapshot, "token") == before


def test_a_snapshot_goes_on_if_nothing_has_changed(url: str) -> None:
    with closing(opened(url)) as store:
        build(store, TREE)
        with store.snapshot() as snapshot:
            before = lexical(snapshot, "token")
            kick(url)
            assert lexical(snapshot, "login") and lexical(snapshot, "token") == before
            assert "main.py" in snapshot.manifest()
        assert store.state() is IndexState.CURRENT


def test_a_snapshot_never_mixes_generations(url: str) -> None:
    with closing(opened(url)) as store, closing(opened(url)) as other:
        build(store, TREE)
        with store.snapshot() as snapshot:
            lexical(snapshot, "token")
            write(other, {"new.py": "token = 1\n"})
            kick(url)
            with pytest.raises(IndexUnreachable, match="has changed since: search again"):
                lexical(snapshot, "session")


def test_a_writer_repeats_what_did_not_go_through(url: str) -> None:
    with closing(opened(url)) as store:
        with store.writer() as writer:
            assert writer.apply([], sources(TREE)) == 1
            kick(url)
            assert writer.apply(["main.py"], [source("new.py", "fresh = 1\n")]) == 2
            kick(url)
            writer.finish(REPORT, watch_folders({"": 1}))
            with pytest.raises(IndexLocked), closing(opened(url)) as other, other.writer():
                pass
        with store.snapshot() as snapshot:
            assert snapshot.generation == 2
            assert set(snapshot.manifest()) == {*TREE, "new.py"} - {"main.py"}
            assert lexical(snapshot, "fresh") == ["new.py"]


def test_a_writer_that_lost_its_lock_to_another_says_so(url: str) -> None:
    with closing(opened(url)) as store, closing(opened(url)) as other, store.writer() as writer:
        writer.apply([], sources(TREE))
        kick(url)
        with other.writer() as second:
            second.apply(["main.py"], [])
            with pytest.raises(IndexLocked, match="another process"):
                writer.apply([], [source("new.py", "fresh = 1\n")])


# --- who may write ---------------------------------------------------------------------------------


def test_writers_of_one_view_wait_and_those_of_others_do_not(url: str) -> None:
    with (
        closing(opened(url, view="one")) as one,
        closing(opened(url, view="two")) as two,
        one.writer() as writer,
    ):
        writer.apply([], sources(TREE))
        with pytest.raises(IndexLocked, match=rf"pid {os.getpid()}\) is writing the index of one"):
            write(opened(url, view="one"), {})
        build(two, TREE)
        build(opened(url, "other"), TREE)
    assert two.status().files == len(TREE)


def test_many_writers_and_readers_at_once(url: str) -> None:
    """Views of one repository share contents: no deadlock, and every answer is of one generation."""
    errors: list[BaseException] = []
    stop = threading.Event()

    def work(number: int) -> None:
        try:
            with closing(opened(url, f"repository {number // 2}", f"view {number}")) as store:
                for i in range(8):
                    write(store, {f"f{i}.txt": f"marker shared{i % 3}"}, removed=[f"f{i - 1}.txt"])
                with store.writer() as writer:
                    writer.finish(REPORT, {})
        except BaseException as error:
            errors.append(error)

    def read(number: int) -> None:
        try:
            with closing(opened(url, f"repository {number // 2}", f"view {number}")) as store:
                while not stop.is_set():
                    try:
                        with store.snapshot() as snapshot:
                            expected = [f"f{snapshot.generation - 1}.txt"]
                            assert lexical(snapshot, "marker") == dense(snapshot, "marker") == expected
                            assert list(snapshot.manifest()) == expected
                    except IndexMissing:
                        pass
        except BaseException as error:
            errors.append(error)

    writers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    readers = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for thread in (*writers, *readers):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    assert not errors, errors


def test_a_reader_may_read_and_nothing_else(admin_url: str, worker_id: str) -> None:
    made = server.database(admin_url, f"dowse_roles_{worker_id}")
    role = f"dowse_reader_{worker_id}"
    with psycopg.connect(made, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))
        connection.execute(
            sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'let me read'").format(sql.Identifier(role))
        )
    owner = opened(made)
    with pytest.raises(UsageError, match="there is no role 'nobody'"):
        owner.init(["nobody"])
    owner.init([role])
    build(owner, TREE)
    owner.init([role])
    with closing(opened(server.address(made, user=role, password="let me read"))) as reader:
        assert reader.state() is IndexState.CURRENT
        assert reader.status().files == len(TREE)
        with reader.snapshot() as snapshot:
            assert lexical(snapshot, "token") and dense(snapshot, "token"), (
                "also of tables made after the grant"
            )
        for forbidden in (
            lambda: write(reader, {}),
            reader.clear,
            lambda: reader.put_blob("graph", b"x"),
            reader.init,
        ):
            with pytest.raises((IndexUnwritable, IndexUnreachable), match="may not") as caught:
                forbidden()
            assert "let me read" not in str(caught.value)
        assert reader.server_status().views[0].files == len(TREE)
        with pytest.raises(IndexUnwritable):
            reader.collect_garbage((), None)
    owner.close()


# --- many views ------------------------------------------------------------------------------------


def rows(url: str, table: str) -> int:
    with psycopg.connect(url) as connection:
        found = connection.execute(
            sql.SQL("SELECT count(*) FROM dowse.{}").format(sql.Identifier(table))
        ).fetchone()
    assert found is not None
    return int(found[0])


def test_views_of_a_repository_share_contents_and_vectors(url: str) -> None:
    one, two, other = opened(url, view="one"), opened(url, view="two"), opened(url, "other")
    build(one, TREE)
    contents, vectors = rows(url, "contents"), rows(url, "vectors")
    build(two, TREE | {"extra.py": "extra = 1\n"})
    assert (rows(url, "contents"), rows(url, "vectors")) == (contents + 1, vectors + 1)
    build(other, TREE)
    assert rows(url, "contents") == 2 * contents + 1, "repositories are apart"
    with one.snapshot() as first, two.snapshot() as second:
        assert lexical(first, "extra") == []
        assert lexical(second, "extra") == ["extra.py"]
        assert first.document_frequency("token") == second.document_frequency("token")
    one.clear()
    with two.snapshot() as second:
        assert lexical(second, "extra") == ["extra.py"] and "src/auth/login.py" in lexical(second, "token")
    assert rows(url, "contents") == 2 * contents + 1, "the other view uses them"
    two.clear()
    assert rows(url, "contents") == contents
    other.clear()
    for table in (
        "repositories",
        "views",
        "contents",
        "names",
        "vectors",
        "files",
        "segments",
        "postings",
        "kept",
    ):
        assert rows(url, table) == 0, table
    for store in (one, two, other):
        store.close()


def test_garbage_is_found_and_removed(url: str) -> None:
    one, two = opened(url, "first", "a"), opened(url, "second", "b")
    for store in (one, two):
        build(store, TREE)
    write(one, {}, removed=list(TREE)[:3])
    assert any("3 contents" in note for note in one.server_status().notes)
    assert one.collect_garbage((), None).contents == 3
    with pytest.raises(UsageError, match="no repository or view 'third'"):
        one.collect_garbage(["third"], None)
    gone = one.collect_garbage(["second"], None)
    assert (gone.views, gone.contents) == (1, 0)
    assert two.state() is IndexState.MISSING
    assert [view.view for view in one.server_status().views] == ["a"]
    assert one.collect_garbage((), 1.0).views == 0
    assert one.collect_garbage((), 0.0).views == 1
    assert rows(url, "contents") == rows(url, "repositories") == 0
    for store in (one, two):
        store.close()


def test_a_view_that_is_read_can_be_cleared(url: str) -> None:
    with closing(opened(url)) as store:
        build(store, TREE)
        with store.snapshot() as snapshot:
            before = dense(snapshot, "token")
            store.clear()
            assert dense(snapshot, "token") == before
        assert any("dense indexes" in note for note in store.server_status().notes)
        assert store.collect_garbage((), None).tables == 1


def test_status_of_the_server(url: str) -> None:
    with closing(opened(url, "r", "v")) as store:
        build(store, TREE)
        with store.writer():
            (view,) = store.server_status().views
            assert view.being_written
        found = store.server_status()
        (view,) = found.views
        assert (view.repository, view.view, view.generation, view.files) == ("r", "v", 1, len(TREE))
        assert view.complete and not view.being_written and found.size_bytes > 100_000
        assert found.extensions.keys() == {"vector", "pg_trgm"} and not found.notes


def test_copies_are_equal_in_both_directions(url: str, tmp_path: Path) -> None:
    first = stores.create("embedded", IndexFolder.from_data_folder(tmp_path / "one"), "/tree", "one")
    second = stores.create("embedded", IndexFolder.from_data_folder(tmp_path / "two"), "/tree", "one")
    shared = opened(url)
    with pytest.raises(IndexMissing, match="run 'dowse index' on it first"):
        copy_store.copy(first, shared, lambda *_: None)
    build(first, TREE)
    assert copy_store.copy(first, shared, lambda *_: None) == len(TREE)
    assert copy_store.copy(first, shared, lambda *_: None) == 0
    write(first, {"main.py": "def main(): pass\n"}, removed=["README.md"])
    assert copy_store.copy(first, shared, lambda *_: None) == 1
    assert copy_store.copy(shared, second, lambda *_: None) == len(TREE) - 1
    assert list(first.dump()) == list(shared.dump()) == list(second.dump())
    assert second.status().report == first.status().report
    for store in (first, second, shared):
        store.close()


# --- the lexical index -----------------------------------------------------------------------------


def word(number: int) -> str:
    return "zz" + chr(ord("a") + number) * 3


def test_many_small_commits_are_merged_and_find_the_same(store: PostgresStore) -> None:
    with store.writer() as writer:
        for i in range(3 * MERGE_SEGMENTS):
            writer.apply([f"f{i - 9}.txt"], [source(f"f{i}.txt", f"shared {word(i)} " * (i + 1))])
    last = 3 * MERGE_SEGMENTS
    with store.snapshot() as snapshot:
        assert len(snapshot._filters.layout.segments) < 2 * MERGE_SEGMENTS
        assert sorted(lexical(snapshot, "shared")) == sorted(f"f{i}.txt" for i in range(last - 9, last))
        assert snapshot.document_frequency(terms_of("shared")[0].text) == snapshot.chunk_count() == 9
        assert lexical(snapshot, word(last - 1)) == [f"f{last - 1}.txt"]
        assert lexical(snapshot, word(1)) == []


def test_what_is_merged() -> None:
    def segment(number: int, chunks: int, removed: bool = False) -> PostingSegment:
        files = np.array([number]), np.array([chunks])
        return PostingSegment(number, *files, frozenset([number] if removed else []))

    small = [segment(i, 5) for i in range(MERGE_SEGMENTS - 1)]
    assert choose_merge(small) == []
    assert len(choose_merge([*small, segment(99, 6)])) == MERGE_SEGMENTS
    assert choose_merge([*small, segment(99, 5000)]) == []
    assert choose_merge([segment(1, 5000), segment(2, 5000, removed=True)])[0].number == 2


def test_what_was_not_used_for_longest_is_forgotten() -> None:
    kept: LruCache[str, int] = LruCache(10)
    for name in "abcde":
        kept.put(name, 1, 2)
    kept.get("a")
    kept.put("f", 1, 3)
    assert [name for name in "abcdef" if kept.get(name) is not None] == ["a", "d", "e", "f"]
    kept.put("large", 1, 11)
    assert [name for name in ("a", "f", "large") if kept.get(name) is not None] == []


def test_lengths_are_rounded_down_to_a_byte() -> None:
    assert [int(FIELD_LENGTHS[code]) for code in (0, 39, 40, 41, 48, 255)] == [0, 39, 40, 42, 56, 2013265944]
    assert encode_lengths([0, 7, 40, 41, 43, 10**9]).tolist()[:5] == [0, 7, 40, 40, 41]


def test_any_text_may_be_asked_for(store: PostgresStore) -> None:
    build(store, TREE)
    awkward = ["'; DROP TABLE files; --", "%s %(a)s", "\\", "a\0b", "((", "*", "💥", "x" * 10_000, "'\"`$$"]
    with store.snapshot() as snapshot:
        for text in awkward:
            assert snapshot.lexical([Term(text, 1.0)], BODY, Filter(), 10) == []
            assert snapshot.document_frequency(text) == 0
            assert snapshot.find_files_named(text, Filter(), 10) == []
            assert snapshot.file_at(text) is None
            snapshot.contents(Filter(paths=(text,), names=(text,)))
            for tier in NameTier:
                snapshot.names(text, tier, Filter(languages=frozenset([text])), 10)
            list(snapshot.contents(Filter(paths=(text,), not_paths=(text,))))
        assert lexical(snapshot, "token")


# --- the dense index -------------------------------------------------------------------------------


def vectors(count: int, dimensions: int = 32) -> np.ndarray:
    random = np.random.default_rng(1)
    found = random.normal(size=(count, dimensions)).astype("<f4")
    normed: np.ndarray = found / np.linalg.norm(found, axis=1, keepdims=True)
    return normed


def filled(store: PostgresStore, rows: np.ndarray) -> list[SourceFile]:
    """A file for each vector."""
    files = [
        source(f"{'a' if i % 3 else 'b'}/f{i}.{'py' if i % 2 else 'md'}", f"name{i}\n")._replace(
            vectors=(ChunkVector(i.to_bytes(4, "big"), row.tobytes()),)
        )
        for i, row in enumerate(rows)
    ]
    with store.writer() as writer:
        writer.apply([], files)
        writer.finish(REPORT, {})
    return files


def test_the_graph_finds_what_exact_search_finds(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "HNSW_MIN_ROWS", 500)
    monkeypatch.setattr(reading, "EXACT_CHUNKS", 100)
    monkeypatch.setattr(reading, "SAMPLE_CHUNKS", 0)
    rows = vectors(1500)
    files = filled(store, rows)
    with psycopg.connect(store.server.url) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_indexes WHERE schemaname = 'dowse' AND indexdef LIKE '%hnsw%'"
        ).fetchone()
    assert found is not None and found[0] >= 1
    store.connections.close()
    store.status()  # loads pgvector, which knows nothing of what a session was set to before
    with store.snapshot() as snapshot:
        assert snapshot._transaction.fetch_rows("SHOW hnsw.ef_search") == [(str(state.GRAPH_CANDIDATES),)]
        assert snapshot._transaction.fetch_rows("SHOW hnsw.iterative_scan") == [("relaxed_order",)]
        for filter in (Filter(), Filter(languages=frozenset({"python"})), Filter(paths=("b",))):
            passing = {file.path for file in files if not filter.languages or file.path.endswith(".py")}
            passing = {path for path in passing if not filter.paths or path.startswith("b/")}
            for question in rows[:5]:
                hits = snapshot.dense(question.tolist(), filter, 50)
                best = sorted(
                    (float(row @ question), file.path)
                    for file, row in zip(files, rows, strict=True)
                    if file.path in passing
                )[-50:]
                there = set(paths(snapshot, hits))
                assert len(hits) == 50 and there <= passing
                assert len(there & {path for _, path in best}) >= 47
        write(store, {"c/new.py": "new\n"}, removed=["a/f1.py"])
    with store.snapshot() as snapshot:
        hits = snapshot.dense(rows[1].tolist(), Filter(), 5)
        assert "a/f1.py" not in paths(snapshot, hits)


def graphs(store: PostgresStore) -> int:
    """How many graphs a store has."""
    return sum(v.graphs for v in store.server_status().views if v.repository == store.names[0])


def test_a_graph_does_not_wait_forever_for_who_reads(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "HNSW_MIN_ROWS", 500)
    monkeypatch.setattr(schema, "GRAPH_LOCK_TIMEOUT", "200ms")
    build(store, TREE)
    rows = vectors(600)
    with store.snapshot() as before:
        names = before.manifest().keys()
        filled(store, rows)
        assert graphs(store) == 0
        assert dense(before, "token") and set(before.manifest()) == names
    with store.writer() as writer:
        writer.finish(REPORT, {})
        shown = writer._connection.execute("SHOW statement_timeout").fetchone()
    assert shown == ("10min",)
    assert graphs(store) == 1
    with store.snapshot() as snapshot:
        assert len(snapshot.dense(rows[0].tolist(), Filter(), 20)) == 20


@pytest.mark.parametrize("compared", [0, 10**6])
def test_what_the_graph_misses_is_found(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, compared: int
) -> None:
    monkeypatch.setattr(schema, "HNSW_MIN_ROWS", 500)
    monkeypatch.setattr(schema, "HNSW_LINKS", 2)
    monkeypatch.setattr(schema, "HNSW_EFFORT", 4)
    monkeypatch.setattr(state, "GRAPH_CANDIDATES", 1)
    rows = vectors(1500)
    filled(store, rows)
    with store.snapshot() as snapshot:
        exact = [snapshot.dense(row.tolist(), Filter(), 20) for row in rows[:9]]
    monkeypatch.setattr(reading, "EXACT_CHUNKS", 100)
    monkeypatch.setattr(reading, "SAMPLE_CHUNKS", 0)
    with store.snapshot() as snapshot:
        assert [snapshot.dense(row.tolist(), Filter(), 20) for row in rows[:9]] != exact
    monkeypatch.setattr(reading, "SAMPLE_CHUNKS", 1500)  # all of them
    monkeypatch.setattr(reading, "MAX_EXACT_CHUNKS", compared)
    with store.snapshot() as snapshot:
        assert [snapshot.dense(row.tolist(), Filter(), 20) for row in rows[:9]] == exact


def test_vectors_of_two_lengths_live_side_by_side(store: PostgresStore) -> None:
    build(store, TREE)
    short = source("a.py", "a = 1\n")._replace(vectors=(ChunkVector(b"a", vectors(1, 8)[0].tobytes()),))
    with store.writer() as writer:
        writer.apply([], [short])
    with store.snapshot() as snapshot:
        assert paths(snapshot, snapshot.dense([1.0] * 8, Filter(), 9)) == ["a.py"]
        assert len(dense(snapshot, "token")) > 5


# --- errors that say what to do --------------------------------------------------------------------


def test_a_server_that_is_not_there() -> None:
    store = opened("postgresql://user:hush@127.0.0.1:1/none")
    with pytest.raises(IndexUnreachable, match=r"cannot be reached.*is the server up") as caught:
        store.state()
    assert "hush" not in str(caught.value) and "user:***@127.0.0.1" in str(caught.value)


def test_a_database_or_schema_that_is_not_there(admin_url: str, worker_id: str) -> None:
    with pytest.raises(IndexUnreachable, match="create the database"):
        opened(server.address(admin_url, dbname="nowhere")).state()
    empty = server.database(admin_url, f"dowse_empty_{worker_id}")
    with closing(opened(empty)) as store:
        for attempt in (store.state, store.status, lambda: build(store, TREE), store.server_status):
            with pytest.raises(IndexMissing, match="run 'dowse store init'"):
                attempt()


def test_an_address_that_makes_no_sense() -> None:
    with pytest.raises(SettingsError) as caught:
        opened("postgresql://user:hush@localhost/none?colour=blue").state()
    assert "hush" not in str(caught.value)


def test_init_twice_does_no_harm_and_rebuild_starts_anew(url: str) -> None:
    with closing(opened(url)) as store:
        build(store, TREE)
        store.init()
        assert store.status().files == len(TREE)
        store.init(rebuild=True)
        assert store.state() is IndexState.MISSING


def set_format(url: str, number: int) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE dowse.meta SET format = %s", [number])


def test_another_version_is_named(url: str) -> None:
    build(opened(url), TREE)
    set_format(url, FORMAT + 1)
    for attempt in (opened(url).state, lambda: build(opened(url), TREE), opened(url).init):
        with pytest.raises(IndexTooNew, match="upgrade dowse"):
            attempt()
    set_format(url, FORMAT - 1)
    assert opened(url).state() is IndexState.OTHER_VERSION
    assert opened(url).status().state is IndexState.OTHER_VERSION
    with pytest.raises(UsageError, match="store init --rebuild"):
        opened(url).init()
    opened(url).init(rebuild=True)
    assert opened(url).state() is IndexState.MISSING


def test_a_missing_extension_is_named(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(schema.EXTENSIONS, "vectors_of_tomorrow", "package postgresql-tomorrow")
    with pytest.raises(
        IndexUnreachable, match=r"no extension 'vectors_of_tomorrow': install it.*postgresql-tomorrow"
    ):
        opened(url).init()
    monkeypatch.setattr(schema, "MIN_VECTOR_VERSION", (99, 0))
    with pytest.raises(IndexUnreachable, match=r"99\.0 or newer is needed"):
        opened(url).init()


def test_a_statement_that_takes_too_long(url: str) -> None:
    build(opened(url), TREE)
    slow = stores.create(url, None, "/tree", "one", SharedIndexOptions("repository", "/tree", timeout=0.2))
    assert isinstance(slow, PostgresStore)
    with closing(slow), slow.snapshot() as snapshot, pytest.raises(IndexUnreachable, match="store_timeout"):
        snapshot._transaction.fetch_rows("SELECT pg_sleep(5)")


def test_a_connection_that_goes_after_the_last_answer(store: PostgresStore) -> None:
    build(store, TREE)
    with store.snapshot() as snapshot:
        assert lexical(snapshot, "token")
        ((pid,),) = snapshot._transaction.fetch_rows("SELECT pg_backend_pid()")
        with psycopg.connect(store.server.url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    with store.snapshot() as snapshot:
        assert lexical(snapshot, "token")


def test_a_server_without_space(url: str) -> None:
    error = psycopg.errors.DiskFull("could not extend file: No space left on device")
    found = Connections(Server(url)).translate(error, writing=True)
    assert isinstance(found, IndexUnwritable) and "more space" in str(found)


def test_a_read_only_server(url: str) -> None:
    build(opened(url), TREE)
    with psycopg.connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(
            sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(sql.Identifier(name))
        )
    with closing(opened(url)) as store:
        with pytest.raises(IndexUnwritable, match=r"takes no writes.*primary"):
            write(store, {})
        with store.snapshot() as snapshot:
            assert lexical(snapshot, "token")
