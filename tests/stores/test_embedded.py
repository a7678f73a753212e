"""What is special about the embedded store: kills, corruption, several processes and several views."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dowse.errors import IndexCorrupt, IndexLocked, IndexMissing, IndexTooNew, IndexUnwritable
from dowse.stores.embedded import EmbeddedStore, catalogue_connection, layout
from dowse.stores.embedded.catalogue_writer import SPARE_CONTENTS_SHARE, SqliteCatalogueWriter
from dowse.stores.embedded.layout import CATALOGUE
from dowse.stores.embedded.lexical_index import LexicalIndex
from dowse.stores.embedded.quantize import pack_vectors
from dowse.stores.embedded.vector_index import MAX_SEGMENTS, VectorIndex
from dowse.stores.protocol import FORMAT, Store
from dowse.types.stored import IndexState, NameTier

from .building import REPORT, TREE, build, dense, embedded, lexical, names, source, sources, write

REPOSITORY = Path(__file__).parent.parent.parent
TWENTY = {f"f{i}.py": f"def name{i}():\n    return 'shared'\n" for i in range(12)}
posix_only = pytest.mark.skipif(os.name == "nt", reason="a file in use cannot be corrupt there")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    opened = embedded(folder)
    yield opened
    opened.close()


def dump(store: Store) -> list[tuple[object, ...]]:
    return list(store.dump())


def clean_build(folder: Path, tree: dict[str, str]) -> list[tuple[object, ...]]:
    """The dump of an index that was made in one go."""
    store = embedded(folder)
    build(store, tree)
    rows = dump(store)
    store.close()
    return rows


def assert_whole(store: Store) -> None:
    """Every chunk of every file is in the lexical index and has a vector, and nothing else is found."""
    with store.snapshot() as snapshot:
        manifest = set(snapshot.manifest())
        assert set(lexical(snapshot, "def return", limit=10_000)) <= manifest
        assert set(dense(snapshot, "return", limit=10_000)) == manifest
    for path, _, _, parsed, content, chunks, vectors, _ in store.dump():
        ordinals = list(range(len(parsed.chunks)))  # type: ignore[attr-defined]
        assert (chunks, vectors) == (ordinals, ordinals), path
        assert content, path


# --- kills -----------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="a process cannot be killed in the same way there")
def test_a_killed_writer_loses_nothing_that_was_committed(folder: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    for seed in range(6):
        writing = subprocess.Popen(
            [sys.executable, "-m", "tests.stores.endless_writer", str(folder), str(seed)],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
        )
        assert writing.stdout is not None
        assert writing.stdout.readline() == b"ready\n"
        time.sleep(chance.uniform(0, 0.4))
        writing.kill()
        writing.communicate()
        with closing(embedded(folder)) as store:
            assert_whole(store)
            with store.writer():
                pass
            assert_whole(store)
            assert store.status().files > 0
    with closing(embedded(folder)) as store:
        with store.writer() as writer:
            gone = [path for path in writer.manifest() if path not in TWENTY]
            writer.apply(gone, sources(TWENTY))
            writer.finish(REPORT, {})
        assert dump(store) == clean_build(tmp_path / "clean", TWENTY)


def crash_after_catalogue(folder: Path, removed: list[str], tree: dict[str, str]) -> None:
    """A commit of which only the first part went through."""
    with closing(SqliteCatalogueWriter(folder / CATALOGUE, "/tree")) as rows, rows.transaction():
        generation = rows.begin_generation()
        rows.remove([*removed, *tree], generation)
        for file in sources(tree):
            rows.add([file._replace(vectors=tuple(pack_vectors(file.vectors)))], generation, "one")


def test_a_crash_between_catalogue_and_the_rest_is_repaired(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    build(store, TREE)
    before = dump(store)
    crash_after_catalogue(folder, ["main.py"], {"new.py": "def fresh(): pass\n", "README.md": "# Fresh\n"})
    assert dump(store) == before, "readers see the commit before"
    with store.snapshot() as snapshot:
        assert snapshot.generation == 1
        assert lexical(snapshot, "fresh") == []
        assert names(snapshot, "fresh", NameTier.EXACT) == []
        assert names(snapshot, "main", NameTier.EXACT) == ["main"]
        assert "main.py" in dense(snapshot, "main")
    with store.writer() as writer:
        assert "new.py" in writer.manifest()
    with store.snapshot() as snapshot:
        assert snapshot.generation == 2
        assert sorted(lexical(snapshot, "fresh")) == ["README.md", "new.py"]
        assert "main.py" not in dense(snapshot, "main")
    after = {path: text for path, text in TREE.items() if path != "main.py"}
    after |= {"new.py": "def fresh(): pass\n", "README.md": "# Fresh\n"}
    assert dump(store) == clean_build(tmp_path / "clean", after)


def test_a_crash_before_the_lexical_commit_is_repaired(store: Store, folder: Path, tmp_path: Path) -> None:
    build(store, TREE)
    before = dump(store)
    crash_after_catalogue(folder, ["main.py"], {})
    VectorIndex(folder / "views" / "1" / "vectors").append(2, [], lambda ids: ids >= 0)
    assert dump(store) == before
    with store.writer():
        pass
    rest = {path: text for path, text in TREE.items() if path != "main.py"}
    assert dump(store) == clean_build(tmp_path / "clean", rest)


def test_a_crash_in_the_first_commit_leaves_nothing_half(store: Store, folder: Path, tmp_path: Path) -> None:
    with store.writer():
        pass
    crash_after_catalogue(folder, [], TREE)
    assert store.state() is IndexState.MISSING
    with store.snapshot() as snapshot:
        assert snapshot.generation == 0
        assert dict(snapshot.manifest()) == {}
    with store.writer():
        pass
    assert dump(store) == clean_build(tmp_path / "clean", TREE)


def test_a_catalogue_that_lost_its_last_commit_is_the_truth(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    """Without power a committed catalogue may go back one step, the rest not."""
    build(store, TREE)
    store.close()
    shutil.copy(folder / CATALOGUE, tmp_path / "older")
    before = dump(store)
    write(store, {"new.py": "def fresh(): pass\n"}, removed=["main.py"])
    store.close()
    shutil.copy(tmp_path / "older", folder / CATALOGUE)
    with pytest.raises(IndexCorrupt, match="run 'dowse index' to repair"), store.snapshot():
        pass
    with store.writer():
        pass
    assert dump(store) == before


def test_leaving_with_an_error_frees_every_lock(store: Store, folder: Path) -> None:
    build(store, TREE)
    before = dump(store)
    with pytest.raises(ZeroDivisionError), store.writer():
        raise ZeroDivisionError
    lexical_folder = folder / "views" / "1" / "lexical"
    LexicalIndex(lexical_folder, create=False).writer().close()
    with closing(embedded(folder)) as other, other.writer():
        pass
    assert dump(store) == before


def test_an_error_while_committing_changes_nothing(store: Store) -> None:
    build(store, TREE)
    before = dump(store)
    broken = source("bad.py", "bad = 1\n")._replace(path="bad\udcff.py")  # cannot be stored as text
    with pytest.raises(UnicodeEncodeError), store.writer() as writer:
        writer.apply(["main.py"], [source("good.py", "good = 1\n"), broken])
    assert dump(store) == before
    write(store, {}, removed=["main.py"])
    assert [row[0] for row in dump(store)] == sorted(TREE.keys() - {"main.py"})


# --- corruption of what is derived ---------------------------------------------------------------------


def garbage(path: Path) -> None:
    path.write_bytes(b"garbage " * 100)


def halved(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def inverted(path: Path) -> None:
    """Other bytes, the same length, the end as it was."""
    raw = path.read_bytes()
    end = min(300, len(raw) // 2)
    overwrite(path, bytes(byte ^ 0x55 for byte in raw[:-end]) + raw[-end:])


def every(pattern: str, corruption: Callable[[Path], object]) -> Callable[[Path], None]:
    def act(view: Path) -> None:
        found = list(view.glob(pattern))
        assert found, pattern
        for path in found:
            corruption(path)

    return act


DAMAGES = {
    "no views": shutil.rmtree,
    "no lexical folder": every("lexical", shutil.rmtree),
    "an empty lexical folder": every("lexical/*", Path.unlink),
    "no meta.json": every("lexical/meta.json", Path.unlink),
    "half a meta.json": every("lexical/meta.json", halved),
    "garbage in meta.json": every("lexical/meta.json", garbage),
    "garbage in .managed.json": every("lexical/.managed.json", garbage),
    "no term files": every("lexical/*.term", Path.unlink),
    "no position files": every("lexical/*.pos", Path.unlink),
    "half a store file": every("lexical/*.store", halved),
    "empty index files": every("lexical/*.idx", lambda path: os.truncate(path, 0)),
    "garbage in every segment": every("lexical/*.*[!n]", garbage),
    "wrong bytes in term files": every("lexical/*.term", inverted),
    "wrong bytes in fast fields": every("lexical/*.fast", inverted),
    "no vectors": every("vectors", shutil.rmtree),
    "no segments.json": every("vectors/segments.json", Path.unlink),
    "garbage in segments.json": every("vectors/segments.json", garbage),
    "another segments.json": every("vectors/segments.json", lambda path: path.write_text("[1, 2]")),
    "no rows": every("vectors/*.segment", Path.unlink),
    "half the rows": every("vectors/*.segment", halved),
    "garbage for rows": every("vectors/*.segment", garbage),
    "empty rows": every("vectors/*.segment", lambda path: os.truncate(path, 0)),
}


@posix_only
@pytest.mark.parametrize("corruption", DAMAGES.values(), ids=DAMAGES)
def test_damage_to_what_is_derived_is_repaired(
    folder: Path, tmp_path: Path, built: Path, corruption: Callable[[Path], None]
) -> None:
    shutil.copytree(built, folder)
    corruption(folder / "views" / "1")
    with closing(embedded(folder)) as reader:
        with pytest.raises(IndexCorrupt, match="run 'dowse index'"):
            dump(reader)
        with reader.writer() as writer:
            assert set(writer.manifest()) == set(TREE)
        whole = dump(reader)
        assert [row[0] for row in whole] == sorted(TREE)
        assert all(row[5] == row[6] == list(range(len(row[3].chunks))) for row in whole)  # type: ignore[attr-defined]
        with reader.snapshot() as snapshot:
            assert "src/auth/token.py" in lexical(snapshot, "refresh")
            assert dense(snapshot, "listen on a port for http requests", limit=1) == ["src/web/server.js"]


def scratched(path: Path) -> None:
    """One other bit, before the end where a checksum is."""
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 8] ^= 1
    overwrite(path, bytes(raw))


def overwrite(path: Path, data: bytes) -> None:
    """Other bytes in a file that may be mapped: it must not be short for a moment, which would be a bus error."""
    with open(path, "r+b") as file:
        file.write(data)


def scribbled(path: Path) -> None:
    """Other bytes everywhere, the same length."""
    overwrite(path, random.Random(1).randbytes(path.stat().st_size))


SCRATCHES = ["lexical/*.term", "lexical/*.idx", "lexical/*.fast", "lexical/*.fieldnorm", "vectors/*.segment"]


@posix_only
@pytest.mark.parametrize("pattern", SCRATCHES)
def test_damage_that_does_not_show_is_found_by_a_thorough_look(
    folder: Path, built: Path, pattern: str
) -> None:
    shutil.copytree(built, folder)
    with closing(embedded(folder)) as store:
        before = dump(store)
        assert store.find_corrupt_parts() == ()
        every(pattern, scratched)(folder / "views" / "1")
        part = "the lexical index" if pattern.startswith("lexical") else "the vectors"
        assert store.find_corrupt_parts() == (part,)
        with store.writer(thorough=True) as writer:
            assert writer.repaired == (part,)
        assert store.find_corrupt_parts() == ()
        with store.writer(thorough=True) as writer:
            assert writer.repaired == ()
    with closing(embedded(folder)) as store:
        assert dump(store) == before


@posix_only
def test_files_that_a_killed_writer_left_are_no_damage(folder: Path, built: Path) -> None:
    shutil.copytree(built, folder)
    for name in ("lexical/0123456789abcdef.term", "vectors/00000009-abcd.segment"):
        (folder / "views" / "1" / name).write_bytes(b"half")
    with closing(embedded(folder)) as store:
        assert store.find_corrupt_parts() == ()


@posix_only
def test_vectors_of_files_that_never_were_are_damage(folder: Path, built: Path) -> None:
    shutil.copytree(built, folder)
    every("vectors/*.segment", scribbled)(folder / "views" / "1")
    with closing(embedded(folder)) as store:
        with (
            pytest.raises(IndexCorrupt, match="they name files that never were"),
            store.snapshot() as snapshot,
        ):
            dense(snapshot, "listen on a port for http requests")
        with store.writer(thorough=True):
            pass
        with store.snapshot() as snapshot:  # the same store has let go of what was corrupt
            assert dense(snapshot, "listen on a port for http requests", limit=1) == ["src/web/server.js"]


@posix_only
def test_damage_that_a_search_comes_upon(folder: Path, built: Path) -> None:
    shutil.copytree(built, folder)
    every("lexical/*.idx", inverted)(folder / "views" / "1")
    with closing(embedded(folder)) as store:
        with pytest.raises(IndexCorrupt, match="run 'dowse index'"), store.snapshot() as snapshot:
            lexical(snapshot, "refresh return def token")
        with store.writer(thorough=True):
            pass
        with store.snapshot() as snapshot:
            assert "src/auth/token.py" in lexical(snapshot, "refresh")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole index, to be copied."""
    folder = tmp_path_factory.mktemp("built") / "index"
    with closing(embedded(folder)) as store:
        build(store, TREE)
    return folder


@posix_only
def test_a_reader_that_is_open_goes_on_after_a_repair(store: Store, folder: Path) -> None:
    build(store, TREE)
    with closing(embedded(folder)) as reader:
        before = dump(reader)
        layout.remove(
            folder / layout.VIEWS, layout.VIEWS_LAYOUT
        )  # the engine may put a lock file there meanwhile
        write(store, {"new.py": "def fresh(): pass\n"})
        assert len(dump(reader)) == len(before) + 1
        with reader.snapshot() as snapshot:
            assert lexical(snapshot, "fresh") == ["new.py"]


# --- corruption of the catalogue -----------------------------------------------------------------------


def scrambled(path: Path) -> None:
    """A header that is fine, and nothing else."""
    raw = path.read_bytes()
    path.write_bytes(raw[:100] + b"\xa5" * (len(raw) - 100))


@posix_only
@pytest.mark.parametrize(
    "corruption",
    [garbage, halved, scrambled],
)
def test_a_damaged_catalogue_is_made_anew(
    folder: Path, tmp_path: Path, built: Path, corruption: Callable[[Path], None]
) -> None:
    shutil.copytree(built, folder)
    corruption(folder / CATALOGUE)
    with closing(embedded(folder)) as store:
        for look in (store.state, store.status, lambda: dump(store)):
            with pytest.raises(IndexCorrupt, match="run 'dowse index --rebuild'"):
                look()
        try:
            build(store, TREE)
        except IndexCorrupt:  # found out while writing: from now on it is gone
            build(store, TREE)
        assert store.state() is IndexState.CURRENT
        assert dump(store) == clean_build(tmp_path / "clean", TREE)


def test_a_damaged_entry_of_a_file_is_an_error_with_a_way_out(folder: Path) -> None:
    store = embedded(folder)
    build(store, TREE)
    with closing(sqlite3.connect(folder / CATALOGUE)) as rows, rows:
        rows.execute("UPDATE contents SET parsed = substr(parsed, 1, 10)")
    with closing(store), store.snapshot() as snapshot, pytest.raises(IndexCorrupt, match="--rebuild"):
        snapshot.file_at("main.py")


@pytest.mark.parametrize("content", [None, b""])
def test_a_catalogue_without_anything_is_none(folder: Path, content: bytes | None) -> None:
    folder.mkdir()
    if content is not None:
        (folder / CATALOGUE).write_bytes(content)
    with closing(embedded(folder)) as store:
        assert store.state() is IndexState.MISSING
        assert store.status().state is IndexState.MISSING
        with pytest.raises(IndexMissing), store.snapshot():
            pass
        build(store, TREE)
        assert store.state() is IndexState.CURRENT


def test_an_index_of_a_newer_version_is_left_alone(folder: Path, built: Path) -> None:
    shutil.copytree(built, folder)
    with closing(sqlite3.connect(folder / CATALOGUE)) as rows:
        rows.execute(f"PRAGMA user_version = {FORMAT + 1}")
    before = (folder / CATALOGUE).read_bytes()
    with closing(embedded(folder)) as store:
        for look in (store.state, store.status, lambda: dump(store), lambda: build(store, TREE)):
            with pytest.raises(IndexTooNew, match="upgrade dowse, or remove the index with 'dowse clear'"):
                look()
        assert (folder / CATALOGUE).read_bytes() == before
        store.clear()
        assert not folder.exists()


def test_an_index_of_an_older_version_is_made_anew(
    folder: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(built, folder)
    monkeypatch.setattr(catalogue_connection, "FORMAT", FORMAT + 1)
    with closing(embedded(folder)) as store:
        assert store.state() is IndexState.OTHER_VERSION
        assert store.status().state is IndexState.OTHER_VERSION
        with pytest.raises(IndexMissing, match="older"), store.snapshot():
            pass
        with store.writer() as writer:
            assert dict(writer.manifest()) == {}
        build(store, TREE)
        assert store.state() is IndexState.CURRENT


# --- processes and threads -------------------------------------------------------------------------

HOLD = """
import sys
from pathlib import Path
from tests.stores.building import embedded
with embedded(Path(sys.argv[1])).writer():
    print("locked", flush=True)
    sys.stdin.readline()
"""


def test_another_process_that_writes_is_named(store: Store, folder: Path) -> None:
    build(store, TREE)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == b"locked"
    with (
        pytest.raises(IndexLocked, match=rf"another process \(pid {holder.pid}\) is writing"),
        store.writer(),
    ):
        pass
    with pytest.raises(IndexLocked):
        store.clear()
    with closing(embedded(folder, root="/other")) as other, pytest.raises(IndexLocked), other.writer():
        pass
    assert len(dump(store)) == len(TREE), "reading goes on"
    holder.communicate(b"\n")
    assert holder.returncode == 0
    with store.writer():
        pass


def test_a_catalogue_that_is_busy_is_locked_not_damaged(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(store, TREE)
    monkeypatch.setattr(catalogue_connection, "BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(folder / CATALOGUE, isolation_level=None)) as rows:
        rows.execute("BEGIN IMMEDIATE")
        with pytest.raises(IndexLocked), store.writer() as writer:
            writer.apply([], [])
        rows.execute("ROLLBACK")
    assert len(dump(store)) == len(TREE)
    write(store, {"a.py": "a = 1\n"})


def test_a_reader_notices_that_another_made_the_index_anew(store: Store, folder: Path) -> None:
    """Also where the numbers of generations and files are the same as before."""
    build(store, {"a.py": "def alpha(): pass\n"})
    with closing(embedded(folder)) as reader:
        with reader.snapshot() as snapshot:
            assert names(snapshot, "alpha", NameTier.EXACT) == ["alpha"]
            assert lexical(snapshot, "alpha") == ["a.py"]
            assert dense(snapshot, "alpha") == ["a.py"]
        store.clear()
        assert reader.state() is IndexState.MISSING
        build(store, {"b.py": "def beta(): pass\n"})
        with reader.snapshot() as snapshot:
            assert names(snapshot, "beta", NameTier.EXACT) == ["beta"]
            assert lexical(snapshot, "beta alpha") == ["b.py"]
            assert dense(snapshot, "alpha") == ["b.py"]


def test_vectors_that_a_snapshot_has_not_used_yet_outlive_their_merge(store: Store, folder: Path) -> None:
    build(store, TREE)
    with closing(embedded(folder)) as reader, reader.snapshot() as snapshot:
        with store.writer() as writer:
            for i in range(MAX_SEGMENTS + 2):
                writer.apply([*TREE], [source("new.py", f"fresh = {i}\n")])
        assert set(dense(snapshot, "token")) == set(TREE)
        assert len(list(folder.glob("views/1/vectors/*.segment"))) <= MAX_SEGMENTS


def test_a_snapshot_within_a_snapshot_and_beside_a_dump(store: Store) -> None:
    build(store, TREE)
    with store.snapshot() as outer, store.snapshot() as inner:
        assert outer.generation == inner.generation
        assert store.status().files == len(TREE)
        rows = store.dump()
        assert next(rows)[0] == "README.md"
        write(store, {}, removed=["main.py"])
        assert len(list(rows)) == len(TREE) - 1, "a dump is of one generation"
    assert store.status().files == len(TREE) - 1


def test_closing_while_a_snapshot_is_open_does_no_harm(store: Store) -> None:
    build(store, TREE)
    with store.snapshot() as snapshot:
        store.close()
        assert lexical(snapshot, "refresh") != []
        assert set(snapshot.manifest()) == set(TREE)
    assert len(dump(store)) == len(TREE)


def test_many_readers_and_a_writer(store: Store) -> None:
    """No error anywhere, and every answer whole: all files of a generation say its number."""
    with store.writer() as writer:
        writer.apply([], [source(f"f{i}.txt", "number0 shared") for i in range(3)])
    errors: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                with store.snapshot() as snapshot:
                    token = f"number{snapshot.generation - 1}"
                    assert sorted(lexical(snapshot, token)) == ["f0.txt", "f1.txt", "f2.txt"]
                    assert sorted(lexical(snapshot, "shared")) == ["f0.txt", "f1.txt", "f2.txt"]
                    for path in ("f0.txt", "f1.txt", "f2.txt"):
                        file = snapshot.file_at(path)
                        assert file is not None
                        assert token.encode() in snapshot.content(file.id)
                store.state()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(1, 10):
            write(store, {f"f{i}.txt": f"number{number} shared" for i in range(3)})
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not errors


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files cannot be counted here")
def test_nothing_is_left_open(store: Store, folder: Path) -> None:
    def open_files() -> int:
        return sum(
            str(folder) in str(path.readlink())
            for path in Path("/proc/self/fd").iterdir()
            if path.is_symlink() and path.exists()
        )

    build(store, TREE)
    with closing(embedded(folder, root="/nowhere")) as stranger:
        for _ in range(20):
            assert stranger.state() is IndexState.MISSING
            assert len(dump(store)) == len(TREE)
        assert open_files() < 20
    store.close()
    until = time.monotonic() + 5  # a thread of the lexical engine may be reading its last file
    while open_files() and time.monotonic() < until:
        time.sleep(0.01)
    assert open_files() == 0


# --- views -----------------------------------------------------------------------------------------


@pytest.fixture
def roots(tmp_path: Path) -> tuple[str, str]:
    """Two trees that there are."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    return str(tmp_path / "one"), str(tmp_path / "two")


def test_two_views_share_contents_and_nothing_else(folder: Path, roots: tuple[str, str]) -> None:
    with closing(embedded(folder, roots[0])) as one, closing(embedded(folder, roots[1])) as two:
        build(one, TREE)
        assert two.state() is IndexState.MISSING
        with pytest.raises(IndexMissing, match="two"), two.snapshot():
            pass
        assert not (folder / "views" / "0").exists()
        file = source("main.py", TREE["main.py"])
        with two.writer() as writer:
            assert dict(writer.manifest()) == {}
            assert writer.find_parsed(file.content_hash) == file.parsed
            assert writer.find_vectors([file.vectors[0].key])
            writer.apply([], sources({"main.py": TREE["main.py"], "two.py": "def second(): pass\n"}))
            writer.finish(REPORT, {})
        assert [row[0] for row in dump(one)] == sorted(TREE)
        assert [row[0] for row in dump(two)] == ["main.py", "two.py"]
        with one.snapshot() as first, two.snapshot() as second:
            assert lexical(first, "second") == []
            assert lexical(second, "second") == ["two.py"]
            assert lexical(second, "token") == []
            assert names(second, "TokenStore", NameTier.EXACT) == []
            assert names(first, "second", NameTier.EXACT) == []
            assert set(dense(second, "token")) == {"main.py", "two.py"}
            ours = first.file_at("main.py")
            assert ours is not None
            assert second.file(ours.id) is None
        write(one, {}, removed=list(TREE))
        assert [row[0] for row in dump(two)] == ["main.py", "two.py"]
        assert two.status().files == 2
        assert one.status().files == 0


def test_a_view_that_comes_later_is_found_by_a_reader_that_was_there(
    folder: Path, roots: tuple[str, str]
) -> None:
    with closing(embedded(folder, roots[0])) as one, closing(embedded(folder, roots[1])) as reader:
        build(one, TREE)
        assert reader.state() is IndexState.MISSING
        with closing(embedded(folder, roots[1])) as two:
            build(two, {"a.py": "alpha = 1\n"})
        assert reader.state() is IndexState.CURRENT
        assert [row[0] for row in dump(reader)] == ["a.py"]


def rows_of(folder: Path, *tables: str) -> list[int]:
    with closing(sqlite3.connect(folder / CATALOGUE)) as rows:
        return [rows.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]


def test_views_of_trees_that_are_gone_are_dropped(
    folder: Path, roots: tuple[str, str], tmp_path: Path
) -> None:
    tables = ("views", "files", "file_vectors", "secrets", "contents", "vectors")
    with closing(embedded(folder, roots[0])) as one:
        build(one, TREE)
        alone = rows_of(folder, *tables)
        before = dump(one)
        for number in range(3):
            other = tmp_path / f"other{number}"
            other.mkdir()
            with closing(embedded(folder, str(other))) as store:
                build(store, {**TREE, **{f"{number}/{i}.py": f"number = {number}{i}\n" for i in range(30)}})
            assert rows_of(folder, "views") == [2]
            assert len(list((folder / "views").iterdir())) == 2
            other.rmdir()
        with one.writer() as writer:
            writer.finish(REPORT, {})
        assert rows_of(folder, *tables) == alone
        assert [path.name for path in (folder / "views").iterdir()] == ["1"]
        assert dump(one) == before
        assert_whole(one)


def test_what_is_left_of_a_dropped_view_goes_with_the_next_run(store: Store, folder: Path) -> None:
    build(store, TREE)
    (folder / "views" / "7" / "lexical").mkdir(parents=True)
    build(store, TREE)
    assert [path.name for path in (folder / "views").iterdir()] == ["1"]


def test_a_tree_that_comes_back_is_read_as_it_is_now(folder: Path, roots: tuple[str, str]) -> None:
    with closing(embedded(folder, roots[0])) as one, closing(embedded(folder, roots[1])) as reader:
        build(one, TREE)
        build(reader, {"a.py": "alpha = 1\n"})
        assert [row[0] for row in dump(reader)] == ["a.py"]
        Path(roots[1]).rmdir()
        build(one, TREE)
        assert reader.state() is IndexState.MISSING
        Path(roots[1]).mkdir()
        with closing(embedded(folder, roots[1])) as two:
            build(two, {"b.py": "beta = 1\n"})
        assert [row[0] for row in dump(reader)] == ["b.py"]
        with reader.snapshot() as snapshot:
            assert lexical(snapshot, "alpha") == []
            assert lexical(snapshot, "beta") == ["b.py"]


@pytest.mark.skipif(os.name == "nt", reason="a name there cannot be too long for the system only")
def test_a_tree_that_cannot_be_looked_at_is_not_gone(store: Store, folder: Path, tmp_path: Path) -> None:
    with closing(embedded(folder, str(tmp_path / ("x" * 300)))) as other:
        build(other, TREE)
        build(store, TREE)
        assert [row[0] for row in dump(other)] == sorted(TREE)


# --- the folder ------------------------------------------------------------------------------------


def test_the_folder_ignores_itself_and_clear_removes_it(store: Store, folder: Path) -> None:
    build(store, TREE)
    assert (folder / ".gitignore").read_text() == "*\n"
    store.clear()
    assert not folder.exists()
    store.clear()


def test_looking_makes_no_folder(store: Store, folder: Path) -> None:
    assert store.state() is IndexState.MISSING
    assert store.status().location == str(folder)
    with pytest.raises(IndexMissing), store.snapshot():
        pass
    assert not folder.exists()


def test_a_folder_that_cannot_be_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with closing(embedded(tmp_path / "file" / "index")) as store:
        assert store.state() is IndexState.MISSING
        with pytest.raises(IndexUnwritable, match="cannot be written"), store.writer():
            pass


def test_contents_that_nobody_uses_are_dropped_in_time(store: Store, folder: Path) -> None:
    build(store, TREE)
    many = {f"many/{i}.py": f"number = {i}\n" for i in range(3 * len(TREE))}
    with store.writer() as writer:
        writer.apply([], sources(many))
        writer.apply(list(many), [])
        for i in range(3):
            writer.apply([], [source("main.py", f"number = {-i}\n")])
        writer.finish(REPORT, {})
    with closing(sqlite3.connect(folder / CATALOGUE)) as rows:
        for table in ("contents", "vectors"):
            (count,) = rows.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert count <= (len(TREE) + 2) * (1 + SPARE_CONTENTS_SHARE)
        for table in ("names", "mentions"):
            (orphans,) = rows.execute(
                f"SELECT count(*) FROM {table} WHERE content NOT IN (SELECT id FROM contents)"
            ).fetchone()
            assert orphans == 0
    with store.snapshot() as snapshot:
        for path in TREE:
            file = snapshot.file_at(path)
            assert file is not None
            assert len(snapshot.file_vectors(file.id)) == len(file.parsed.chunks), "those in use are kept"
    assert_whole(store)


def test_the_store_is_what_the_table_says(store: Store) -> None:
    assert isinstance(store, EmbeddedStore)
