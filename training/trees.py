"""Check out the repositories that the questions are about: ``python training/trees.py FOLDER``.

Each is fetched at its commit into a bare repository, and its files are written to ``FOLDER/<owner>+<name>``: without
hooks, filters, links and submodules. A file that a mirror does not have is skipped, and counted. With
``--with-history`` each tree has the commits of its mirror up to its own, as a clone would: the mirrors must stay.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

QUESTIONS = Path(__file__).parent / "questions"
SOURCE = "https://github.com/{repository}.git"


class Pin(NamedTuple):
    """A repository, the commit that its questions are about, and the split they are in."""

    repository: str
    commit: str
    split: str

    @property
    def folder_name(self) -> str:
        """The name of its tree and of its file of questions."""
        return self.repository.replace("/", "+")


def load_pins() -> list[Pin]:
    """Load the repositories that there are questions about."""
    listed = json.loads((QUESTIONS / "repositories.json").read_text(encoding="utf-8"))
    return [Pin(one["repository"], one["commit"], one["split"]) for one in listed]


def main() -> None:
    """Check out every repository that is not there yet."""
    parser = argparse.ArgumentParser(description="Check out the repositories that the questions are about.")
    parser.add_argument("folder", type=Path, help="where the trees go")
    parser.add_argument(
        "--source",
        default=SOURCE,
        help="address of a repository; {repository} and {folder_name} are filled in",
    )
    parser.add_argument("--with-history", action="store_true", help="for a source that is a folder")
    parser.add_argument("--split", choices=("train", "validation", "test"), help="only those of a split")
    arguments = parser.parse_args()
    for pin in load_pins():
        tree = arguments.folder / pin.folder_name
        if tree.exists() or arguments.split not in (None, pin.split):
            continue
        address = arguments.source.format(repository=pin.repository, folder_name=pin.folder_name)
        written, missing = check_out(address, pin.commit, tree)
        if arguments.with_history:
            link_history(Path(address), pin.commit, tree)
        print(f"{pin.repository}: {written} files" + (f", {missing} missing" if missing else ""), flush=True)


def check_out(address: str, commit: str, tree: Path) -> tuple[int, int]:
    """Write the files of a commit to a folder; return how many there are, and how many could not be had."""
    with tempfile.TemporaryDirectory() as folder:
        if Path(address).is_dir():
            git_dir = address
        else:
            git_dir = folder
            _git(git_dir, "init", "--quiet", "--bare")
            _git(git_dir, "fetch", "--quiet", "--depth=1", address, commit)
        blobs = list(_list_blobs(git_dir, commit))
        partial = tree.with_name(f"{tree.name}.partial")
        written = sum(_write_blobs(git_dir, blobs, partial))
        partial.rename(tree)
    return written, len(blobs) - written


def link_history(mirror: Path, commit: str, tree: Path) -> None:
    """Make a tree a clone of its mirror that is at a commit, with the contents of the mirror."""
    git_dir = tree / ".git"
    _git(str(git_dir), "init", "--quiet", "--bare")
    (git_dir / "objects/info/alternates").write_text(f"{mirror.resolve() / 'objects'}\n", encoding="utf-8")
    (git_dir / "HEAD").write_text(f"{commit}\n", encoding="utf-8")


def _list_blobs(git_dir: str, commit: str) -> Iterator[tuple[bytes, bytes]]:
    """List id and path of every regular file of a commit."""
    for line in _git(git_dir, "ls-tree", "-r", "-z", commit).split(b"\0"):
        if line:
            about, _, path = line.partition(b"\t")
            mode, kind, id = about.split()
            if kind == b"blob" and mode != b"120000":
                yield id, path


def _write_blobs(git_dir: str, blobs: list[tuple[bytes, bytes]], tree: Path) -> Iterator[int]:
    """Write files as git has them, and yield 1 for each."""
    tree.mkdir(parents=True)
    with subprocess.Popen(
        _command(git_dir, "cat-file", "--batch"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_environment(),
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for id, path in blobs:
            process.stdin.write(id + b"\n")
            process.stdin.flush()
            *_, size = process.stdout.readline().split()
            if size == b"missing":
                continue
            data = process.stdout.read(int(size))
            process.stdout.read(1)
            target = tree / os.fsdecode(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            yield 1
        process.stdin.close()


def _git(git_dir: str, *arguments: str) -> bytes:
    done = subprocess.run(_command(git_dir, *arguments), check=True, capture_output=True, env=_environment())
    return done.stdout


def _command(git_dir: str, *arguments: str) -> list[str]:
    return ["git", "-c", "safe.directory=*", f"--git-dir={git_dir}", *arguments]


def _environment() -> dict[str, str]:
    return {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}


if __name__ == "__main__":
    main()
