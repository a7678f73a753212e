"""What every store does as a whole: one generation at a time, in catalogue and channels; over the table of stores."""

import threading
from pathlib import Path

from dowse import stores
from dowse.index_folder import IndexFolder
from dowse.stores.protocol import Snapshot, Store
from dowse.types.discovered import FileStamp
from dowse.types.source import Role
from dowse.types.stored import NameTier

from .building import (
    EMBEDDER,
    REPORT,
    TREE,
    build,
    dense,
    lexical,
    named_files,
    names,
    source,
    sources,
    watch_folders,
    write,
)

# --- snapshots -------------------------------------------------------------------------------------


def everything(snapshot: Snapshot) -> list[object]:
    """What every method of a snapshot says of a tree."""
    files = {path: snapshot.file_at(path) for path in [*TREE, "new.py", "sub/new.py"]}
    return [
        snapshot.generation,
        sorted((path, known.stamp, known.content_hash) for path, known in snapshot.manifest().items()),
        files,
        {path: snapshot.content(file.id) for path, file in files.items() if file},
        {path: snapshot.file(file.id) for path, file in files.items() if file},
        dict(snapshot.list_watched()),
        {text: sorted(lexical(snapshot, text)) for text in ("token", "serve", "fresh", "login")},
        sorted(dense(snapshot, "refresh token")),
        snapshot.file_cosines(EMBEDDER.embed_query("refresh token"), [f.id for f in files.values() if f]),
        [names(snapshot, "main", tier) for tier in NameTier],
        [names(snapshot, "fresh", tier) for tier in NameTier],
        [named_files(snapshot, name) for name in ("main.py", "new", "login")],
    ]


def change_everything(store: Store) -> None:
    """Three commits that leave no file as it was."""
    changed = {path: text.replace("main", "fresh") + "\nfresh = 1\n" for path, text in TREE.items()}
    with store.writer() as writer:
        writer.apply(["README.md"], sources({"new.py": "fresh = 1\n"}))
        writer.apply(["main.py", "docs/guide.md"], sources(changed))
        writer.apply(["src/auth/token.py"], sources({"sub/new.py": "def fresh(): serve()\n"}))
        writer.restamp({"src/auth/login.py": FileStamp(1, 1)})
        writer.finish(REPORT, watch_folders({"": 99}))


def test_a_snapshot_shows_one_generation_until_it_is_closed(store: Store) -> None:
    build(store, TREE)
    with store.snapshot() as old:
        before = everything(old)
        change_everything(store)
        assert everything(old) == before
        with store.snapshot() as new:
            assert new.generation == old.generation + 3
            assert everything(new) != before
            assert everything(old) == before
        for _ in range(3):
            change_everything(store)
        assert everything(old) == before


def test_a_snapshot_that_was_not_looked_at_yet_shows_its_generation_too(store: Store) -> None:
    build(store, TREE)
    with store.snapshot() as snapshot:
        before = everything(snapshot)
    with store.snapshot() as old:
        for _ in range(3):
            change_everything(store)
        assert everything(old) == before


def test_a_snapshot_holds_while_another_thread_writes(store: Store) -> None:
    build(store, TREE)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(3):
                change_everything(store)
        except BaseException as error:
            errors.append(error)

    with store.snapshot() as old:
        before = everything(old)
        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive():
            assert everything(old) == before
        thread.join()
    assert not errors


def test_readers_in_threads_see_whole_generations(store: Store) -> None:
    """Every commit moves one word from file to file: each answer must name the file of its generation."""
    write(store, {"f0.txt": "marker", "g.txt": "marker"})
    seen: list[tuple[int, list[str], list[str], list[str]]] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                with store.snapshot() as snapshot:
                    seen.append(
                        (
                            snapshot.generation,
                            sorted(lexical(snapshot, "marker")),
                            sorted(dense(snapshot, "marker")),
                            sorted(snapshot.manifest()),
                        )
                    )
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        with store.writer() as writer:
            for i in range(1, 11):
                assert writer.apply([f"f{i - 1}.txt"], [source(f"f{i}.txt", "marker")]) == i + 1
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not errors
    assert seen
    for generation, *answers in seen:
        assert answers == [[f"f{generation - 1}.txt", "g.txt"]] * 3


# --- whole indexes ---------------------------------------------------------------------------------


def test_the_order_of_edits_leaves_no_trace(store: Store, tmp_path: Path) -> None:
    build(store, TREE)
    other = stores.create("embedded", IndexFolder.from_data_folder(tmp_path / "other"), "/tree", "one")
    one, two, *rest = reversed(TREE)
    write(other, dict.fromkeys(rest, "something else\n") | {f"old/{one}": TREE[one], two: TREE[two]})
    write(other, {one: TREE[one]}, removed=[f"old/{one}", two])
    for path in (*rest, two):
        write(other, {path: TREE[path]})
    assert list(other.dump()) == list(store.dump())
    write(other, {"main.py": "def main(): pass\n"})
    assert list(other.dump()) != list(store.dump())
    other.close()


def test_a_dump_names_every_chunk_and_vector(store: Store) -> None:
    build(store, TREE)
    with store.snapshot() as snapshot:
        for path, digest, role, parsed, content, chunks, vectors, _ in store.dump():
            file = snapshot.file_at(str(path))
            assert file is not None
            assert (digest, role, parsed) == (file.content_hash, file.role, file.parsed)
            assert content == TREE[str(path)].encode()
            assert chunks == vectors == list(range(len(file.parsed.chunks)))
        assert {row[0]: row[2] for row in store.dump()}["tests/test_login.py"] is Role.TEST
