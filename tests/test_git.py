"""Queries to git: answers, refusals, and nothing run that a repository configures."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dowse.errors import UsageError
from dowse.evaluation import commit_history as evaluation
from dowse.graph import git_diff
from dowse.services import git

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="no git here")


def told(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits of a file, and a third version on disk."""
    told(tmp_path, "init", "-q")
    for number in (1, 2):
        (tmp_path / "a.txt").write_text(f"line {number}\n", encoding="utf-8")
        told(tmp_path, "add", ".")
        told(tmp_path, "commit", "-q", "-m", f"change {number}")
    (tmp_path / "a.txt").write_text("line 3\n", encoding="utf-8")
    (tmp_path / "new größe.txt").write_text("new\n", encoding="utf-8")
    return tmp_path


def test_answers(repository: Path) -> None:
    assert git_diff.parse_diff(git_diff.read_diff(repository, "HEAD")) == ({"a.txt": [(1, 1)]}, [])
    assert git_diff.list_untracked(repository) == ["new größe.txt"]
    newest = evaluation.list_newest_commits(repository, 1)[0]
    assert (newest.subject, newest.files) == ("change 2", (("a.txt", 1, 1),))
    assert evaluation.read_file_at(repository, newest.parent, "a.txt") == b"line 1\n"


def test_a_refusal_says_why_and_what_to_do(repository: Path) -> None:
    with pytest.raises(UsageError, match=r"git cannot answer here \(.*nowhere.*\): .*--diff"):
        git_diff.read_diff(repository, "nowhere")


@pytest.mark.skipif(sys.platform == "win32", reason="the traps are shell scripts")
def test_nothing_runs_that_the_repository_configures(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "sprung"
    trap = tmp_path / ".git" / "trap"
    trap.write_text(f"#!/bin/sh\necho \"$@\" >> '{mark}'\ncat\n", encoding="utf-8")
    trap.chmod(0o755)
    hooks = tmp_path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    shutil.copy(trap, hooks / "post-index-change")
    traps = {
        "core.fsmonitor": trap, "core.pager": trap, "pager.diff": trap, "pager.log": trap, "diff.external": trap,
        "diff.trapped.textconv": trap, "diff.trapped.command": trap, "filter.trapped.clean": trap,
        "filter.trapped.smudge": trap, "filter.trapped.required": "true", "gpg.program": trap,
        "log.showSignature": "true", "core.sshCommand": trap, "core.askPass": trap,
    }  # fmt: skip
    for key, value in traps.items():
        told(repository, "config", key, str(value))
    (repository / ".gitattributes").write_text("*.txt diff=trapped filter=trapped\n", encoding="utf-8")
    assert "line 3" in git_diff.read_diff(repository, "HEAD")
    git_diff.list_untracked(repository)
    git_diff.find_companions(repository, ["a.txt"])
    newest = evaluation.list_newest_commits(repository, 2)[0]
    evaluation.list_changed_lines(repository, newest, "a.txt")
    evaluation.export(repository, newest.sha, tmp_path / "exported", {})
    assert not mark.exists(), mark.read_text(encoding="utf-8")


def test_without_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(UsageError, match="git is not installed: do without"):
        git.run_text(repository, "status", otherwise="do without")
