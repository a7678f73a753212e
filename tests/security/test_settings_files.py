"""Settings files that are pipes, links out of the tree, huge, or made to take long."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from dowse.errors import SettingsError
from dowse.roots import find_main_checkout, name_shared_index
from dowse.settings import Settings, resolve, user_config_file
from dowse.settings_files import MAX_CONFIG_BYTES

needs_posix = pytest.mark.skipif(os.name == "nt", reason="no pipes in folders, and links need rights")
NAMES = ["dowse.toml", "pyproject.toml"]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "tree"
    folder.mkdir()
    return folder


def check_unread(tree: Path, name: str) -> None:
    """A broken file of ours is an error, one of somebody else's is none of our business."""
    if name == "dowse.toml":
        with pytest.raises(SettingsError, match=r"dowse\.toml (cannot be read|is not valid TOML)"):
            resolve(tree)
    else:
        assert resolve(tree).settings == Settings()


@needs_posix
@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_is_not_waited_for(tree: Path, name: str) -> None:
    os.mkfifo(tree / name)
    check_unread(tree, name)


@needs_posix
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("target", ["../outside.toml", "/dev/zero"])
def test_a_link_out_of_the_tree_is_not_followed(tree: Path, name: str, target: str) -> None:
    text = "[tool.dowse]\nlimit = 3\n" if name == "pyproject.toml" else "limit = 3\n"
    (tree.parent / "outside.toml").write_text(text)
    (tree / name).symlink_to(target)
    check_unread(tree, name)


@needs_posix
def test_links_inside_the_tree_and_of_the_user_are_followed(tree: Path, tmp_path: Path) -> None:
    (tree / "other.toml").write_text("limit = 3\n")
    (tree / "dowse.toml").symlink_to("other.toml")
    (tmp_path / "dotfiles.toml").write_text("max_definition_lines = 4\n")
    user_config_file().parent.mkdir(parents=True)
    user_config_file().symlink_to(tmp_path / "dotfiles.toml")
    settings = resolve(tree).settings
    assert (settings.limit, settings.max_definition_lines) == (3, 4)


@pytest.mark.parametrize("name", NAMES)
def test_a_huge_file_is_not_read(tree: Path, name: str) -> None:
    with (tree / name).open("wb") as file:
        file.truncate(MAX_CONFIG_BYTES * 50_000)
    check_unread(tree, name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["dowse" + ".a" * 400_000 + " = 1\n", "dowse = " + "[" * 900_000])
def test_a_file_that_takes_long_to_parse_is_not_parsed(tree: Path, name: str, text: str) -> None:
    (tree / name).write_text(text)
    check_unread(tree, name)


@needs_posix
def test_a_git_configuration_that_is_a_pipe_or_a_link(tree: Path, tmp_path: Path) -> None:
    (tree / ".git").mkdir()
    os.mkfifo(tree / ".git" / "config")
    own = name_shared_index(tree).repository
    assert own.endswith(tree.as_posix())
    (tmp_path / "config").write_text('[remote "origin"]\n\turl = https://example.org/team/victim\n')
    (tree / ".git" / "config").unlink()
    (tree / ".git" / "config").symlink_to(tmp_path / "config")
    assert name_shared_index(tree).repository == own
    shutil.rmtree(tree / ".git")
    (tree / ".git").symlink_to(tmp_path)
    assert name_shared_index(tree).repository == own
    (tree / ".git").unlink()
    os.mkfifo(tree / ".git")
    assert find_main_checkout(tree) is None


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A project with a linked work tree of its own."""
    administration = tmp_path / "victim" / ".git" / "worktrees" / "feature"
    administration.mkdir(parents=True)
    (administration / "commondir").write_text("../..\n")
    (administration / "gitdir").write_text(f"{tmp_path / 'feature' / '.git'}\n")
    return tmp_path / "victim"


def test_a_tree_cannot_say_that_it_is_a_work_tree_of_another(tree: Path, victim: Path) -> None:
    (tree / ".git").write_text("gitdir: ../victim/.git/worktrees/feature\n")
    assert find_main_checkout(tree) is None
    (victim / ".git" / "worktrees" / "feature" / "gitdir").write_text(f"{tree / '.git'}\n")
    assert find_main_checkout(tree) == victim.resolve()
    (victim / ".git" / "worktrees" / "feature" / "gitdir").write_text("../../../../tree/.git\n")
    assert find_main_checkout(tree) == victim.resolve(), "git may write it relative"


def test_a_tree_cannot_bring_the_folder_that_points_back(tree: Path, victim: Path) -> None:
    own = tree / "worktrees" / "x"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../../../victim/.git\n")
    (own / "gitdir").write_text("../../.git\n")
    (tree / ".git").write_text("gitdir: worktrees/x\n")
    assert find_main_checkout(tree) is None
