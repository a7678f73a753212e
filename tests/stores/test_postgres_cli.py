"""The commands on a shared index, from end to end."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from dowse import Engine, roots, stores
from dowse.errors import SettingsError
from dowse.interfaces.cli.run_command import run
from dowse.settings import find_passwords, mask_passwords

from . import server
from .building import TREE

PASSWORD = "s3cret&more"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for path, text in TREE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def login(admin_url: str, worker_id: str) -> str:
    """The address of an empty database, of a role with a password."""
    url, role = server.database(admin_url, f"dowse_cli_{worker_id}"), f"dowse_writer_{worker_id}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))
        for statement in ("CREATE ROLE {role} SUPERUSER LOGIN PASSWORD {password}",):
            connection.execute(
                sql.SQL(statement).format(role=sql.Identifier(role), password=sql.Literal(PASSWORD))
            )
    return server.address(url, user=role, password=PASSWORD)


Dowse = Callable[..., tuple[int, str, str]]


@pytest.fixture
def dowse(
    tree: Path, login: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Dowse:
    """A command in the tree, with the store of the environment: exit code, output, and what was said beside it."""
    monkeypatch.setenv("DOWSE_STORE", login)
    monkeypatch.setenv("DOWSE_EMBEDDER", "hashing")
    monkeypatch.chdir(tree)

    def call(*args: str) -> tuple[int, str, str]:
        code = run(args)
        said = capsys.readouterr()
        assert PASSWORD not in said.out + said.err
        assert "s3cret" not in said.out + said.err
        return code, said.out, said.err

    return call


def test_from_init_to_clear(dowse: Dowse, tree: Path, login: str) -> None:
    code, _, err = dowse("search", "token")
    assert (code, "run 'dowse store init'" in err) == (3, True)
    code, out, _ = dowse("store", "init")
    assert code == 0 and "ready: postgresql://" in out
    code, out, _ = dowse("index", "--json")
    assert code == 0 and json.loads(out)["report"]["added"] == len(TREE)
    code, out, err = dowse("search", "start a session", "--json")
    answer = json.loads(out)
    assert code == 0 and answer["results"][0]["path"] == "src/auth/login.py"
    assert {channel["name"] for channel in answer["channels"] if channel["ran"]} >= {"lexical", "dense"}
    assert not (tree / ".dowse").exists(), "nothing is written into the tree"
    (tree / "main.py").write_text("def brand_new_thing(): pass\n", encoding="utf-8")
    assert dowse("search", "brand_new_thing")[0] == 0, "changes are noticed at once"
    code, out, _ = dowse("store", "status", "--json")
    (view,) = json.loads(out)["views"]
    assert (code, view["files"], view["complete"]) == (0, len(TREE), True)
    code, out, _ = dowse("store", "status")
    assert "1 repository, 1 checkout" in out and "complete" in out
    assert dowse("status")[0] == 0
    assert "***" in dowse("config", "show")[1]
    assert dowse("doctor")[0] == 0
    code, out, _ = dowse("store", "gc", "--json")
    assert code == 0 and json.loads(out)["removed"]["contents"] == 1
    assert dowse("clear", "--yes")[0] == 0
    assert dowse("status")[0] == 3
    assert "there is no index" in dowse("clear", "--yes")[2]


def test_copies_and_flags(dowse: Dowse, login: str) -> None:
    assert dowse("store", "init")[0] == 0
    assert dowse("index", "--store", "embedded")[0] == 0
    code, out, _ = dowse("store", "copy", "embedded", "shared")
    assert code == 0 and f"copied {len(TREE)} files" in out
    shared = json.loads(dowse("search", "refresh token", "--json")[1])
    own = json.loads(dowse("search", "refresh token", "--json", "--store", "embedded")[1])
    assert [hit["path"] for hit in shared["results"]] == [hit["path"] for hit in own["results"]]
    assert "copied 0 files" in dowse("store", "copy", "shared", "embedded")[1]
    assert dowse("store", "copy", "shared", "shared")[0] == 2
    assert dowse("store", "init", "--rebuild")[0] == 2
    assert dowse("store", "init", "--rebuild", "--yes")[0] == 0
    assert dowse("store", "status", "--store", "embedded")[0] == 2
    code, _, err = dowse("store", "gc", "--forget", "nothing")
    assert (code, "there is no repository or view" in err) == (2, True)


def test_a_wrong_password_is_not_printed_nor_in_a_trace(tree: Path, login: str) -> None:
    """Also not with --debug, in a process of its own; the address has another password than the role."""
    wrong = login.replace("s3cret", "gu3ssed").replace("dowse_cli", "no_such_database")
    ran = subprocess.run(
        [sys.executable, "-m", "dowse", "search", "token", "--debug", "--store", wrong],
        cwd=tree,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 3
    assert "gu3ssed" not in ran.stdout + ran.stderr
    assert "***" in ran.stderr


def test_a_tree_cannot_send_its_source_elsewhere(tree: Path) -> None:
    (tree / "dowse.toml").write_text('store = "postgresql://elsewhere.example/db"\n', encoding="utf-8")
    with Engine.open(tree) as engine, pytest.raises(SettingsError, match="for you to decide"):
        engine.status()


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("postgresql:///db", True),
        ("postgresql://localhost/db", True),
        ("postgresql://me:x@127.0.0.1:5433/db", True),
        ("postgresql://%2Fvar%2Frun/db", True),
        ("postgresql:///db?host=/tmp", True),
        ("postgresql://db.example.com/db", False),
        ("postgresql:///db?host=db.example.com", False),
        ("postgresql:///db?hostaddr=10.0.0.1", False),
        ("postgresql://localhost,other/db", False),
        ("postgresql:///?service=team", False),
    ],
)
def test_which_addresses_are_of_this_machine(url: str, local: bool) -> None:
    assert stores.is_local_server(url) is local


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:pa:ss@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me@host/db?password=x%26y&a=b", "postgresql://me@host/db?password=***&a=b"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("connection to postgresql://a:b@c failed", "connection to postgresql://a:***@c failed"),
    ],
)
def test_addresses_are_shown_without_passwords(url: str, shown: str) -> None:
    assert mask_passwords(url) == shown


def test_passwords_in_every_spelling() -> None:
    assert set(find_passwords("postgresql://me:a%26b@host/db")) == {"a%26b", "a&b", "a%2526b"}


@pytest.mark.parametrize(
    ("remote", "name"),
    [
        ("https://github.com/owner/name.git", "github.com/owner/name"),
        ("https://user:token@GitHub.com/owner/name", "github.com/owner/name"),
        ("git@github.com:owner/name.git", "github.com/owner/name"),
        ("ssh://git@git.example.com:2222/group/sub/name.git", "git.example.com/group/sub/name"),
    ],
)
def test_a_repository_is_called_by_its_remote(tmp_path: Path, remote: str, name: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(
        f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {remote}\n\tfetch = x\n', encoding="utf-8"
    )
    assert roots.name_shared_index(tmp_path).repository == name
    assert roots.name_shared_index(tmp_path).view.endswith(tmp_path.as_posix())


def test_without_a_remote_it_is_called_by_machine_and_folder(tmp_path: Path) -> None:
    names = roots.name_shared_index(tmp_path)
    assert names.repository == names.view
    assert names.view.endswith(tmp_path.as_posix())
    assert os.sep not in names.repository.partition(":")[0]
