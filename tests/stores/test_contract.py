"""What every store does, whatever it is made of: run over the table of stores."""

import math
import struct
import threading
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from dowse import stores
from dowse.code.references import unpack
from dowse.errors import IndexLocked, IndexMissing, SettingsError, UsageError
from dowse.filters import file_passes, to_facts
from dowse.index_folder import IndexFolder
from dowse.stores.protocol import Snapshot, Store
from dowse.types.discovered import FileStamp, WatchedPath, WatchedTime, WatchKind
from dowse.types.queries import Term
from dowse.types.source import Kind, MaskedSecret, Role
from dowse.types.stored import Bm25, Filter, IndexState, NameTier, chunk_id, split_chunk_id

from .building import (
    ANY,
    BODY,
    EMBEDDER,
    EQUAL_FIELDS,
    REPORT,
    TREE,
    build,
    dense,
    lexical,
    named_files,
    names,
    path_of,
    paths,
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


# --- the lexical channel ---------------------------------------------------------------------------


def test_any_of_the_terms_will_do_and_more_are_better(store: Store) -> None:
    build(store, {"a.txt": "apple", "b.txt": "banana", "c.txt": "apple banana", "d.txt": "cherry"})
    with store.snapshot() as snapshot:
        hits = lexical(snapshot, "apple banana")
        assert hits[0] == "c.txt"
        assert set(hits) == {"a.txt", "b.txt", "c.txt"}
        assert lexical(snapshot, "durian") == []
        assert lexical(snapshot, "") == []


def test_the_rarer_term_counts_more(store: Store) -> None:
    build(store, {"a.txt": "common", "b.txt": "common", "c.txt": "common", "d.txt": "rare"})
    with store.snapshot() as snapshot:
        assert lexical(snapshot, "common rare")[0] == "d.txt"


def test_a_weight_on_a_term_turns_the_order(store: Store) -> None:
    build(store, {"a.txt": "alpha", "b.txt": "beta"})
    with store.snapshot() as snapshot:
        for better, worse in (("alpha", "beta"), ("beta", "alpha")):
            hits = snapshot.lexical([Term(better, 2.0), Term(worse, 1.0)], BODY, ANY, 10)
            assert paths(snapshot, hits) == [f"{better[0]}.txt", f"{worse[0]}.txt"]
            assert hits[0].score == pytest.approx(2 * hits[1].score)


def test_a_name_outranks_the_same_word_in_a_body(store: Store) -> None:
    tree = {"a.py": "def refresh():\n    return 1\n", "b.py": "def other():\n    return refresh\n"}
    build(store, tree)
    with store.snapshot() as snapshot:
        assert lexical(snapshot, "refresh", fields={"name": 2.0, "body": 1.0}) == ["a.py", "b.py"]
        assert lexical(snapshot, "refresh", fields={"name": 1.0}) == ["a.py"]
        assert lexical(snapshot, "refresh", fields={"doc": 1.0}) == []
        assert lexical(snapshot, "refresh", fields={"name": 0.0, "doc": 0.0}) == []


@pytest.mark.parametrize(
    ("field", "token", "found"),
    [
        ("name", "TokenStore", "src/auth/token.py"),
        ("path", "server", "src/web/server.js"),
        ("signature", "password", "src/auth/login.py"),
        ("doc", "session", "src/auth/login.py"),
        ("body", "port", "src/web/server.js"),
    ],
)
def test_each_field_is_searched(reader: Reader, field: str, token: str, found: str) -> None:
    snapshot = reader(TREE)
    assert lexical(snapshot, token, fields={field: 1.0})[0] == found


def test_scores_fall_and_the_limit_holds(reader: Reader) -> None:
    snapshot = reader(TREE)
    hits = snapshot.lexical([Term("token", 1.0), Term("login", 1.0)], EQUAL_FIELDS, ANY, 100)
    assert len(hits) > 2
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert snapshot.lexical([Term("token", 1.0), Term("login", 1.0)], EQUAL_FIELDS, ANY, 2) == hits[:2]
    assert snapshot.lexical([Term("token", 1.0)], EQUAL_FIELDS, ANY, 0) == []


def test_the_constants_of_bm25_are_followed_or_refused(store: Store) -> None:
    build(store, {"a.txt": "apple", "b.txt": "apple apple pear pear pear pear", "c.txt": "pear"})
    term = [Term("appl", 1.0)]
    with store.snapshot() as snapshot:
        usual = snapshot.lexical(term, BODY, ANY, 10)
        assert snapshot.lexical(term, BODY, ANY, 10, Bm25()) == usual
        if type(snapshot).__name__ == "EmbeddedSnapshot":
            with pytest.raises(UsageError, match=r"k1 1\.2 and b 0\.75 built in"):
                snapshot.lexical(term, BODY, ANY, 10, Bm25(1.5, 0.75))
            return
        flat, long = (snapshot.lexical(term, BODY, ANY, 10, Bm25(k1, 0.0)) for k1 in (0.0, 100.0))
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    assert [hit.score for hit in flat] == pytest.approx([idf, idf])
    assert [hit.score for hit in long] == pytest.approx([idf * 2 * 101 / 102, idf])


# --- filters, in every channel, before the limit ---------------------------------------------------

FAR_FUTURE_NS = 10**20

FILTERED = {
    "src/core/engine.py": "def ignite():\n    spark()\n\n\nclass Engine:\n"
    "    def ignite_engine(self):\n        spark()\n",
    "src/core/deep/ignite.go": "package deep\n\nfunc Ignite() { spark() }\n",
    "lib/ignite.py": "def ignite_lib():\n    spark()\n",
    "tests/ignite.py": "def test_ignite():\n    spark()\n",
    "tests/core/other.py": "def ignite_other():\n    spark()\n",
    "app dir/ignite+x.py": "def ignite_app():\n    spark()\n",
}
EVERYTHING = set(FILTERED)
NEWEST_NS = source("src/core/engine.py", FILTERED["src/core/engine.py"]).stamp.mtime_ns
FILTERS: list[tuple[Filter, set[str]]] = [
    (Filter(languages=frozenset({"go"})), {"src/core/deep/ignite.go"}),
    (Filter(languages=frozenset({"go", "ruby"})), {"src/core/deep/ignite.go"}),
    (Filter(languages=frozenset({"ruby"})), set()),
    (Filter(paths=("src/**",)), {"src/core/engine.py", "src/core/deep/ignite.go"}),
    (Filter(paths=("src",)), {"src/core/engine.py", "src/core/deep/ignite.go"}),
    (Filter(paths=("src/",)), {"src/core/engine.py", "src/core/deep/ignite.go"}),
    (Filter(paths=("./src/*",)), {"src/core/engine.py", "src/core/deep/ignite.go"}),
    (Filter(paths=("src/*/*.py",)), {"src/core/engine.py"}),
    (Filter(paths=("*.go",)), {"src/core/deep/ignite.go"}),
    (Filter(paths=("core",)), {"src/core/engine.py", "src/core/deep/ignite.go", "tests/core/other.py"}),
    (Filter(paths=("**/core/*.py",)), {"src/core/engine.py", "tests/core/other.py"}),
    (Filter(paths=("lib/ignite.py",)), {"lib/ignite.py"}),
    (Filter(paths=("lib", "*.go")), {"lib/ignite.py", "src/core/deep/ignite.go"}),
    (Filter(paths=("app dir/ignite+x.py",)), {"app dir/ignite+x.py"}),
    (Filter(paths=("ignite?x.py",)), {"app dir/ignite+x.py"}),
    (Filter(paths=("nowhere/**",)), set()),
    (Filter(not_paths=("tests", "src/**")), {"lib/ignite.py", "app dir/ignite+x.py"}),
    (Filter(paths=("src",), not_paths=("deep",)), {"src/core/engine.py"}),
    (Filter(paths=(*(f"folder{i}/*a*b*" for i in range(60)), "lib")), {"lib/ignite.py"}),
    (
        Filter(not_paths=(*(f"*a*b*c*{i}*" for i in range(60)), "src", "tests")),
        {"lib/ignite.py", "app dir/ignite+x.py"},
    ),
    (Filter(roles=frozenset({Role.TEST})), {"tests/ignite.py", "tests/core/other.py"}),
    (Filter(not_roles=frozenset({Role.TEST})), EVERYTHING - {"tests/ignite.py", "tests/core/other.py"}),
    (Filter(not_languages=frozenset({"python"})), {"src/core/deep/ignite.go"}),
    (Filter(changed_since_ns=FAR_FUTURE_NS), set()),
    (Filter(changed_since_ns=NEWEST_NS), {"src/core/engine.py"}),
    (Filter(changed_since_ns=0), EVERYTHING),
    (Filter(kinds=frozenset({Kind.METHOD})), {"src/core/engine.py"}),
    (Filter(kinds=frozenset({Kind.METHOD, Kind.FUNCTION})), EVERYTHING),
    (Filter(not_kinds=frozenset({Kind.METHOD})), EVERYTHING - {"src/core/engine.py"}),
    (Filter(names=("ignite_*",)), EVERYTHING - {"tests/ignite.py", "src/core/deep/ignite.go"}),
    (Filter(names=("IGNITE_LIB", "test_*")), {"lib/ignite.py", "tests/ignite.py"}),
    (Filter(names=("ignite_l?b",)), {"lib/ignite.py"}),
    (Filter(names=("ignite.lib",)), set()),
    (
        Filter(
            languages=frozenset({"python"}),
            paths=("core",),
            not_paths=("deep",),
            roles=frozenset({Role.TEST}),
            kinds=frozenset({Kind.FUNCTION}),
            names=("*other",),
        ),
        {"tests/core/other.py"},
    ),
]


CROWD = (
    FILTERED
    | {f"crowd/c{i}.rb": "def spark\n  spark spark\nend\n" for i in range(30)}
    | {f"crowd/d{i}/ignite.rb": "def ignite\n  spark\nend\n" for i in range(10)}
)
"""Many better hits that no filter of interest lets through, and the files above."""


def within(filter: Filter) -> Filter:
    """The filter, without the crowd."""
    return replace(filter, not_paths=(*filter.not_paths, "crowd"))


def test_filters_act_inside_every_channel(reader: Reader) -> None:
    snapshot = reader(CROWD)
    for asked, expected in FILTERS:
        filter = within(asked)
        limit = max(1, len(expected))
        assert set(lexical(snapshot, "spark", filter, limit)) == expected, asked
        assert set(dense(snapshot, "spark spark", filter, 100)) == expected, asked
        assert len(set(dense(snapshot, "spark spark", filter, 2))) == min(2, len(expected)), asked


def test_a_filter_without_better_hits_in_the_way_finds_the_same(reader: Reader) -> None:
    snapshot = reader(CROWD)
    assert "crowd/c0.rb" in lexical(snapshot, "spark", limit=20), "the crowd does stand in the way"
    for asked in (Filter(languages=frozenset({"go"})), Filter(paths=("*.go",)), Filter(names=("Ignite",))):
        filter = replace(asked, languages=frozenset({"go"}))
        assert lexical(snapshot, "spark", filter, 1) == ["src/core/deep/ignite.go"]
        assert dense(snapshot, "spark spark", filter, 1) == ["src/core/deep/ignite.go"]


NAME_FILTERS: list[tuple[Filter, set[str]]] = [
    (Filter(languages=frozenset({"go"})), {"Ignite"}),
    (Filter(paths=("src/**",)), {"Ignite", "ignite", "Engine.ignite_engine"}),
    (Filter(paths=("*.py",), not_paths=("src",)), {"ignite_lib", "ignite_other", "ignite_app"}),
    (Filter(roles=frozenset({Role.TEST})), {"ignite_other"}),
    (
        Filter(not_roles=frozenset({Role.TEST})),
        {"Ignite", "ignite", "Engine.ignite_engine", "ignite_lib", "ignite_app"},
    ),
    (Filter(kinds=frozenset({Kind.METHOD})), {"Engine.ignite_engine"}),
    (Filter(names=("*_lib",)), {"ignite_lib"}),
]


@pytest.mark.parametrize(("tier", "pattern"), [(NameTier.PREFIX, "ignite"), (NameTier.GLOB, "ignite*")])
def test_filters_act_on_names(reader: Reader, tier: NameTier, pattern: str) -> None:
    snapshot = reader(CROWD)
    assert set(names(snapshot, pattern, tier, limit=5)) == {"ignite"}, "the crowd comes first"
    for asked, expected in NAME_FILTERS:
        assert set(names(snapshot, pattern, tier, within(asked), len(expected))) == expected, asked


@pytest.mark.parametrize(
    ("tier", "pattern"), [(NameTier.EXACT, "Ignite"), (NameTier.CASE, "iGNITE"), (NameTier.FUZZY, "ignit")]
)
def test_filters_act_on_equal_names(reader: Reader, tier: NameTier, pattern: str) -> None:
    snapshot = reader(CROWD)
    assert names(snapshot, pattern, tier, Filter(languages=frozenset({"go"})), 1) == ["Ignite"]


def test_filters_act_on_files(reader: Reader) -> None:
    snapshot = reader(CROWD)
    assert named_files(snapshot, "ignite", limit=3) == [
        "crowd/d0/ignite.rb",
        "crowd/d1/ignite.rb",
        "crowd/d2/ignite.rb",
    ]
    assert named_files(snapshot, "ignite", Filter(languages=frozenset({"go"})), 1) == [
        "src/core/deep/ignite.go"
    ]
    assert named_files(snapshot, "ignite", Filter(not_paths=("crowd", "src")), 2) == [
        "lib/ignite.py",
        "tests/ignite.py",
    ]
    assert named_files(snapshot, "ignite", Filter(roles=frozenset({Role.TEST})), 1) == ["tests/ignite.py"]
    assert named_files(snapshot, "ignite", Filter(roles=frozenset({Role.TEST}), paths=("lib",)), 1) == []
    assert named_files(snapshot, "ignite", Filter(changed_since_ns=NEWEST_NS), 1) == []
    assert named_files(snapshot, "engine", Filter(changed_since_ns=NEWEST_NS), 1) == ["src/core/engine.py"]


def test_contents_of_the_files_that_pass(reader: Reader) -> None:
    snapshot = reader(CROWD)
    files = [file for path in sorted(CROWD) if (file := snapshot.file_at(path))]
    for asked, _ in FILTERS:
        filter = replace(asked, kinds=frozenset(), not_kinds=frozenset(), names=())
        found = [(path_of(snapshot, id), content) for id, content in snapshot.contents(filter)]
        expected = [file.path for file in files if file_passes(filter, to_facts(file))]
        assert [path for path, _ in found] == expected, "in order of path"
        assert all(content == CROWD[path].encode() for path, content in found)


def test_a_chunk_passes_as_it_does_in_the_channels(reader: Reader) -> None:
    snapshot = reader(CROWD)
    every = [hit.chunk for hit in snapshot.lexical([Term("spark", 1.0)], BODY, ANY, 1000)]
    for asked, _ in FILTERS:
        filter = Filter(kinds=asked.kinds, not_kinds=asked.not_kinds, names=asked.names)
        found = {hit.chunk for hit in snapshot.lexical([Term("spark", 1.0)], BODY, filter, 1000)}
        assert found == {chunk for chunk in every if snapshot.chunk_passes(chunk, filter)}


def test_a_filter_on_definitions_sees_the_one_around_a_chunk(store: Store) -> None:
    body = "\n".join(
        f"        step_{i} = prepare({i}, {i * 7}, 'some words to fill a line')" for i in range(60)
    )
    build(store, {"a.py": f"class Machine:\n    def run(self):\n{body}\n        return marker\n"})
    with store.snapshot() as snapshot:
        file = snapshot.file_at("a.py")
        assert file is not None
        last = len(file.parsed.chunks) - 1
        assert last > 1
        for filter in (Filter(names=("run",)), Filter(kinds=frozenset({Kind.METHOD}))):
            (hit,) = snapshot.lexical([Term("marker", 1.0)], BODY, filter, 10)
            assert hit.chunk == chunk_id(file.id, last)
        assert lexical(snapshot, "marker", Filter(names=("walk",))) == []
        (run,) = snapshot.names("run", NameTier.GLOB, ANY, 10)
        assert run.chunk < last, "only where it is defined"
        assert run.kind is Kind.METHOD


# --- names -----------------------------------------------------------------------------------------

NAMED = {
    "a.py": "def getUser(): pass\n\ndef getuser(): pass\n\ndef get_user(): pass\n\ndef größe(): pass\n",
    "b.py": "class GetUser:\n    def getUserById(self): pass\n\ndef имяПользователя(): pass\n\ndef 日本語(): pass\n",
    "c.md": "# Größe ändern (v2.0)\n\nText.\n\n## a.b*c[d]\n\nText.\n\n## a|b\n\nText.\n\n## path/to\n\nText.\n",
}


@pytest.mark.parametrize(
    ("tier", "pattern", "found"),
    [
        (NameTier.EXACT, "getUser", ["getUser"]),
        (NameTier.EXACT, "getUse", []),
        (NameTier.EXACT, "GETUSER", []),
        (NameTier.EXACT, "größe", ["größe"]),
        (NameTier.EXACT, "", []),
        (NameTier.CASE, "GETUSER", ["getUser", "getuser", "GetUser"]),
        (NameTier.CASE, "GRÖSSE", []),
        (NameTier.CASE, "GRÖßE", ["größe"]),
        (NameTier.CASE, "ИМЯПОЛЬЗОВАТЕЛЯ", ["имяПользователя"]),
        (NameTier.CASE, "日本語", ["日本語"]),
        (NameTier.PREFIX, "getUser", ["getUser", "getuser", "GetUser", "GetUser.getUserById"]),
        (NameTier.PREFIX, "имя", ["имяПользователя"]),
        (NameTier.PREFIX, "get%", []),
        (NameTier.PREFIX, "get_", ["get_user"]),
        (NameTier.PREFIX, "größe ändern (v", ["Größe ändern (v2.0)"]),
        (NameTier.GLOB, "*by*", ["GetUser.getUserById"]),
        (NameTier.GLOB, "get?user", ["get_user"]),
        (NameTier.GLOB, "GR??E", ["größe"]),
        (NameTier.GLOB, "日*", ["日本語"]),
        (NameTier.GLOB, "*(v2.0)", ["Größe ändern (v2.0)"]),
        (NameTier.GLOB, "a.b?c[d]", ["a.b*c[d]"]),
        (NameTier.GLOB, "a.b*", ["a.b*c[d]"]),
        (NameTier.GLOB, "a|b", ["a|b"]),
        (NameTier.GLOB, "(get", []),
        (NameTier.GLOB, "get[u]ser", []),
        (NameTier.FUZZY, "getUsr", ["getUser", "getuser", "GetUser"]),
        (NameTier.FUZZY, "gteuser", ["getUser", "getuser", "GetUser"]),
        (NameTier.FUZZY, "getUserByIdd", ["GetUser.getUserById"]),
        (NameTier.FUZZY, "getUsrById", ["GetUser.getUserById"]),
        (NameTier.FUZZY, "grösse", []),
        (NameTier.FUZZY, "größ", ["größe"]),
        (NameTier.FUZZY, "日本", []),
        (NameTier.FUZZY, "имяПользователл", ["имяПользователя"]),
    ],
)
def test_names_by_tier(reader: Reader, tier: NameTier, pattern: str, found: list[str]) -> None:
    snapshot = reader(NAMED)
    hits = [name.removeprefix("Größe ändern (v2.0).") for name in names(snapshot, pattern, tier)]
    assert hits == found


def test_a_name_hit_points_at_the_chunk_with_the_definition(store: Store) -> None:
    filler = "\n".join(f"def filler_{i}():\n    return '{'x' * 200}'\n" for i in range(20))
    build(store, {"a.py": f"{filler}\ndef wanted():\n    pass\n"})
    with store.snapshot() as snapshot:
        (hit,) = snapshot.names("wanted", NameTier.EXACT, ANY, 10)
        file = snapshot.file(hit.file)
        assert file is not None
        chunk, entity = file.parsed.chunks[hit.chunk], file.parsed.entities[hit.entity]
        assert chunk.start_line <= entity.line <= chunk.end_line
        assert hit.tier is NameTier.EXACT


def test_names_come_by_name_and_then_by_path(store: Store) -> None:
    build(store, {f"{letter}.py": "def beta(): pass\n\ndef Alpha(): pass\n" for letter in "cab"})
    with store.snapshot() as snapshot:
        for tier, pattern in ((NameTier.GLOB, "*a"), (NameTier.PREFIX, "")):
            hits = snapshot.names(pattern, tier, ANY, 100)
            found = [(snapshot.file(hit.file), hit.entity) for hit in hits]
            assert [file.path[0] for file, _ in found if file] == ["a", "b", "c", "a", "b", "c"]
            assert [entity for _, entity in found] == [1, 1, 1, 0, 0, 0]
            assert snapshot.names(pattern, tier, ANY, 4) == hits[:4]
            assert snapshot.names(pattern, tier, ANY, 0) == []


def test_a_very_common_name_is_still_filtered(store: Store) -> None:
    """More files of one name than any scan that gives up early would look at."""
    tree = {f"pkg{i:04d}/mod.py": "def common(): pass\n" for i in range(2100)}
    tree["zzz/last.py"] = "def common(): pass\n# the one\n"
    build(store, tree)
    with store.snapshot() as snapshot:
        filter = Filter(paths=("zzz",))
        for tier in (NameTier.EXACT, NameTier.CASE, NameTier.PREFIX, NameTier.GLOB, NameTier.FUZZY):
            (hit,) = snapshot.names("common", tier, filter, 1)
            file = snapshot.file(hit.file)
            assert file is not None
            assert file.path == "zzz/last.py"


# --- files by name ---------------------------------------------------------------------------------

FILES = {
    "src/server.py": "a = 1\n",
    "src/web/Server.py": "b = 1\n",
    "src/server/__init__.py": "c = 1\n",
    "lib/server.test.js": "let d = 1;\n",
    "server": "e\n",
    ".eslintrc.json": "{}\n",
    "src/größe.py": "f = 1\n",
}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("server.py", ["src/server.py", "src/web/Server.py"]),
        ("SERVER.PY", ["src/server.py", "src/web/Server.py"]),
        ("server", ["lib/server.test.js", "server", "src/server.py", "src/web/Server.py"]),
        ("web/server.py", ["src/web/Server.py"]),
        ("src/server.py", ["src/server.py"]),
        ("/src/server.py/", ["src/server.py"]),
        ("rc/server.py", []),
        ("src/server/__init__", ["src/server/__init__.py"]),
        ("server.test.js", ["lib/server.test.js"]),
        ("server.test", []),
        (".eslintrc.json", [".eslintrc.json"]),
        ("eslintrc", [".eslintrc.json"]),
        ("GRÖßE", ["src/größe.py"]),
        ("a/very/long/path/to/server.py", []),
        ("*", []),
        ("", []),
    ],
)
def test_files_by_name(reader: Reader, name: str, found: list[str]) -> None:
    snapshot = reader(FILES)
    assert named_files(snapshot, name) == found
    assert named_files(snapshot, name, limit=1) == found[:1]


# --- the dense channel -----------------------------------------------------------------------------


def test_the_nearest_come_first(reader: Reader) -> None:
    snapshot = reader(TREE)
    hits = snapshot.dense(EMBEDDER.embed_query("listen on a port for http requests"), ANY, 3)
    assert paths(snapshot, hits)[0] == "src/web/server.js"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(hits) == 3
    assert snapshot.dense(EMBEDDER.embed_query("port"), ANY, 0) == []


def test_a_text_is_nearest_to_itself(reader: Reader) -> None:
    snapshot = reader(TREE)
    file = source("src/auth/login.py", TREE["src/auth/login.py"])
    import numpy as np

    vector = np.frombuffer(file.vectors[0].vector, dtype="<f4").tolist()
    hit = snapshot.dense(vector, ANY, 1)[0]
    assert paths(snapshot, [hit]) == ["src/auth/login.py"]
    assert hit.score == pytest.approx(1.0, abs=0.02)


def test_without_vectors_there_are_no_dense_hits(store: Store) -> None:
    with store.writer() as writer:
        writer.apply([], [file._replace(vectors=()) for file in sources(TREE)])
        writer.finish(REPORT, {})
    with store.snapshot() as snapshot:
        assert dense(snapshot, "token") == []
        assert lexical(snapshot, "token") != []


def test_vectors_of_another_length_are_passed_over(reader: Reader) -> None:
    snapshot = reader(TREE)
    assert snapshot.dense([1.0, 0.0], ANY, 10) == []


def compare_with_dense(snapshot: Snapshot, text: str, among: Collection[str]) -> None:
    """Hold the cosines of some files against those that the dense channel gives to the same chunks."""
    vector = EMBEDDER.embed_query(text)
    files = {path: snapshot.file_at(path) for path in among}
    ids = [file.id for file in files.values() if file]
    ranked = {hit.chunk: hit.score for hit in snapshot.dense(vector, ANY, 10_000)}
    found = snapshot.file_cosines(vector, ids)
    assert found.keys() == {file.id for file in files.values() if file and file.parsed.chunks}
    for id, cosines in found.items():
        expected = {chunk: score for chunk, score in ranked.items() if split_chunk_id(chunk)[0] == id}
        assert sorted(expected) == [chunk_id(id, ordinal) for ordinal in range(len(cosines))]
        assert cosines == pytest.approx([expected[chunk] for chunk in sorted(expected)], abs=1e-4)


@pytest.mark.parametrize("text", ["listen on a port for http requests", "token", "renew a session"])
def test_the_cosines_of_files_are_those_of_the_dense_channel(reader: Reader, text: str) -> None:
    snapshot = reader(TREE)
    compare_with_dense(snapshot, text, TREE)
    compare_with_dense(snapshot, text, list(TREE)[::2])


def test_the_cosines_of_a_file_are_in_the_order_of_its_chunks(store: Store) -> None:
    parts = ("session token", "http port", "paint a wall", "session token again")
    text = "\n\n".join(
        f"def part_{n}():\n    # {words}\n    return '{words} {'x' * 600}'\n" for n, words in enumerate(parts)
    )
    build(store, {"long.py": text, "other.py": "def other():\n    return 1\n"})
    with store.snapshot() as snapshot:
        file = snapshot.file_at("long.py")
        assert file is not None and len(file.parsed.chunks) >= len(parts)
        compare_with_dense(snapshot, "session token", ["long.py", "other.py"])


def test_files_without_vectors_and_unknown_ones_have_no_cosines(store: Store) -> None:
    with store.writer() as writer:
        bare, *others = sources(TREE)
        writer.apply([], [bare._replace(vectors=()), *others, source("empty.py", "")])
        writer.finish(REPORT, {})
    with store.snapshot() as snapshot:
        ids = {path: file.id for path in [*TREE, "empty.py"] if (file := snapshot.file_at(path))}
        vector = EMBEDDER.embed_query("token")
        found = snapshot.file_cosines(vector, [*ids.values(), max(ids.values()) + 1])
        assert found.keys() == set(ids.values()) - {ids[bare.path], ids["empty.py"]}
        assert snapshot.file_cosines(vector, []) == {}


def test_a_vector_of_another_length_has_no_cosines_with_files(reader: Reader) -> None:
    snapshot = reader(TREE)
    ids = [file.id for path in TREE if (file := snapshot.file_at(path))]
    assert snapshot.file_cosines([1.0, 0.0], ids) == {}


def test_the_cosines_of_files_survive_many_commits(store: Store) -> None:
    with store.writer() as writer:
        for i in range(12):
            files = sources({f"f{i}.txt": f"word{i} shared", "same.txt": f"changing{i} shared"})
            writer.apply([f"f{i - 5}.txt"], files)
    with store.snapshot() as snapshot:
        compare_with_dense(snapshot, "shared", [*(f"f{i}.txt" for i in range(7, 12)), "same.txt"])


def test_vectors_survive_many_commits(store: Store) -> None:
    """More commits than an index keeps apart, with files changing and going in between."""
    with store.writer() as writer:
        for i in range(12):
            files = sources({f"f{i}.txt": f"word{i} shared", "same.txt": f"changing{i}"})
            writer.apply([f"f{i - 5}.txt"], files)
    with store.snapshot() as snapshot:
        expected = {f"f{i}.txt" for i in range(7, 12)} | {"same.txt"}
        assert set(dense(snapshot, "shared")) == expected
        assert dense(snapshot, "word9", limit=1) == ["f9.txt"]
        assert dense(snapshot, "changing11", limit=1) == ["same.txt"]


def test_all_that_is_asked_for_is_found_though_everything_was_written_anew(store: Store) -> None:
    """What was there before is nearer to the query, and may be in the way."""
    with store.writer() as writer:
        writer.apply([], sources({f"f{i}.txt": f"shared word{i}" for i in range(30)}))
        writer.apply([], sources({f"f{i}.txt": f"shared other{i} new{i} long{i}" for i in range(30)}))
    for _ in range(2):
        with store.snapshot() as snapshot:
            assert len(set(dense(snapshot, "shared", limit=10))) == 10
            assert len(set(dense(snapshot, "shared", limit=30))) == 30
            assert set(dense(snapshot, "shared", Filter(paths=("f1*",)), limit=30)) == {
                f"f{i}.txt" for i in (1, *range(10, 20))
            }


def test_vectors_may_all_go(store: Store) -> None:
    with store.writer() as writer:
        for i in range(8):
            writer.apply([], [source("a.txt", f"word{i}")])
        writer.apply(["a.txt"], [])
        writer.apply([], [])
        writer.apply([], [source("b.txt", "other")])
        writer.apply(["b.txt"], [])
    with store.snapshot() as snapshot:
        assert dense(snapshot, "word") == []


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


def test_frequencies_of_tokens(store: Store) -> None:
    write(store, {"a.py": "def f():\n    return zebra\n", "b.py": "zebra = 1\n"})
    with store.snapshot() as snapshot:
        assert (
            snapshot.document_frequency("zebra"),
            snapshot.document_frequency("horse"),
            snapshot.chunk_count(),
        ) == (2, 0, 2)


def test_tokens_by_a_part_of_them_shortest_first(store: Store) -> None:
    write(
        store, {"a.py": "def f():\n    return zebra + zebra_crossing\n", "b.py": "größenwahn = 'a.b' + zeb\n"}
    )
    with store.snapshot() as snapshot:
        assert snapshot.find_tokens("eb", 10) == ["zeb", "zebra", "zebra_crossing"]
        assert snapshot.find_tokens("eb", 2) == ["zeb", "zebra"]
        assert snapshot.find_tokens("ößen", 2) == ["größenwahn"]
        for nothing in ("horse", "z.b", "%", "_%", "a*"):
            assert snapshot.find_tokens(nothing, 2) == []


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


# --- formats -------------------------------------------------------------------------------------------

FORMATS = {
    "k8s/web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n"
    "      containers:\n      - name: nginx\n        image: nginx\n---\n"
    "apiVersion: v1\nkind: Service\nmetadata:\n  name: web-svc\n",
    "compose.yaml": "services:\n  web:\n    depends_on: [db]\n  db:\n    image: postgres\n",
    "app.py": '@app.get("/users/<int:id>")\ndef show_user(id):\n    return id\n',
    ".github/workflows/ci.yml": "jobs:\n  test:\n    steps:\n    - run: make test\n",
}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Kind.RESOURCE, {"Deployment/web", "Service/web-svc"}),
        (Kind.CONTAINER, {"Deployment/web/nginx"}),
        (Kind.SERVICE, {"service/web", "service/db"}),
        (Kind.ROUTE, {"GET /users/{id}"}),
        (Kind.JOB, {"job/test"}),
    ],
)
def test_entities_of_formats_are_found_by_kind(reader: Reader, kind: Kind, expected: set[str]) -> None:
    snapshot = reader(FORMATS)
    filter = Filter(kinds=frozenset({kind}))
    assert set(names(snapshot, "**", NameTier.GLOB, filter)) == expected
    assert len(names(snapshot, "**", NameTier.GLOB, filter, 1)) == 1


def test_entities_of_formats_are_found_by_name(reader: Reader) -> None:
    snapshot = reader(FORMATS)
    assert names(snapshot, "web-svc", NameTier.EXACT) == ["Service/web-svc"]
    assert names(snapshot, "GET /users/{id}", NameTier.EXACT) == ["GET /users/{id}"]
    assert lexical(snapshot, "postgres") == ["compose.yaml"]
