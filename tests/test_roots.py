"""Where a tree begins, and where its index is."""

import os
from pathlib import Path

import pytest

from dowse.errors import RootError, SettingsError
from dowse.roots import INDEX_FOLDER, find_main_checkout, find_project_root, locate_index, resolve_root
from dowse.settings import Settings

as_root = hasattr(os, "geteuid") and os.geteuid() == 0
needs_permissions = pytest.mark.skipif(os.name == "nt" or as_root, reason="permissions do not bind here")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


@pytest.fixture
def tree(home: Path) -> Path:
    folder = home / "src" / "project"
    (folder / "deep" / "er").mkdir(parents=True)
    return folder


# --- the root --------------------------------------------------------------------------------------


def test_the_given_folder_is_the_root(tree: Path) -> None:
    assert resolve_root(tree) == tree.resolve()
    assert resolve_root(str(tree / "deep" / "..")) == tree.resolve()
    assert resolve_root("~/src/project") == tree.resolve()


def test_a_given_folder_is_not_looked_around(tree: Path) -> None:
    (tree / ".git").mkdir()
    assert resolve_root(tree / "deep") == (tree / "deep").resolve()


@pytest.mark.parametrize("mark", [".git", ".dowse", "dowse.toml"])
def test_without_one_it_is_the_project_around(tree: Path, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    (tree / mark).touch()
    monkeypatch.chdir(tree / "deep" / "er")
    assert resolve_root(None) == tree.resolve()


def test_the_nearest_project_counts(tree: Path) -> None:
    (tree / ".git").mkdir()
    (tree / "deep" / ".git").write_text("gitdir: elsewhere\n")
    assert find_project_root(tree / "deep" / "er") == (tree / "deep").resolve()


def test_without_any_mark_it_is_the_folder_itself(tree: Path) -> None:
    assert find_project_root(tree / "deep") == (tree / "deep").resolve()


def test_a_mark_in_the_home_folder_does_not_make_it_a_project(home: Path, tree: Path) -> None:
    (home / ".git").mkdir()
    assert find_project_root(tree) == tree.resolve()


def test_what_cannot_be_a_root(home: Path, tree: Path) -> None:
    (tree / "file.py").touch()
    for path, message in [
        (tree / "nowhere", "does not exist: give a folder"),
        (tree / "file.py", "is a file: give the folder it is in"),
        (home, "is hardly a source tree"),
        (Path(home.anchor), "is hardly a source tree"),
    ]:
        with pytest.raises(RootError, match=message):
            resolve_root(path)


def test_the_home_folder_if_it_is_meant(home: Path) -> None:
    assert resolve_root(home, allow_home=True) == home.resolve()


@needs_permissions
def test_a_folder_that_cannot_be_read(tree: Path) -> None:
    tree.chmod(0)
    try:
        with pytest.raises(RootError, match="no permission"):
            resolve_root(tree)
    finally:
        tree.chmod(0o700)


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed there")
def test_a_working_directory_that_is_gone(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tree / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(RootError, match="does not exist any more"):
        resolve_root(None)


@pytest.mark.skipif(os.name == "nt", reason="names are always text there")
def test_a_folder_whose_name_is_no_text(tree: Path) -> None:
    with pytest.raises(RootError, match="is not valid UTF-8: rename the folder"):
        resolve_root(str(tree) + "/\udcff")


# --- the index -------------------------------------------------------------------------------------


def test_the_index_is_in_the_tree(tree: Path) -> None:
    place = locate_index(tree, Settings())
    assert (place.folder.path, place.note) == (tree / INDEX_FOLDER, "")


def test_a_folder_of_the_users_choice(tree: Path, home: Path, tmp_path: Path) -> None:
    assert (
        locate_index(tree, Settings(index_dir=str(tmp_path / "index"))).folder.path
        == (tmp_path / "index").resolve()
    )
    assert locate_index(tree, Settings(index_dir="../index")).folder.path == (tree.parent / "index").resolve()
    assert locate_index(tree, Settings(index_dir="~/index")).folder.path == (home / "index").resolve()


def test_a_folder_with_other_things_in_it_is_refused(tree: Path, tmp_path: Path) -> None:
    folder = tmp_path / "chosen"
    folder.mkdir()
    settings = Settings(index_dir=str(folder))
    assert locate_index(tree, settings).folder.path == folder.resolve()
    (folder / "thesis.tex").touch()
    with pytest.raises(SettingsError, match="holds other things than an index"):
        locate_index(tree, settings)
    (folder / "thesis.tex").unlink()
    locate_index(tree, settings).folder.create()
    (folder / "thesis.tex").touch()
    assert locate_index(tree, settings).folder.path == folder.resolve(), "it is one already"


@needs_permissions
def test_a_tree_that_cannot_be_written_has_its_index_elsewhere(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    tree.chmod(0o500)
    try:
        place = locate_index(tree, Settings())
    finally:
        tree.chmod(0o700)
    assert place.folder.path.parent == tmp_path / "cache"
    assert place.folder.path.name.startswith("project-")
    assert "cannot be written, so the index is in" in place.note


# --- work trees ------------------------------------------------------------------------------------


def linked_worktree(main: Path, name: str) -> Path:
    """A linked work tree as git makes one."""
    linked = main.parent / name
    linked.mkdir()
    administration = main / ".git" / "worktrees" / name
    administration.mkdir(parents=True)
    (administration / "commondir").write_text("../..\n")
    (administration / "gitdir").write_text(f"{linked / '.git'}\n")
    (linked / ".git").write_text(f"gitdir: {administration}\n")
    return linked


def test_work_trees_share_the_index_of_the_main_checkout(tree: Path) -> None:
    linked = linked_worktree(tree, "feature")
    assert find_main_checkout(linked) == tree.resolve()
    assert locate_index(linked, Settings()).folder.path == tree.resolve() / INDEX_FOLDER
    assert locate_index(tree, Settings()).folder.path == tree / INDEX_FOLDER


def test_neither_a_plain_checkout_nor_a_submodule_is_a_work_tree(tree: Path) -> None:
    assert find_main_checkout(tree) is None
    (tree / ".git").mkdir()
    assert find_main_checkout(tree) is None
    (tree / ".git" / "modules" / "lib").mkdir(parents=True)
    (tree / "deep" / ".git").write_text("gitdir: ../.git/modules/lib\n")
    assert find_main_checkout(tree / "deep") is None


@pytest.mark.parametrize("content", [b"", b"gitdir: /nowhere/at/all\n", b"\xff\xfe", b"gitdir:"])
def test_a_mark_that_makes_no_sense_is_none(tree: Path, content: bytes) -> None:
    (tree / ".git").write_bytes(content)
    assert find_main_checkout(tree) is None


def test_a_bare_repository_has_no_main_checkout(tree: Path, home: Path) -> None:
    bare = home / "bare.git"
    administration = bare / "worktrees" / "feature"
    administration.mkdir(parents=True)
    (administration / "commondir").write_text("../..\n")
    (tree / ".git").write_text(f"gitdir: {administration}\n")
    assert find_main_checkout(tree) is None
