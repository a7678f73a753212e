"""Changes that are heard of: from the operating system, and from git."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse import Engine
from dowse.errors import UsageError
from dowse.indexing.watcher import watch_paths
from tests.test_cli import Shell

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="no git here")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "zoo.py").write_text("def zebra_crossing():\n    return 1\n")
    time.sleep(0.06)
    return root


def indexed(engine: Engine, name: str) -> list[str]:
    """Where the index has a definition, without looking at the disk."""
    with engine.store.snapshot() as snapshot:
        files = (snapshot.file_at(path) for path in snapshot.manifest())
        return sorted(f.path for f in files if f and any(e.name == name for e in f.parsed.entities))


def test_a_missing_package_is_said_before_anything_is_done(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(UsageError, match=r"pip install 'dowse\[watch\]'"):
        watch_paths(tree, tree / ".dowse")


def test_take_in_what_is_said_to_have_changed(tree: Path) -> None:
    with Engine.open(tree) as engine:
        engine.index()
        (tree / "pkg" / "zoo.py").write_text("def lion_taming():\n    return 1\n")
        (tree / "pkg" / "new.py").write_text("def brand_new():\n    pass\n")
        (tree / "deep" / "er").mkdir(parents=True)
        (tree / "deep" / "er" / "x.py").write_text("def deep_down():\n    pass\n")
        engine.reindex(["pkg/zoo.py"])
        assert indexed(engine, "lion_taming") == ["pkg/zoo.py"]
        engine.reindex(["pkg/new.py", "deep/er/x.py", "nothing/here"])
        assert indexed(engine, "brand_new") == ["pkg/new.py"]
        assert indexed(engine, "deep_down") == ["deep/er/x.py"]
        (tree / "pkg" / "new.py").unlink()
        shutil.rmtree(tree / "deep")
        engine.reindex(["pkg/new.py", "deep/er/x.py", "deep"])
        assert indexed(engine, "brand_new") == indexed(engine, "deep_down") == []
        (tree / ".gitignore").write_text("zoo.py\n")
        engine.reindex([".gitignore"])
        assert indexed(engine, "lion_taming") == []


def test_paths_are_heard_of(tree: Path) -> None:
    stop = threading.Event()
    heard: list[str] = []

    def listen() -> None:
        for paths in watch_paths(tree, tree / ".dowse", stop):
            heard.extend(paths)

    listening = threading.Thread(target=listen)
    listening.start()
    try:
        until = time.monotonic() + 20
        while time.monotonic() < until and "pkg/zoo.py" not in heard:
            (tree / "pkg" / "zoo.py").write_text(f"x = {time.monotonic()}\n")
            (tree / ".git").mkdir(exist_ok=True)
            (tree / ".git" / "index").write_text("x")
            time.sleep(0.3)
    finally:
        stop.set()
        listening.join(20)
    assert "pkg/zoo.py" in heard
    assert not any(path.startswith(".git/") for path in heard)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
def test_watch_command(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell(tree, tmp_path)
    monkeypatch.setenv("DOWSE_STATE_DIR", shell.environment["DOWSE_STATE_DIR"])
    process = subprocess.Popen(
        shell.command("watch"), cwd=tree, env=shell.environment, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr and "watching" in process.stderr.readline()
        lines: list[str] = []
        listening = threading.Thread(target=lambda: lines.extend(process.stderr or ()))
        listening.start()
        until = time.monotonic() + 30
        while time.monotonic() < until and not lines:
            (tree / "pkg" / "late.py").write_text(f"def late_comer():\n    return {time.monotonic()}\n")
            time.sleep(1.0)
        assert "took in pkg" in "".join(lines)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        listening.join()
        assert process.stderr
        process.stderr.close()
    with Engine.open(tree) as engine:
        assert indexed(engine, "late_comer") == ["pkg/late.py"]


# --- hooks ---------------------------------------------------------------------------------------


def git(root: Path, *args: str) -> str:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", str(root), *identity, *args], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def eventually(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.1)
    return False


@needs_git
@pytest.mark.skipif(sys.platform == "win32", reason="the shell that git brings along is not always there")
def test_hooks(tree: Path, tmp_path: Path) -> None:
    shell = Shell(tree, tmp_path)
    git(tree, "init", "-q", "-b", "main")
    own = tree / ".git" / "hooks" / "post-commit"
    own.parent.mkdir(exist_ok=True)
    own.write_text("#!/bin/bash\necho mine\n")
    installed = shell("hook", "install")
    assert installed.returncode == 0 and "post-checkout" in installed.stdout
    written = own.read_text()
    assert "echo mine" in written and os.access(own, os.X_OK)
    assert "already" in shell("hook", "install").stderr and own.read_text() == written
    git(tree, "add", ".")
    started = time.monotonic()
    git(tree, "commit", "-qm", "first")
    assert time.monotonic() - started < 15
    assert eventually(lambda: bool(list(tree.glob(".dowse/*/catalogue.db"))))
    removed = shell("hook", "uninstall")
    assert removed.returncode == 0
    assert own.read_text() == "#!/bin/bash\necho mine\n"
    assert not (tree / ".git" / "hooks" / "post-merge").exists()
    (tree / ".git" / "hooks" / "post-merge").write_text("#!/usr/bin/env python3\n")
    refused = shell("hook", "install")
    assert refused.returncode == 2 and "not a shell script" in refused.stderr


@needs_git
@pytest.mark.skipif(sys.platform == "win32", reason="the shell that git brings along is not always there")
@pytest.mark.parametrize(
    "theirs",
    [
        "#!/bin/sh\n# what we do\n\necho mine\nexit 0\n",
        "#!/bin/sh\nexec true",
        "#!/bin/sh\n# nothing yet",
        "#!/bin/sh\n# a page\f# and another\nexit 0\n",
        "#!/usr/bin/env bash\necho mine\n\n\n",
    ],
)
def test_hooks_run_whatever_is_there_and_leave_it_as_it_was(tree: Path, tmp_path: Path, theirs: str) -> None:
    shell = Shell(tree, tmp_path)
    git(tree, "init", "-q", "-b", "main")
    own = tree / ".git" / "hooks" / "post-commit"
    own.parent.mkdir(exist_ok=True)
    own.write_bytes(theirs.encode())
    own.chmod(0o755)
    assert shell("hook", "install").returncode == 0
    assert "already" in shell("hook", "install").stderr
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "first")
    assert eventually(lambda: bool(list(tree.glob(".dowse/*/catalogue.db"))))
    assert shell("hook", "uninstall").returncode == 0
    assert own.read_bytes() == theirs.encode()


@needs_git
def test_hooks_go_where_git_looks_for_them(tree: Path, tmp_path: Path) -> None:
    shell = Shell(tree / "pkg", tmp_path)
    git(tree, "init", "-q", "-b", "main")
    git(tree, "config", "core.hooksPath", "ci/hooks")
    assert shell("hook", "install", "-p", str(tree / "pkg")).returncode == 0
    assert (tree / "ci" / "hooks" / "post-commit").exists()
    assert not (tree / ".git" / "hooks" / "post-commit").exists()
    binary = tree / "ci" / "hooks" / "post-merge"
    binary.write_bytes(b"\x7fELF\xff\xfe")
    refused = shell("hook", "install", "-p", str(tree / "pkg"))
    assert refused.returncode == 2 and "not a shell script" in refused.stderr
    assert binary.read_bytes() == b"\x7fELF\xff\xfe"
    assert shell("hook", "uninstall", "-p", str(tree / "pkg")).returncode == 0
    assert [path.name for path in (tree / "ci" / "hooks").iterdir()] == ["post-merge"]
    (tree / ".git" / "config").write_text("[core\n")
    broken = shell("hook", "install", "-p", str(tree / "pkg"))
    assert broken.returncode == 2 and "git cannot answer" in broken.stderr


@needs_git
def test_revision(tree: Path) -> None:
    git(tree, "init", "-q", "-b", "main")
    with Engine.open(tree) as engine:
        assert engine.revision().commit == ""  # type: ignore[union-attr]
        git(tree, "add", ".")
        git(tree, "commit", "-qm", "first")
        for version in ("2", "4"):
            git(tree, "update-index", "--index-version", version)
            (tree / "pkg" / "other.py").write_text("y = 1\n")
            revision = engine.revision(["pkg/zoo.py", "pkg/other.py"])
            assert revision is not None
            assert (revision.commit, revision.branch) == (git(tree, "rev-parse", "HEAD"), "main")
            assert revision.dirty == ("pkg/other.py",)
        git(tree, "update-index", "--index-version", "2")
        (tree / "pkg" / "planned.py").write_text("z = 1\n")
        git(tree, "add", "-N", "pkg/planned.py")  # makes the index version 3
        found = engine.revision(["pkg/zoo.py", "zoo.py", "pkg/planned.py"])
        assert found is not None and found.dirty == ("pkg/planned.py", "zoo.py")
        os.utime(tree / "pkg" / "zoo.py")  # touched, not changed
        assert engine.revision(["pkg/zoo.py"]).dirty == ()  # type: ignore[union-attr]
        (tree / "pkg" / "zoo.py").write_text("def zebra_crossinG():\n    return 1\n")
        assert engine.revision(["pkg/zoo.py"]).dirty == ("pkg/zoo.py",)  # type: ignore[union-attr]
        git(tree, "checkout", "-q", "-b", "side")
        git(tree, "pack-refs", "--all")
        assert engine.revision().branch == "side"  # type: ignore[union-attr]
        assert engine.revision().commit == git(tree, "rev-parse", "HEAD")  # type: ignore[union-attr]
    with Engine.open(tree / "pkg") as engine:
        assert engine.revision(["zoo.py"]).dirty == ("zoo.py",)  # type: ignore[union-attr]


@needs_git
def test_revision_finds_every_file_in_whatever_order_it_is_asked(tree: Path) -> None:
    names = ["a.py", "a/a.py", "a-b.py", "a/b/a.py", "b.py", "pkg/a.py", "pkg/é.py", "z/a.py"]
    for name in names:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(f"name = {name!r}\n", encoding="utf-8")
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "first")
    untracked = ["0.py", "a/c.py", "zz.py"]
    for name in untracked:
        (tree / name).write_text("")
    with Engine.open(tree) as engine:
        for turn in range(12):
            git(tree, "update-index", "--index-version", "4")  # what was found before is forgotten
            git(tree, "update-index", "--index-version", "2")
            order = [*names, *untracked]
            random.Random(turn).shuffle(order)
            for name in order:
                assert engine.revision([name]).dirty == ((name,) if name in untracked else ())  # type: ignore[union-attr]


def test_no_git(tree: Path) -> None:
    with Engine.open(tree) as engine:
        assert engine.revision() is None


@needs_git
def test_linked_work_tree(tree: Path, tmp_path: Path) -> None:
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "first")
    git(tree, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    with Engine.open(tmp_path / "side") as engine:
        revision = engine.revision(["pkg/zoo.py"])
    assert revision is not None
    assert (revision.branch, revision.commit, revision.dirty) == ("side", git(tree, "rev-parse", "HEAD"), ())
