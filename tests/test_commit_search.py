"""Search over commits, and who wrote what: on a small repository with a known history."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine
from dowse.errors import UsageError
from dowse.interfaces import render_history
from dowse.interfaces.theme import plain
from dowse.types.commit_values import HistoryOptions
from tests.test_cli import Shell


def commit(tree: Path, message: str, author: str = "Ada", day: str = "2026-01-01") -> None:
    about = {f"GIT_{who}_{what}": author for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    about |= {f"GIT_{who}_DATE": f"{day}T12:00:00Z" for who in ("AUTHOR", "COMMITTER")}
    for command in (["add", "-A"], ["commit", "-qm", message]):
        subprocess.run(["git", *command], cwd=tree, env=os.environ | about, check=True)


CLIENT = "class Client:\n    def send(self, request):\n        return self.transport.handle(request)\n"
RETRYING = (
    "class Client:\n    def send(self, request):\n        for attempt in range(3):\n"
    "            try:\n                return self.transport.handle(request)\n"
    "            except TimeoutError:\n                continue\n"
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("history") / "tree"
    tree.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    (tree / "client.py").write_text(CLIENT)
    commit(tree, "Add a client")
    (tree / "limits.py").write_text("LIMIT = 10\n\n\ndef throttle(calls):\n    return calls[:LIMIT]\n")
    commit(tree, "Slow down those who ask too often", "Grace", "2026-02-01")
    (tree / "client.py").write_text(RETRYING)
    commit(tree, "Survive a flaky network\n\nSome proxies drop the first connection.", "Ada", "2026-03-01")
    (tree / "package").mkdir()
    (tree / "limits.py").rename(tree / "package/limits.py")
    commit(tree, "Move limits into the package", "Ada", "2026-04-01")
    return tree


@pytest.fixture(scope="module")
def engine(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tree, index_dir=str(tmp_path_factory.mktemp("index"))) as engine:
        engine.index()
        yield engine


def find_subjects(engine: Engine, query: str, **options: object) -> list[str]:
    wanted = HistoryOptions(**options)  # type: ignore[arg-type]
    return [found.subject for found in engine.history.search(query, wanted).commits]


@pytest.mark.parametrize(
    ("query", "subject"),
    [
        ("why was the flaky network handled", "Survive a flaky network"),
        ("retry after TimeoutError", "Survive a flaky network"),  # which only the diff has
        ("throttle calls", "Slow down those who ask too often"),
        ("when was the client added", "Add a client"),
    ],
)
def test_commits_are_found_by_message_and_by_diff(engine: Engine, query: str, subject: str) -> None:
    assert find_subjects(engine, query)[0] == subject


def test_the_hunks_that_match_are_shown(engine: Engine) -> None:
    (found,) = engine.history.search("TimeoutError", HistoryOptions(limit=1)).commits
    (hunk,) = found.hunks
    assert (hunk.path, found.author, found.date) == ("client.py", "Ada", "2026-03-01")
    text = render_history.history_text(engine.history.search("TimeoutError"), plain)
    assert "+            except TimeoutError:" in text
    assert "Some proxies drop the first connection." in text


def test_filters_leave_commits_out(engine: Engine) -> None:
    assert find_subjects(engine, "", author="grace") == ["Slow down those who ask too often"]
    assert find_subjects(engine, "", paths=("client.py",)) == ["Survive a flaky network", "Add a client"]
    assert find_subjects(engine, "", since="2026-02-15")[0] == "Move limits into the package"
    assert find_subjects(engine, "client", span="HEAD~2..HEAD~1") == ["Survive a flaky network"]
    assert engine.history.search("client", HistoryOptions(author="nobody")).notes
    for query, options in (("", HistoryOptions()), ("x", HistoryOptions(span="--output=/x"))):
        with pytest.raises(UsageError):
            engine.history.search(query, options)


def test_blame_is_by_definition_and_follows_moves(engine: Engine) -> None:
    (throttle,) = engine.history.blame("throttle")
    assert (throttle.path, throttle.start_line) == ("package/limits.py", 4)
    (wrote,) = throttle.commits
    assert (wrote.author, wrote.subject, wrote.path) == (
        "Grace",
        "Slow down those who ask too often",
        "limits.py",
    )
    send = next(each for each in engine.history.blame("client.py") if each.entity.endswith("send"))
    assert [each.subject for each in send.commits] == ["Survive a flaky network", "Add a client"]
    assert "(was in limits.py)" in render_history.blame_text([throttle], plain)


def test_without_git_there_is_no_history(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def a(): pass\n")
    with Engine.open(tmp_path) as engine, pytest.raises(UsageError, match="no history"):
        engine.history.search("a")


def test_commands(tree: Path, tmp_path: Path) -> None:
    shell = Shell(tree, tmp_path)
    done = shell("history", "flaky", "network", "-n", "1", "--index-dir", str(tmp_path / "index"))
    assert done.returncode == 0 and "Survive a flaky network" in done.stdout
    assert done.stderr.endswith("1 commit of 4\n")
    found = shell.json("history", "--author", "Grace", "--index-dir", str(tmp_path / "index"))
    assert [each["subject"] for each in found["commits"]] == ["Slow down those who ask too often"]
    done = shell("blame", "throttle", "--index-dir", str(tmp_path / "index"))
    assert "Slow down those who ask too often" in done.stdout
    found = shell.json("blame", "client.py:2", "--index-dir", str(tmp_path / "index"))
    assert found["entities"][0]["commits"][0]["author"] == "Ada"


def test_secrets_in_diffs_are_masked(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "upload.py").write_text(
        'AWS_KEY = "AKIA2E7QHVX3KZL5WRNB"\n\n\ndef upload(file):\n    return file\n'
    )
    commit(tmp_path, "Upload files to the bucket")
    with Engine.open(tmp_path, embedder="none") as engine:
        (shown,) = engine.history.search("upload files").commits
    text = "\n".join(line for hunk in shown.hunks for line in hunk.lines)
    assert "def upload" in text and "AKIA2E7QHVX3KZL5WRNB" not in text
    assert text.count("\n") == 4
