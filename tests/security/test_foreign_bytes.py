"""Bytes that the fuzzer found a reader to stumble over, each as a test of its own."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import pytest

from dowse import serialization
from dowse.embedders import model2vec, model_files
from dowse.errors import IndexCorrupt, SettingsError, UsageError
from dowse.evaluation import dataset
from dowse.graph import graph_codec, scopes
from dowse.indexing import git_index
from dowse.indexing.ignore_files import IgnoreFiles
from dowse.interfaces.agents import instructions, jsonc, toml_editor
from dowse.search import query_log
from dowse.stores import row_codec
from dowse.stores.embedded.vector_index import MANIFEST_FILE, SEGMENT_SUFFIX, VectorIndex

DEEP = "[" * 100_000
SEGMENT = struct.pack("<q", 1) + struct.pack("<f", 0.01) + bytes(4)
SERVER = {"command": "dowse", "args": ["mcp"]}


# --- index files ---


def test_report_is_whole_or_corrupt() -> None:
    for text in ("", "[]", "{}", "null", DEEP, '{"failures": 1, "repaired": []}'):
        with pytest.raises(IndexCorrupt):
            row_codec.unpack_report(text)


def test_watched_paths_are_whole_or_corrupt() -> None:
    for text in (
        "[1]", "1", DEEP, '{"elsewhere": {}}', '{"folder": []}', '{"folder": {"src": 1}}',
        '{"folder": {"src": [1]}}', '{"folder": {"src": ["1", true]}}', '{"folder": {"src": [1, 1]}}',
    ):  # fmt: skip
        with pytest.raises(IndexCorrupt):
            row_codec.unpack_watched(text)


def test_entry_has_texts_and_definitions_that_are_there() -> None:
    none: list[list[int]] = [[]] * 5
    no_text = serialization.pack_columns([1], [[1], [2], [1], [0], [0], *none], b"[]")
    no_list = serialization.pack_columns(
        "a", [[1], [2], [1], [0], [0], *none], b'[["class"],["a"],[""],[""]]'
    )
    no_parent = serialization.pack_columns([], [*none, [0], [1], [1], [1], [9]], b"[[],[],[],[]]")
    no_rest = serialization.pack_columns([], [*none, *none])
    for data in (no_text, no_list, no_parent, no_rest, DEEP.encode(), b"[[],[0]]\n", b"[[]]\n"):
        with pytest.raises(IndexCorrupt):
            row_codec.unpack_parsed("python", "clean", data)


def test_graph_of_anything_else_is_empty() -> None:
    whole = zlib.decompress(graph_codec.pack({}))
    (version, *_), columns, _ = serialization.unpack_columns(whole, 15)
    for strings, rows in (
        ([], [["a"]]),
        ([1], []),
        ([], [["a", "zz", "python", "source", "", 0, 0, 0, 0]]),
    ):
        data = serialization.pack_columns([version, strings, rows], columns)
        assert graph_codec.unpack(zlib.compress(data)) == {}
    assert (
        graph_codec.unpack(zlib.compress(serialization.pack_columns([version, [], []], columns[:-1]))) == {}
    )
    assert graph_codec.unpack(zlib.compress(whole + b"abc")) == {}
    assert graph_codec.unpack(zlib.compress(DEEP.encode())) == {}


def test_scopes_of_anything_else_are_corrupt() -> None:
    for text in ("", "[]", DEEP, "[[], {}, 1]", '[[["a", "class", 1, 4000000000, 1]], {}]', "[[[]], {}]"):
        with pytest.raises(IndexCorrupt):
            scopes.read_scopes("a.py", "python", zlib.compress(text.encode()))
    with pytest.raises(IndexCorrupt):
        scopes.read_scopes("a.py", "python", b"not compressed")


@pytest.mark.parametrize(
    "shape",
    [["../outside", 1, 4, 0], ["00000001-0123abcd", -1, -4, 0], [1e999] * 4, None, "abcd"],
)
def test_manifest_that_was_not_written_here_is_taken_for_lost(tmp_path: Path, shape: object) -> None:
    folder = tmp_path / "vectors"
    folder.mkdir()
    for place in (tmp_path / ("outside" + SEGMENT_SUFFIX), folder / ("00000001-0123abcd" + SEGMENT_SUFFIX)):
        place.write_bytes(SEGMENT)
    (folder / MANIFEST_FILE).write_text(json.dumps({"generation": 1, "segments": [shape]}), encoding="utf-8")
    assert len(VectorIndex(folder)) == 0
    (folder / MANIFEST_FILE).write_text(DEEP, encoding="utf-8")
    assert len(VectorIndex(folder)) == 0


# --- files of git ---


def test_git_files_with_nul_or_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the user's own\n", encoding="utf-8")
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    for head in (b"ref: a\0b\n", b"ref: refs/../../../secret\n", b"ref: ../../secret\n", b"what is this\n"):
        (folder / ".git" / "HEAD").write_bytes(head)
        found = git_index.read_revision(folder)
        assert found is not None
        assert found.commit == ""
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").write_bytes(b"gitdir: a\0b\n")
    assert git_index.read_revision(linked) is None
    IgnoreFiles(linked, None).read_outer()


def test_git_index_with_endless_numbers_and_names() -> None:
    entry = bytes(40) + bytes(20) + b"\0\0"
    endless = b"DIRC" + struct.pack(">II", 4, 1) + entry + b"\x80" * 100_000
    assert git_index._GitIndex(endless).find("a") is None
    growing = b"DIRC" + struct.pack(">II", 4, 2_000) + (entry + b"\0" + b"a" * 100 + b"\0") * 2_000
    assert git_index._GitIndex(growing).find("a" * 100) is None


# --- settings of agents ---


def test_section_goes_in_and_out() -> None:
    for text in (
        "",
        "\n",
        "# A",
        "# A\n",
        "# A\r\n",
        f"{instructions.END_MARK}\n# A\n",
        f"{instructions.BEGIN_MARK}\nmine\n",
    ):
        inserted = instructions.add_section(text)
        assert instructions.add_section(inserted) == inserted
        assert instructions.remove_section(inserted) == text


def test_toml_goes_in_and_out_or_is_refused() -> None:
    keys = ("mcp_servers", "dowse")
    for text in ("", " ", "a = 1", "a = 1\n", "a = nan\n", "[mcp_servers.other]\nb = 1"):
        assert toml_editor.remove_entry(toml_editor.set_entry(text, keys, SERVER), keys) == text
    for text in (
        "[[mcp_servers]]\na = 1\n",
        "mcp_servers = { a = { b = 1 } }\n",
        "mcp_servers.dowse = 1\n",
        f"a = {DEEP[:5000]}",
    ):
        with pytest.raises(UsageError):
            toml_editor.set_entry(text, keys, SERVER)
    for text in (
        "[mcp_servers.dowse]",
        'mcp_servers.dowse.command = "x"\n',
        'a = """\n[mcp_servers.dowse]\n"""\n[mcp_servers.dowse]\nb = 1\n',
    ):
        assert toml_editor.get_entry(toml_editor.set_entry(text, keys, SERVER), keys) == SERVER


def test_json_that_is_none_is_refused() -> None:
    for text in (
        '{"\\u": 1}',
        '{"a\nb": 1}',
        '{"a": ' * 100_000,
        '{"mcpServers": {"dowse": nonsense}}',
        '{"mcpServers": {"" "x"}}',
        '{"a": 1 "b": 2}',
        '{"a": [1 2]}',
        '{"a": "no end}',
    ):
        with pytest.raises(UsageError):
            jsonc.get_entry(text, ("mcpServers", "dowse"))


# --- models, ground truth, earlier queries ---


def test_model_files_that_are_nested_or_shaped_wrongly(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text(DEEP, encoding="utf-8")
    with pytest.raises(SettingsError):
        model_files.read_json(path)
    for shape in ([-1, -2], [1.0, 2.0]):
        header = json.dumps({"embeddings": {"dtype": "I8", "shape": shape, "data_offsets": [0, 2]}}).encode()
        path.write_bytes(len(header).to_bytes(8, "little") + header + b"xx")
        with pytest.raises(SettingsError):
            model2vec.open_tensors(path)
    path.write_bytes(len(DEEP).to_bytes(8, "little") + DEEP.encode())
    with pytest.raises(SettingsError):
        model2vec.read_header(path)


def test_judgements_without_a_query_or_with_endless_digits(tmp_path: Path) -> None:
    path, queries = tmp_path / "truth.qrels", tmp_path / "queries"
    queries.write_text("q1\t \nq2\tb\n", encoding="utf-8")
    for text in ("q1 0 a.py 1\n", f"q2 0 a.py {'9' * 5000}\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError):
            dataset.load(path, queries=queries)


def test_earlier_queries_of_other_types_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "log"
    good = {"time": 1.5, "query": "a", "hits": 3, "best": 0.5}
    rows: list[object] = [{**good, "query": []}, {**good, "time": None}, {}, [], good]
    lines = [DEEP, *(json.dumps(row) for row in rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert [asked.query for asked in query_log.read_log(path)] == ["a"]
