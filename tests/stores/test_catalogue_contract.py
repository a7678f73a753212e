"""What the catalogue of every store does: files, contents, stamps, the writer; run over the table of stores."""

import struct
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from dowse import stores
from dowse.code.references import unpack
from dowse.errors import IndexLocked, IndexMissing, SettingsError
from dowse.index_folder import IndexFolder
from dowse.stores.protocol import Store
from dowse.types.discovered import FileStamp, WatchedPath, WatchedTime, WatchKind
from dowse.types.source import MaskedSecret, Role
from dowse.types.stored import IndexState, NameTier

from .building import (
    ANY,
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
from .conftest import Reader

# --- what there is ---------------------------------------------------------------------------------


def test_an_empty_store_says_so(store: Store) -> None:
    assert store.state() is IndexState.MISSING
    assert store.status().state is IndexState.MISSING
    assert store.status().files == 0
    with pytest.raises(IndexMissing), store.snapshot():
        pass


def test_a_writer_that_wrote_nothing_leaves_nothing_to_read(store: Store) -> None:
    with store.writer() as writer:
        assert dict(writer.manifest()) == {}
    assert store.state() is IndexState.MISSING
    with pytest.raises(IndexMissing), store.snapshot():
        pass


def test_a_run_over_an_empty_tree_is_an_index(store: Store) -> None:
    with store.writer() as writer:
        writer.finish(REPORT, watch_folders({"": 7}))
    assert store.state() is IndexState.CURRENT
    with store.snapshot() as snapshot:
        assert dict(snapshot.manifest()) == {}
        assert snapshot.file_count() == 0
        assert lexical(snapshot, "token") == []
        assert dense(snapshot, "token") == []
        assert dict(snapshot.list_watched()) == watch_folders({"": 7})


def test_an_unfinished_index_can_be_read_but_is_not_current(store: Store) -> None:
    write(store, TREE)
    assert store.state() is IndexState.MISSING
    with store.snapshot() as snapshot:
        assert set(snapshot.manifest()) == set(TREE)
        assert snapshot.file_count() == len(TREE)


def test_status_counts_what_is_live(store: Store) -> None:
    build(store, TREE)
    write(store, {"main.py": "def main():\n    pass\n"}, removed=["README.md"])
    status = store.status()
    assert status.state is IndexState.CURRENT
    assert status.files == len(TREE) - 1
    assert status.languages == {"python": 4, "javascript": 1, "markdown": 1}
    assert status.health["ok"] == status.files
    with store.snapshot() as snapshot:
        files = [snapshot.file_at(path) for path in snapshot.manifest()]
        assert status.chunks == sum(len(file.parsed.chunks) for file in files if file)
        assert status.entities == sum(len(file.parsed.entities) for file in files if file)
        assert status.generation == snapshot.generation
    assert status.size_bytes > 0


WATCHED = watch_folders({"": 123, "src": 456, "tëst": 2**62}) | {
    WatchedPath(WatchKind.SKIPPED_FILE, "src"): WatchedTime(5),
    WatchedPath(WatchKind.SKIPPED_FILE, "new.bin"): WatchedTime(6, is_trusted=False),
    WatchedPath(WatchKind.OUTER_RULES, "/home/.gitignore"): WatchedTime(None),
    WatchedPath(WatchKind.OUTER_RULES, "/home/caf\udce9"): WatchedTime(7),
}


def test_the_report_and_what_is_watched_come_back(store: Store) -> None:
    with store.writer() as writer:
        writer.apply([], sources(TREE))
        writer.finish(REPORT, WATCHED)
    assert store.status().report == REPORT
    with store.snapshot() as snapshot:
        assert dict(snapshot.list_watched()) == WATCHED
        assert all(isinstance(path.kind, WatchKind) for path in snapshot.list_watched())
    with store.writer() as writer:
        writer.finish(replace(REPORT, seen=6), watch_folders({"": 124}))
    assert store.status().report == replace(REPORT, seen=6)
    with store.snapshot() as snapshot:
        assert dict(snapshot.list_watched()) == watch_folders({"": 124}), (
            "also where nothing else has changed"
        )


def test_what_is_watched_is_merged_and_forgotten(store: Store) -> None:
    with store.writer() as writer:
        writer.finish(REPORT, WATCHED)
    folder, skipped, absent = list(WATCHED)[1], list(WATCHED)[3], list(WATCHED)[5]
    with store.writer() as writer:
        writer.restamp({}, {skipped: WatchedTime(8)}, {skipped, folder})
    expected = {path: time for path, time in WATCHED.items() if path != folder} | {skipped: WatchedTime(8)}
    with store.snapshot() as snapshot:
        assert dict(snapshot.list_watched()) == expected
        assert snapshot.list_watched()[absent] == WatchedTime(None), "it may still come"
    with store.writer() as writer:
        writer.restamp({}, None, {skipped})
    del expected[skipped]
    with store.snapshot() as snapshot:
        assert dict(snapshot.list_watched()) == expected


def test_secrets_are_listed_until_their_file_goes(store: Store) -> None:
    masked = MaskedSecret("main.py", 3, "aws-key")
    with store.writer() as writer:
        writer.apply([], [source("main.py", "key = '****'\n")._replace(secrets=(masked,))])
        writer.finish(REPORT, {})
    assert store.status().secrets == (masked,)
    write(store, {}, removed=["main.py"])
    assert store.status().secrets == ()


def test_clear_forgets_everything(store: Store) -> None:
    build(store, TREE)
    store.clear()
    assert store.state() is IndexState.MISSING
    with pytest.raises(IndexMissing), store.snapshot():
        pass
    with store.writer() as writer:
        assert dict(writer.manifest()) == {}
        assert writer.find_parsed(source("main.py", TREE["main.py"]).content_hash) is None
    build(store, {"a.py": "a = 1\n"})
    with store.snapshot() as snapshot:
        assert set(snapshot.manifest()) == {"a.py"}
        assert lexical(snapshot, "token") == []


def test_an_index_made_anew_is_another(store: Store) -> None:
    build(store, TREE)
    with store.snapshot() as snapshot:
        first = snapshot.identity
    build(store, {"a.py": "a = 1\n"})
    with store.snapshot() as snapshot:
        assert snapshot.identity == first
    store.clear()
    build(store, TREE)
    with store.snapshot() as snapshot:
        assert snapshot.identity not in ("", first)


def test_an_unknown_store_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="unknown store 'redis': known are embedded, memory"):
        stores.create("redis", None, "/tree", "one")


# --- files -----------------------------------------------------------------------------------------


def test_a_file_comes_back_as_it_was_stored(reader: Reader) -> None:
    snapshot = reader(TREE)
    for path, text in TREE.items():
        expected = source(path, text)
        file = snapshot.file_at(path)
        assert file is not None
        assert snapshot.file(file.id) == file
        assert (file.path, file.stamp, file.content_hash) == (path, expected.stamp, expected.content_hash)
        assert (file.role, file.parsed) == (expected.role, expected.parsed)
        assert snapshot.content(file.id) == text.encode()
        known = snapshot.manifest()[path]
        assert (known.stamp, known.content_hash) == (expected.stamp, expected.content_hash)
    assert snapshot.file_at("nowhere.py") is None
    assert snapshot.file(10**9) is None


def test_every_definition_is_held_by_one_chunk(reader: Reader) -> None:
    snapshot = reader(TREE)
    for path in TREE:
        file = snapshot.file_at(path)
        assert file is not None
        held = sorted(index for chunk in file.definitions for index in chunk)
        assert held == list(range(len(file.parsed.entities)))
        assert len(file.definitions) == len(file.parsed.chunks)


def test_content_with_any_characters_survives(store: Store) -> None:
    text = 'größe = "日本語 😀"\r\nname = "a\x00b"\n' + "x" * 5000
    build(store, {"ünï/cödé datei.py": text, "line\nbreak.py": "a = 1\n"})
    with store.snapshot() as snapshot:
        file = snapshot.file_at("ünï/cödé datei.py")
        assert file is not None
        assert snapshot.content(file.id) == text.encode()
        assert snapshot.file_at("line\nbreak.py") is not None


def test_adding_changing_removing_and_renaming(store: Store) -> None:
    write(store, {"a.py": "alpha = 1\n", "b.py": "beta = 1\n"})
    with store.snapshot() as snapshot:
        first = snapshot.file_at("a.py")
    assert first is not None
    write(store, {"a.py": "gamma = 1\n"})
    write(store, {"c.py": "beta = 1\n"}, removed=["b.py"])
    with store.snapshot() as snapshot:
        assert set(snapshot.manifest()) == {"a.py", "c.py"}
        changed = snapshot.file_at("a.py")
        assert changed is not None
        assert changed.id > first.id, "a changed file gets a new id"
        assert snapshot.file(first.id) is None
        assert lexical(snapshot, "alpha") == []
        assert lexical(snapshot, "gamma") == ["a.py"]
        assert lexical(snapshot, "beta") == ["c.py"]
        assert names(snapshot, "alpha", NameTier.EXACT) == []
        assert names(snapshot, "beta", NameTier.EXACT) == ["beta"]
        assert named_files(snapshot, "b.py") == []
        assert set(dense(snapshot, "beta")) == {"a.py", "c.py"}


def test_removing_what_is_not_there_is_nothing(store: Store) -> None:
    write(store, {"a.py": "alpha = 1\n"})
    write(store, {}, removed=["b.py", "b.py"])
    with store.snapshot() as snapshot:
        assert set(snapshot.manifest()) == {"a.py"}


def test_a_path_removed_and_added_in_one_commit_is_there(store: Store) -> None:
    write(store, {"a.py": "alpha = 1\n"})
    write(store, {"a.py": "beta = 1\n"}, removed=["a.py"])
    with store.snapshot() as snapshot:
        assert lexical(snapshot, "beta") == ["a.py"]
        assert lexical(snapshot, "alpha") == []


def test_equal_contents_at_two_paths_are_two_files(store: Store) -> None:
    write(store, {"a.py": "def alpha(): pass\n", "b/a.py": "def alpha(): pass\n"})
    write(store, {}, removed=["a.py"])
    with store.snapshot() as snapshot:
        assert lexical(snapshot, "alpha") == ["b/a.py"]
        assert len(snapshot.names("alpha", NameTier.EXACT, ANY, 10)) == 1


def test_a_file_without_chunks_is_still_a_file(store: Store) -> None:
    build(store, {"empty/__init__.py": "\n\n", "a.py": "alpha = 1\n"})
    with store.snapshot() as snapshot:
        assert set(snapshot.manifest()) == {"a.py", "empty/__init__.py"}
        assert named_files(snapshot, "__init__.py") == ["empty/__init__.py"]


def test_generations_count_commits(store: Store) -> None:
    assert write(store, {"a.py": "a = 1\n"}) == 1
    with store.writer() as writer:
        assert writer.apply([], [source("b.py", "b = 1\n")]) == 2
        assert writer.apply(["b.py"], []) == 3
    with store.snapshot() as snapshot:
        assert snapshot.generation == 3
    with store.writer() as writer:
        writer.finish(REPORT, {})
        writer.restamp({"a.py": FileStamp(1, 2)})
    with store.snapshot() as snapshot:
        assert snapshot.generation == 3, "neither makes other answers"


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_new_stamp_shows_everywhere(store: Store, is_trusted: bool) -> None:
    build(store, TREE)
    with store.snapshot() as snapshot:
        before = snapshot.file_at("main.py")
    assert before is not None
    stamp = FileStamp(99, 12345, 678, is_trusted)
    with store.writer() as writer:
        writer.restamp({"main.py": stamp, "nowhere.py": stamp})
        assert writer.manifest()["main.py"].stamp == stamp
    with store.snapshot() as snapshot:
        after = snapshot.file_at("main.py")
        assert after == replace(before, stamp=stamp)
        assert snapshot.file(before.id) == after
        assert snapshot.manifest()["main.py"].stamp == stamp
        assert "nowhere.py" not in snapshot.manifest()


def test_the_vectors_of_a_file_come_back_as_they_were(reader: Reader) -> None:
    snapshot = reader(TREE)
    for path, text in TREE.items():
        file = snapshot.file_at(path)
        assert file is not None
        for kept, asked in zip(snapshot.file_vectors(file.id), source(path, text).vectors, strict=True):
            assert kept.key == asked.key
            numbers = [struct.unpack(f"<{len(v.vector) // 4}f", v.vector) for v in (kept, asked)]
            assert numbers[0] == pytest.approx(numbers[1], abs=0.005)
    assert snapshot.file_vectors(10**9) == ()


# --- settings and reuse ----------------------------------------------------------------------------


def other_settings(store: Store, fingerprint: str) -> Store:
    """The same index under other settings."""
    if hasattr(store, "folder"):
        return stores.create("embedded", IndexFolder.from_data_folder(store.folder), "/tree", fingerprint)
    store.fingerprint = fingerprint  # type: ignore[attr-defined]
    return store


def test_other_settings_are_noticed_and_nothing_counts_as_known(store: Store) -> None:
    build(store, TREE)
    other = other_settings(store, "two")
    assert other.state() is IndexState.OTHER_SETTINGS
    assert other.status().state is IndexState.OTHER_SETTINGS
    with other.writer() as writer:
        for path, text in TREE.items():
            expected = source(path, text)
            known = writer.manifest()[path]
            assert known.stamp != expected.stamp
            assert known.content_hash != expected.content_hash
        writer.apply([], sources(TREE))
        writer.finish(REPORT, {})
    assert other.state() is IndexState.CURRENT
    other.close()


def test_a_run_that_was_broken_off_is_taken_up_where_it_ended(store: Store) -> None:
    build(store, TREE)
    other = other_settings(store, "two")
    again = source("main.py", TREE["main.py"])
    with other.writer() as writer:
        writer.apply([], [again])
    assert other.state() is IndexState.OTHER_SETTINGS
    with other.writer() as writer:
        known = {path for path, file in writer.manifest().items() if file.content_hash}
        assert known == {"main.py"}
        assert writer.manifest()["main.py"].stamp == again.stamp
    other.close()


def test_what_was_parsed_and_embedded_is_known_after_its_file_has_gone(store: Store) -> None:
    build(store, TREE)
    file = source("src/auth/token.py", TREE["src/auth/token.py"])
    write(store, {}, removed=[file.path])
    with store.writer() as writer:
        assert writer.find_parsed(file.content_hash) == file.parsed
        assert writer.find_parsed(b"unknown") is None
        keys = [vector.key for vector in file.vectors]
        known = writer.find_vectors([*keys, b"unknown"])
        assert known.keys() == set(keys)
        for key, vector in file.vectors:  # a store may keep them to a lower precision
            asked, kept = (struct.unpack(f"<{len(v) // 4}f", v) for v in (vector, known[key]))
            assert kept == pytest.approx(asked, abs=0.005)
        assert writer.find_vectors([]) == {}


# --- the writer ------------------------------------------------------------------------------------


def test_there_is_one_writer_at_a_time(store: Store) -> None:
    with store.writer():
        with pytest.raises(IndexLocked, match="writing the index"), store.writer():
            pass
        with pytest.raises(IndexLocked):
            store.clear()
    with store.writer() as writer:
        assert writer.apply([], []) == 1


def test_another_thread_is_refused_too(store: Store) -> None:
    refused = []

    def attempt() -> None:
        try:
            with store.writer():
                pass
        except IndexLocked as error:
            refused.append(error)

    with store.writer():
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    assert len(refused) == 1


def test_an_error_leaves_what_was_committed_and_frees_the_lock(store: Store) -> None:
    build(store, TREE)
    with pytest.raises(RuntimeError, match="by the way"), store.writer() as writer:
        writer.apply(["main.py"], [source("new.py", "fresh = 1\n")])
        raise RuntimeError("by the way")
    with store.snapshot() as snapshot:
        assert set(snapshot.manifest()) == {*TREE, "new.py"} - {"main.py"}
        assert lexical(snapshot, "fresh") == ["new.py"]
    write(store, {"newer.py": "fresher = 1\n"})
    with store.snapshot() as snapshot:
        assert lexical(snapshot, "fresher") == ["newer.py"]


# --- references ------------------------------------------------------------------------------------


def test_references_are_stored_with_their_content(reader: Reader) -> None:
    rows = list(reader(TREE).references())
    assert [row.path for row in rows] == sorted(TREE)
    login = next(row for row in rows if row.path == "src/auth/login.py")
    entities, references = unpack(login.packed)
    assert (login.language, login.role) == ("python", Role.SOURCE)
    assert [entity.qualified for entity in entities] == ["login", "logout"]
    targets = {target for rows in references.values() for target, _, _ in rows}
    assert targets >= {"auth.token", "TokenStore", "end_session"}


def test_references_of_some_paths(reader: Reader) -> None:
    rows = reader(TREE).references({"main.py", "src/auth/token.py", "nowhere.py"})
    assert [row.path for row in rows] == ["main.py", "src/auth/token.py"]


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_file_without_chunks_is_there_but_not_found(reader: Reader, text: str) -> None:
    snapshot = reader({**TREE, "src/auth/__init__.py": text, "src/web/__init__.py": text})
    assert {"src/auth/__init__.py", "src/web/__init__.py"} <= snapshot.manifest().keys()
    file = snapshot.file_at("src/auth/__init__.py")
    assert file is not None
    assert (file.parsed.language, file.parsed.chunks, snapshot.content(file.id)) == (
        "python",
        (),
        text.encode(),
    )
    assert [row.path for row in snapshot.references({file.path})] == [file.path]
    assert snapshot.chunk_count() == reader(TREE).chunk_count()


def test_a_known_content_keeps_its_references(store: Store) -> None:
    build(store, TREE)
    file = source("copy.py", TREE["main.py"])
    with store.writer() as writer:
        assert writer.find_parsed(file.content_hash)
        writer.apply(["main.py"], [file._replace(references=b"")])
    with store.snapshot() as snapshot:
        (row,) = snapshot.references({"copy.py"})
        assert row.packed == file.references


def test_references_are_those_of_the_generation(store: Store) -> None:
    build(store, TREE)
    with store.snapshot() as before:
        write(store, {"main.py": "def other(): pass\n"}, removed=["README.md"])
        assert [row.path for row in before.references()] == sorted(TREE)
        with store.snapshot() as after:
            assert [row.path for row in after.references()] == sorted(set(TREE) - {"README.md"})
            old, new = (next(iter(s.references({"main.py"}))) for s in (before, after))
    assert (unpack(old.packed)[0][0].qualified, unpack(new.packed)[0][0].qualified) == ("main", "other")


def test_what_is_derived_is_kept_until_the_index_is_cleared(store: Store) -> None:
    assert store.get_blob("graph") is None
    build(store, TREE)
    store.put_blob("graph", b"one")
    store.put_blob("graph", b"two")
    assert store.get_blob("graph") == b"two"
    assert store.get_blob("other") is None
    store.clear()
    build(store, TREE)
    assert store.get_blob("graph") is None
