"""What tests of hostile trees share: a project with neighbours, what is on the disk, and commands in a process."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.agents.clients import make_tree

REPOSITORY = Path(__file__).parents[2]
CPU_SECONDS = 60
WALL_SECONDS = 120
"""Far more than any of these runs takes: only what hangs or runs away gets there."""

VIEW_FILES = {
    "lexical/meta.json": b"{}",
    "lexical/.managed.json": b"[]",
    "lexical/0123456789abcdef0123456789abcdef.term": b"terms",
    "vectors/segments.json": b"{}",
    "vectors/00000001-0123abcd.segment": b"rows",
    "graph": b"graph",
}
INDEX_FILES = {
    "catalogue.db": b"not a database",
    "catalogue.db-wal": b"log",
    "lock": b"",
    "writer": b"1",
    "seal": b"0" * 32,
    ".gitignore": b"*\n",
}


class Outcome(NamedTuple):
    """What a command said, and its exit code."""

    code: int
    text: str


def make_project(parent: Path, name: str = "project") -> Path:
    """Make a project, and beside it neighbours that are called like the files of an index, so that a link that is
    followed from whatever place leads to something that dowse would believe to be its own.
    """
    tree = make_tree(parent / name)
    for folder in (parent, parent / "neighbour", parent / "neighbour" / "views"):
        write_files(folder, INDEX_FILES | {f"7/{path}": data for path, data in VIEW_FILES.items()})
        write_files(folder, VIEW_FILES)
    write_files(parent / "neighbour", {"main.py": b"def main():\n    pass\n", "private": b"only mine\n"})
    return tree


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files and the folders that they are in."""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def find_data(tree: Path) -> Path:
    """Find the folder in a tree that has the files of its index."""
    (catalogue,) = (tree / ".dowse").rglob("catalogue.db")
    return catalogue.parent


def take_snapshot(folder: Path, without: Iterable[Path] = ()) -> dict[str, tuple[object, ...]]:
    """Note of all below a folder what it is: type, mode, size and content, or where a link leads."""
    left_out = set(without)
    found: dict[str, tuple[object, ...]] = {}
    pending = [folder]
    while pending:
        for path in pending.pop().iterdir():
            if path in left_out:
                continue
            status = path.lstat()
            facts: tuple[object, ...] = (stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode))
            if stat.S_ISLNK(status.st_mode):
                facts += (os.readlink(path),)
            elif stat.S_ISREG(status.st_mode):
                facts += (status.st_size, hashlib.sha256(path.read_bytes()).hexdigest())
            elif stat.S_ISDIR(status.st_mode):
                pending.append(path)
            found[str(path.relative_to(folder))] = facts
    return found


def run_commands(
    tree: Path,
    home: Path,
    commands: Sequence[Sequence[str]],
    *,
    stdin: str = "",
    memory_bytes: int = 0,
    **environment: str,
) -> list[Outcome]:
    """Run commands one after another in one process that starts in the tree; fail if it hangs or leaves another."""
    asked = json.dumps([list(map(list, commands)), stdin])
    lines = run_process("command_process", [str(memory_bytes), str(tree)], asked, home, **environment)
    outcomes = [Outcome(*json.loads(line)) for line in lines]
    assert len(outcomes) == len(commands), f"ended in {commands[len(outcomes)]}"
    return outcomes


def run_process(module: str, args: Sequence[str], stdin: str, home: Path, **environment: str) -> list[str]:
    """Run a module of these tests as a process, and return the lines that it writes; fail if it hangs, takes more than
    its time of the processor, or leaves another process.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", f"tests.security.{module}", str(CPU_SECONDS), *args],
        cwd=REPOSITORY,
        env=make_environment(home) | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    hangs = False
    try:
        said, _ = process.communicate(stdin, timeout=WALL_SECONDS)
    except subprocess.TimeoutExpired:
        hangs = True
    leaves_processes = end_group(process)
    if hangs:
        said, _ = process.communicate()
    lines = said.splitlines()
    assert not hangs, f"hangs after {lines[-1:]}"
    assert process.returncode == 0, f"ended with {process.returncode} after {lines[-1:]}"
    assert not leaves_processes
    return lines


def end_group(process: subprocess.Popen[str]) -> bool:
    """End a process and all that it has started; whether any of these was still there a while after it."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if not has_processes(process.pid):
            return False
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    return True


def has_processes(group: int) -> bool:
    """Whether a process group has processes that have not ended."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS says so of those that have ended
        return False
    states = [read_state(path, group) for path in Path("/proc").glob("[0-9]*/stat")]
    return any(states) if states else True


def read_state(path: Path, group: int) -> bool:
    """Whether a process is of a group and runs; one that has ended may wait for somebody to ask for its exit code."""
    try:
        state, _, its_group, *_ = path.read_text(encoding="utf-8").rpartition(") ")[2].split()
    except OSError:
        return False
    return int(its_group) == group and state not in "ZX"


def make_environment(home: Path) -> dict[str, str]:
    """Make an environment without settings of whoever runs the tests; what dowse keeps for a user is in ``home``."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("DOWSE_", "GIT_", "XDG_"))
    }
    own = {"HOME": home, "USERPROFILE": home, "XDG_CONFIG_HOME": home / "config", "APPDATA": home / "config"}
    own |= {"DOWSE_STATE_DIR": home / "state", "DOWSE_CACHE_DIR": home / "cache"}
    return kept | {name: str(path) for name, path in own.items()}
