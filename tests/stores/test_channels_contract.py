"""What the channels of every store do: words, vectors, names, and filters inside each; run over the table of stores."""

import math
from collections.abc import Collection
from dataclasses import replace

import pytest

from dowse.errors import UsageError
from dowse.filters import file_passes, to_facts
from dowse.stores.protocol import Snapshot, Store
from dowse.types.queries import Term
from dowse.types.source import Kind, Role
from dowse.types.stored import Bm25, Filter, NameTier, chunk_id, split_chunk_id

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
    write,
)
from .conftest import Reader

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
        kinds = {type(snapshot).__name__, type(getattr(snapshot, "channels", None)).__name__}
        if kinds & {"EmbeddedSnapshot", "ClusterSnapshot"}:
            with pytest.raises(UsageError, match=r"k1 1\.2 and b 0\.75 built in"):
                snapshot.lexical(term, BODY, ANY, 10, Bm25(1.5, 0.75))
            return
        flat, long = (snapshot.lexical(term, BODY, ANY, 10, Bm25(k1, 0.0)) for k1 in (0.0, 100.0))
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    assert [hit.score for hit in flat] == pytest.approx([idf, idf])
    assert [hit.score for hit in long] == pytest.approx([idf * 2 * 101 / 102, idf])


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
