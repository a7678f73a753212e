"""Whose index is believed: after a move or a copy, by ``dowse trust`` and ``trust_index``, without a key."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from dowse import index_folder, roots
from dowse.engine import Engine
from dowse.errors import IndexForeign
from dowse.interfaces.cli.run_command import run
from dowse.settings import Settings
from tests.agents.clients import make_tree
from tests.security.surroundings import find_data, make_environment, take_snapshot

posix_only = pytest.mark.skipif(os.name == "nt", reason="links, pipes and owners of another kind")

FOREIGN = "was not made by you on this machine"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home, and an environment that has nothing of whoever runs the tests."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in set(os.environ) - set(make_environment(folder)):
        monkeypatch.delenv(name)
    for name, value in make_environment(folder).items():
        monkeypatch.setenv(name, value)
    return folder


@pytest.fixture
def tree(tmp_path: Path, home: Path) -> Path:
    """Make a project with an index of the user's own."""
    folder = make_tree(tmp_path / "project")
    search(folder)
    return folder


@pytest.fixture
def copy(tmp_path: Path, tree: Path) -> Path:
    """Copy the project with its index, as an archive or a cache would."""
    return Path(shutil.copytree(tree, tmp_path / "copy"))


def search(tree: Path) -> tuple[str, ...]:
    """Search, and return the notes, but for those that say that something was indexed."""
    with Engine.open(tree) as engine:
        response = engine.search("retry_with_backoff")
    assert response.results[0].path == "src/retry.py"
    return tuple(note for note in response.notes if not note.startswith("indexed "))


def count_data_folders(tree: Path) -> int:
    """Count the indexes in the folder of a tree."""
    return len(list(index_folder.list_data_folders(tree / ".dowse")))


def has_cached_index(home: Path) -> bool:
    """Whether an index was made in the user's cache."""
    return any((home / "cache").rglob("catalogue.db"))


# --- moves and copies ---


def test_a_moved_tree_keeps_its_index(tree: Path, tmp_path: Path, home: Path) -> None:
    name = find_data(tree).name
    moved = tree.rename(tmp_path / "moved")
    assert search(moved) == ()
    assert find_data(moved).name == name
    assert not has_cached_index(home)
    back = moved.rename(tree)
    assert search(back) == ()
    assert count_data_folders(back) == 1


def test_a_copied_tree_does_not_believe_the_index_that_came_with_it(
    tree: Path, copy: Path, home: Path
) -> None:
    before = take_snapshot(copy)
    (note,) = search(copy)
    assert FOREIGN in note
    assert take_snapshot(copy) == before
    assert has_cached_index(home)
    assert search(tree) == ()


def test_a_tree_that_is_put_back_where_it_was_keeps_its_index(tree: Path, copy: Path, home: Path) -> None:
    shutil.rmtree(tree)
    copy.rename(tree)
    assert search(tree) == ()
    assert not has_cached_index(home)


def test_an_index_without_its_seal_is_known_by_its_place_alone(tree: Path, tmp_path: Path) -> None:
    (find_data(tree) / index_folder.SEAL_FILE).unlink()
    assert search(tree) == ()
    (find_data(tree) / index_folder.SEAL_FILE).unlink(missing_ok=True)
    (note,) = search(tree.rename(tmp_path / "moved"))
    assert FOREIGN in note


# --- dowse trust ---


def test_trust_takes_a_copy_for_the_users_own(copy: Path, tmp_path: Path, home: Path) -> None:
    name = find_data(copy).name
    assert run(["trust", "-p", str(copy)]) == 0
    assert search(copy) == ()
    assert find_data(copy).name == name
    assert not has_cached_index(home)
    assert search(copy.rename(tmp_path / "moved")) == ()


def test_trust_can_make_a_fresh_index_beside_the_other(copy: Path, home: Path) -> None:
    foreign = find_data(copy)
    before = take_snapshot(foreign)
    assert run(["trust", "-p", str(copy), "--fresh"]) == 0
    assert search(copy) == ()
    assert count_data_folders(copy) == 2
    assert not has_cached_index(home)
    assert run(["clear", "-p", str(copy), "--yes"]) == 0
    assert take_snapshot(foreign) == before
    assert count_data_folders(copy) == 1


def alter_text(data: Path) -> None:
    with closing(sqlite3.connect(data / "catalogue.db")) as rows:
        rows.execute("UPDATE contents SET text = (SELECT max(text) FROM contents)")
        rows.commit()


def add_trigger(data: Path) -> None:
    with closing(sqlite3.connect(data / "catalogue.db")) as rows:
        rows.execute("CREATE TRIGGER planted AFTER INSERT ON files BEGIN DELETE FROM files; END")


def shorten_terms(data: Path) -> None:
    for path in data.rglob("*.term"):
        os.truncate(path, 10)


def add_link(data: Path) -> None:
    (data / "views" / "1" / "graph").unlink(missing_ok=True)
    (data / "views" / "1" / "graph").symlink_to(data / "lock")


def add_pipe(data: Path) -> None:
    (data / "writer").unlink()
    os.mkfifo(data / "writer")


def add_another(data: Path) -> None:
    shutil.copytree(data, data.with_name("0" * 32))


def replace_by_link(data: Path) -> None:
    data.rename(data.parent.parent.parent / "elsewhere")
    data.symlink_to(data.parent.parent.parent / "elsewhere")


def lose_catalogue(data: Path) -> None:
    (data / "catalogue.db").unlink()


@posix_only
@pytest.mark.parametrize(
    "change",
    [
        alter_text,
        add_trigger,
        shorten_terms,
        add_link,
        add_pipe,
        add_another,
        replace_by_link,
        lose_catalogue,
        shutil.rmtree,
    ],
)
def test_trust_refuses_what_is_not_whole(
    tree: Path,
    tmp_path: Path,
    home: Path,
    change: Callable[[Path], object],
    capsys: pytest.CaptureFixture[str],
) -> None:
    (home / "state" / index_folder.KEY_FILE).unlink()
    change(find_data(tree))
    seals = {path: path.read_bytes() for path in tmp_path.rglob(index_folder.SEAL_FILE)}
    assert run(["trust", "-p", str(tree)]) == 3
    assert capsys.readouterr().err.startswith("dowse: ")
    assert {path: path.read_bytes() for path in tmp_path.rglob(index_folder.SEAL_FILE)} == seals
    search(tree)


def test_there_is_nothing_to_trust(tmp_path: Path, home: Path) -> None:
    fresh = make_tree(tmp_path / "fresh")
    assert run(["trust", "-p", str(fresh)]) == 3
    assert run(["trust", "-p", str(fresh), "--fresh"]) == 3
    assert not (fresh / ".dowse").exists()


# --- the setting ---


def test_who_trusts_any_index_uses_the_one_that_is_there(
    copy: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = find_data(copy).name
    monkeypatch.setenv("DOWSE_TRUST_INDEX", "1")
    assert search(copy) == ()
    assert find_data(copy).name == name
    assert not has_cached_index(home)
    monkeypatch.delenv("DOWSE_TRUST_INDEX")
    assert FOREIGN in search(copy)[0]


def test_a_tree_cannot_have_its_index_trusted(copy: Path, home: Path) -> None:
    (copy / "dowse.toml").write_text("trust_index = true\n", encoding="utf-8")
    assert [note for note in search(copy) if FOREIGN in note]
    assert has_cached_index(home)


# --- the key ---


@posix_only
def test_the_key_is_for_the_user_alone(tree: Path, home: Path) -> None:
    assert stat.S_IMODE((home / "state").stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "state" / index_folder.KEY_FILE).stat().st_mode) == 0o600
    assert os.listdir(home / "state") == [index_folder.KEY_FILE]
    assert stat.S_IMODE(find_data(tree).stat().st_mode) == 0o700


def test_all_who_make_the_key_at_once_have_the_same(tmp_path: Path, home: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(index_folder.open_folder, [tmp_path / "index"] * 32))
    assert len(found) == 1
    assert os.listdir(home / "state") == [index_folder.KEY_FILE]


def test_another_key_makes_the_index_foreign(tree: Path, home: Path) -> None:
    """The one in the cache too, which is made again: no tree can bring it, and nobody could trust it."""
    (home / "state" / index_folder.KEY_FILE).unlink()
    (note,) = search(tree)
    assert FOREIGN in note
    (home / "state" / index_folder.KEY_FILE).write_bytes(b"cut short")
    (note,) = search(tree)
    assert FOREIGN in note
    assert (home / "state" / index_folder.KEY_FILE).stat().st_size == index_folder.KEY_BYTES


def block_with_file(state: Path) -> None:
    state.write_bytes(b"a file, so that no folder can be made here")


def block_with_long_key(state: Path) -> None:
    state.mkdir()
    (state / index_folder.KEY_FILE).write_bytes(bytes(1000))


def block_with_folder(state: Path) -> None:
    (state / index_folder.KEY_FILE).mkdir(parents=True)


def block_with_link(state: Path) -> None:
    state.mkdir()
    (state / index_folder.KEY_FILE).symlink_to("another")
    (state / "another").write_bytes(bytes(index_folder.KEY_BYTES))


@posix_only
@pytest.mark.parametrize("block", [block_with_file, block_with_long_key, block_with_folder, block_with_link])
def test_without_a_place_for_the_key_the_user_is_told_what_to_do(
    tmp_path: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    block: Callable[[Path], None],
) -> None:
    tree = make_tree(tmp_path / "project")
    block(home / "state")
    before = take_snapshot(tmp_path)
    for args in (["search", "retry"], ["status"], ["clear", "--yes"], ["trust"], ["trust", "--fresh"]):
        assert run([args[0], "-p", str(tree), *args[1:]]) == 3
        said = capsys.readouterr().err
        assert "DOWSE_STATE_DIR" in said or "missing" in said
    assert run(["doctor", "-p", str(tree)]) < 4
    assert take_snapshot(tmp_path) == before
    monkeypatch.setenv("DOWSE_TRUST_INDEX", "1")
    assert search(tree) == ()
    assert search(tree) == ()
    assert count_data_folders(tree) == 1


@posix_only
def test_trust_without_a_place_for_the_key_is_no_crash(
    copy: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(home / "state")
    block_with_file(home / "state")
    for args in ([], ["--fresh"]):
        assert run(["trust", "-p", str(copy), *args]) == 3
        assert "DOWSE_STATE_DIR" in capsys.readouterr().err


# --- other users ---


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner here")
def test_an_index_of_another_user_is_foreign(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    somebody = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody)
    place = roots.locate_index(tree, Settings())
    assert "belongs to another user" in place.note
    assert place.folder.path.parent != tree
    with pytest.raises(IndexForeign):
        index_folder.find_foreign(tree / ".dowse")
    trusted = roots.locate_index(tree, Settings(trust_index=True))
    assert trusted.note == ""
    assert trusted.folder.data == find_data(tree)
