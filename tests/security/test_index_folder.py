"""An index that a stranger made or changed: it is not believed, not followed, not waited for, and not deleted."""

from __future__ import annotations

import os
import sqlite3
import sys
import zlib
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from dowse.engine import Engine
from dowse.errors import IndexCorrupt
from dowse.interfaces.cli.run_command import run
from tests.agents.clients import make_tree
from tests.security.surroundings import (
    INDEX_FILES,
    VIEW_FILES,
    find_data,
    make_environment,
    make_project,
    run_commands,
    take_snapshot,
    write_files,
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and pipes of another kind")

PLANTED = "planted_by_a_stranger"

LEVELS = (
    "",
    "views",
    "views/1",
    "views/1/lexical",
    "views/1/lexical/meta.json",
    "views/1/vectors",
    "views/1/vectors/segments.json",
    "views/1/graph",
    *INDEX_FILES,
    "catalogue.db-shm",
    "catalogue.db-journal",
)
"""The places in the folder of an index that dowse reads or writes, the folder itself first."""

COMMANDS = (
    ("search", "retry"),
    ("status",),
    ("index",),
    ("index", "--rebuild"),
    ("doctor",),
    ("trust",),
    ("clear", "--yes"),
)

GIBIBYTE = 1 << 30


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home, and an environment that has nothing of whoever runs the tests."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name, value in make_environment(folder).items():
        monkeypatch.setenv(name, value)
    for name in set(os.environ) - set(make_environment(folder)):
        monkeypatch.delenv(name)
    return folder


@pytest.fixture
def tree(tmp_path: Path, home: Path) -> Path:
    return make_project(tmp_path / "around")


def index(tree: Path) -> None:
    """Make the index of a tree."""
    with Engine.open(tree) as engine:
        engine.index()


def search(tree: Path, query: str = "retry_with_backoff") -> str:
    """Search, and return all that is shown: texts and notes."""
    with Engine.open(tree) as engine:
        response = engine.search(query)
    assert response.results
    assert response.results[0].path == "src/retry.py"
    return "\n".join([*(hit.text or "" for hit in response.results), *response.notes])


def run_all(tree: Path) -> None:
    """Run every command that reads, writes or deletes an index; whatever it says, it must not be a crash."""
    for command, *rest in COMMANDS:
        place = [str(tree)] if command == "index" else ["-p", str(tree)]
        assert run([command, *place, *rest]) < 4, command


# --- links ---


def plant_link(place: Path, target: Path) -> None:
    """Put a link where an index has a file or a folder, in place of what is there."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        place.rename(place.with_name(place.name + "-before"))
    place.unlink(missing_ok=True)
    place.symlink_to(os.path.relpath(target, place.parent))


TARGETS = ("neighbour", "neighbour/views", "neighbour/private", "neighbour/not-there")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", LEVELS)
def test_links_in_a_committed_index_lead_nowhere(tree: Path, home: Path, level: str, target: str) -> None:
    around = tree.parent
    plant_link(tree / ".dowse" / level if level else tree / ".dowse", around / target)
    before = take_snapshot(tree.parent)
    run_all(tree)
    assert take_snapshot(tree.parent) == before
    assert (tree / ".dowse").is_symlink() or "retry_with_backoff" in search(tree)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", LEVELS)
def test_links_in_the_users_own_index_lead_nowhere(tree: Path, home: Path, level: str, target: str) -> None:
    index(tree)
    data = find_data(tree)
    plant_link(data / level if level else data, tree.parent / target)
    before = take_snapshot(tree.parent, without=[tree / ".dowse"])
    run_all(tree)
    assert take_snapshot(tree.parent, without=[tree / ".dowse"]) == before


def test_sibling_projects_are_not_taken_for_lost_views(tmp_path: Path, home: Path) -> None:
    tree, sibling = make_tree(tmp_path / "all" / "one"), make_tree(tmp_path / "all" / "two")
    (tree / ".dowse").mkdir()
    (tree / ".dowse" / "views").symlink_to("../..")
    assert "retry" in search(tree)
    assert (sibling / "src" / "retry.py").is_file()


def test_the_file_of_the_writer_is_not_written_through_a_link(tmp_path: Path, home: Path) -> None:
    tree, precious = make_tree(tmp_path / "one"), tmp_path / "precious"
    precious.write_text("mine", encoding="utf-8")
    (tree / ".dowse").mkdir()
    (tree / ".dowse" / "writer").symlink_to("../../precious")
    assert "retry" in search(tree)
    assert precious.read_text(encoding="utf-8") == "mine"


def test_a_linked_folder_of_another_index_is_left_alone(tmp_path: Path, home: Path) -> None:
    """The index of another project of the same user is whole, and must stay so."""
    tree, other = make_tree(tmp_path / "one"), make_tree(tmp_path / "two")
    index(other)
    (tree / ".dowse").symlink_to("../two/.dowse")
    before = take_snapshot(other)
    run_all(tree)
    assert "retry" in search(tree)
    assert take_snapshot(other) == before


@pytest.mark.parametrize("whole", [True, False], ids=["folder", "data"])
def test_who_trusts_any_index_follows_no_link(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    tree, other = make_tree(tmp_path / "one"), make_tree(tmp_path / "two")
    index(other)
    if whole:
        (tree / ".dowse").symlink_to("../two/.dowse")
    else:
        (tree / ".dowse").mkdir()
        (tree / ".dowse" / ("0" * 32)).symlink_to(find_data(other))
    before = take_snapshot(other)
    monkeypatch.setenv("DOWSE_TRUST_INDEX", "1")
    run_all(tree)
    assert "retry" in search(tree)
    assert take_snapshot(other) == before


# --- indexes of others ---

_OPENED: list[str] = []
"""The paths that this process has opened since somebody began to listen."""


def listen(event: str, arguments: tuple[Any, ...]) -> None:
    """Note what is opened."""
    if event in ("open", "sqlite3.connect"):
        _OPENED.append(os.fsdecode(arguments[0]) if isinstance(arguments[0], str | bytes | Path) else "")


@pytest.fixture(scope="module")
def opened() -> list[str]:
    """Listen to what this process opens."""
    sys.addaudithook(listen)
    return _OPENED


def make_foreign_index(tree: Path, monkeypatch: pytest.MonkeyPatch, key: Path) -> None:
    """Make an index as another user or another machine would, with a text in it that no file has."""
    with monkeypatch.context() as other:
        other.setenv("DOWSE_STATE_DIR", str(key))
        index(tree)
    alter_texts(find_data(tree), covered=True)


def alter_texts(data: Path, *, covered: bool) -> None:
    """Write another text into a catalogue for every one that is there; ``covered``: with a hash that fits."""
    with closing(sqlite3.connect(data / "catalogue.db")) as rows:
        for id, digest, packed in rows.execute("SELECT id, hash, text FROM contents").fetchall():
            text = zlib.decompress(packed).replace(b"growing pauses", PLANTED.encode())
            rows.execute("UPDATE contents SET text = ? WHERE id = ?", (zlib.compress(text), id))
            if covered and "text_hash" in columns_of(rows, "contents"):
                fitting = blake2b(text, key=digest, digest_size=16).digest()
                rows.execute("UPDATE contents SET text_hash = ? WHERE id = ?", (fitting, id))
        rows.commit()


def columns_of(rows: sqlite3.Connection, table: str) -> set[str]:
    """List the columns of a table."""
    return {name for _, name, *_ in rows.execute(f"PRAGMA table_info({table})")}


def test_a_foreign_index_is_neither_believed_nor_read_nor_deleted(
    tmp_path: Path, tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch, opened: list[str]
) -> None:
    make_foreign_index(tree, monkeypatch, tmp_path / "other-key")
    before = take_snapshot(tree.parent)
    opened.clear()
    shown = search(tree)
    assert "growing pauses" in shown
    assert PLANTED not in shown
    assert "was not made by you on this machine" in shown
    for args in (["status"], ["doctor"], ["index", "--rebuild"], ["clear", "--yes"], ["hubs"]):
        monkeypatch.chdir(tree)
        run(args)
    read = {path for path in opened if path.startswith(str(tree / ".dowse"))}
    assert {os.path.basename(path) for path in read} <= {"seal"}  # which nobody else can make
    assert take_snapshot(tree.parent) == before


def test_status_says_that_an_index_is_foreign_and_where_the_own_is(
    tmp_path: Path,
    tree: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_foreign_index(tree, monkeypatch, tmp_path / "other-key")
    run(["index", str(tree)])
    capsys.readouterr()
    assert run(["status", "-p", str(tree)]) == 0
    said = capsys.readouterr()
    assert "was not made by you on this machine" in said.err
    assert str(home / "cache") in said.out
    (own,) = (home / "cache").glob("project-*")
    run(["clear", "-p", str(tree), "--yes"])
    assert not own.exists()
    assert find_data(tree).is_dir()


def test_a_foreign_index_under_the_users_own_name_for_it_is_not_known(
    tmp_path: Path, tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names that a stranger can guess: none, and those of the user's other indexes."""
    other = make_tree(tmp_path / "other")
    index(other)
    make_foreign_index(tree, monkeypatch, tmp_path / "other-key")
    data = find_data(tree)
    for name in ("0" * 32, find_data(other).name):
        data = data.rename(data.with_name(name))
        (data / "seal").write_bytes((find_data(other) / "seal").read_bytes())
        assert PLANTED not in search(tree)


# --- changes in the user's own index ---


def test_a_text_that_was_altered_is_not_shown(tree: Path, home: Path) -> None:
    index(tree)
    alter_texts(find_data(tree), covered=False)
    with Engine.open(tree, read_only=True) as engine, pytest.raises(IndexCorrupt):
        engine.search("retry_with_backoff")
    shown = search(tree)
    assert "growing pauses" in shown
    assert PLANTED not in shown
    assert "repaired" in shown
    assert "repaired" not in search(tree)


CHANGES = {
    "trigger": "CREATE TRIGGER planted AFTER INSERT ON files BEGIN DELETE FROM files WHERE path = 'src/retry.py'; END",
    "temporary": "CREATE TRIGGER planted AFTER UPDATE ON views BEGIN UPDATE files SET path = 'src/gone.py'; END",
    "view": "ALTER TABLE contents RENAME TO hidden; CREATE VIEW contents AS SELECT * FROM hidden WHERE 0",
    "generated": "ALTER TABLE secrets ADD COLUMN planted TEXT AS (hex(zeroblob(100000000)))",
    "index": "CREATE INDEX planted ON files (hex(zeroblob(10000000)))",
    "table": "CREATE TABLE planted (path TEXT)",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_catalogue_with_other_tables_is_made_anew(tree: Path, home: Path, change: str) -> None:
    index(tree)
    catalogue = find_data(tree) / "catalogue.db"
    with closing(sqlite3.connect(catalogue)) as rows:
        rows.executescript(CHANGES[change])
    (tree / "src" / "new.py").write_text("def brand_new():\n    pass\n", encoding="utf-8")
    assert "growing pauses" in search(tree)
    with closing(sqlite3.connect(catalogue)) as rows:
        kept = rows.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%planted%' OR type = 'view'")
        assert kept.fetchall() == []


def make_bomb() -> bytes:
    """Make a few megabytes that unpack to eight gigabytes: a piece that ends on a byte can be repeated."""
    stream = zlib.compressobj(9)
    piece = stream.compress(bytes(64 << 20)) + stream.flush(zlib.Z_FULL_FLUSH)
    return piece + piece[2:] * 127


@pytest.mark.parametrize("own", [True, False], ids=["own", "foreign"])
def test_a_value_that_unpacks_to_gigabytes(
    tmp_path: Path, tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    if own:
        index(tree)
    else:
        make_foreign_index(tree, monkeypatch, tmp_path / "other-key")
    with closing(sqlite3.connect(find_data(tree) / "catalogue.db")) as rows:
        rows.execute("UPDATE contents SET text = ?", (make_bomb(),))
        rows.execute("UPDATE mentions SET packed = ?", (make_bomb(),))
        rows.commit()
    commands = [["search", "retry"], ["hubs"], ["doctor"]]
    found, *others = run_commands(tree, home, commands, memory_bytes=4 * GIBIBYTE)
    assert found.code == 0, found.text
    assert "retry_with_backoff" in found.text
    assert [told.code < 4 for told in others] == [True, True], others


# --- pipes ---


def make_pipe(place: Path) -> None:
    """Put a pipe that nobody writes to where an index has a file or a folder."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        place.rename(place.with_name(place.name + "-before"))
    place.unlink(missing_ok=True)
    os.mkfifo(place)


@pytest.mark.parametrize("own", [True, False], ids=["own", "committed"])
def test_a_pipe_in_place_of_any_file_is_not_waited_for(tmp_path: Path, home: Path, own: bool) -> None:
    trees = [make_tree(tmp_path / "around" / f"tree{number}") for number in range(len(LEVELS))]
    for tree, level in zip(trees, LEVELS, strict=True):
        if own:
            index(tree)
            make_pipe(find_data(tree) / level if level else find_data(tree))
        else:
            make_pipe(tree / ".dowse" / level if level else tree / ".dowse")
    commands = [
        [command, *([str(tree)] if command == "index" else ["-p", str(tree)]), *rest]
        for tree in trees
        for command, *rest in COMMANDS
    ]
    told = run_commands(tmp_path, home, commands)
    assert not [(args, one) for args, one in zip(commands, told, strict=True) if one.code > 3]


def test_pipes_in_what_dowse_keeps_for_the_user_are_not_waited_for(tmp_path: Path, home: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    (home / "state").mkdir()
    os.mkfifo(home / "state" / "index.key")
    (told,) = run_commands(tmp_path, home, [["search", "-p", str(tree), "retry"]])
    assert told.code == 3
    assert "DOWSE_STATE_DIR" in told.text


# --- settings of the tree ---


@pytest.mark.parametrize(
    "written",
    ["../two/.dowse", "{other}/.dowse", "src/../../two/.dowse", "linked/.dowse", "linked/.dowse/{data}"],
)
def test_a_tree_does_not_choose_the_index_of_another(tmp_path: Path, home: Path, written: str) -> None:
    tree, other = make_tree(tmp_path / "one"), make_tree(tmp_path / "two")
    index(other)
    (tree / "linked").symlink_to("../two")
    place = written.format(other=other, data=find_data(other).name)
    (tree / "dowse.toml").write_text(f'index_dir = "{place}"\n', encoding="utf-8")
    before = take_snapshot(other)
    run_all(tree)
    assert "index_dir in dowse.toml is not used" in search(tree)
    run(["clear", "-p", str(tree), "--yes"])
    assert take_snapshot(other) == before


def test_clear_removes_no_file_that_is_not_ours(tree: Path, home: Path) -> None:
    index(tree)
    data = find_data(tree)
    mine = {"notes.txt": b"mine", "views/7/lexical/notes.txt": b"mine", "views/notes/catalogue.db": b"mine"}
    write_files(data, mine)
    write_files(data.parent, {"catalogue.db": b"mine", "views/1/graph": b"mine"})
    write_files(data / "views" / "8", VIEW_FILES)
    with Engine.open(tree) as engine:
        engine.clear()
    left = {str(path.relative_to(data)) for path in data.rglob("*") if path.is_file()}
    assert left == set(mine)
    assert (data.parent / "catalogue.db").read_bytes() == b"mine"
    assert (data.parent / "views" / "1" / "graph").read_bytes() == b"mine"


def test_an_index_that_is_nothing_but_folders_in_folders(tree: Path, home: Path) -> None:
    index(tree)
    place = str(find_data(tree) / "views")
    made = [place := place + "/d" for _ in range(1200)]  # more than Python's own limit of calls in calls
    for folder in made:
        os.mkdir(folder)
    try:
        assert "growing pauses" in search(tree)
    finally:
        for folder in reversed(made):  # nor can whoever cleans up go that deep
            os.rmdir(folder)
