"""Ignore patterns mean what git takes them to mean; git itself is the witness."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from dowse.indexing.ignore import PatternList, parse_file, parse_lines

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is the witness")

ATOMS = [
    "a", "b", "ab", ".", "*", "?", "**", "/", "/", "[ab]", "[!a]", "[^b]", "[a-c]", "\\a", "\\*", "!", "#", "\\#",
    "\\!", " ", "\\ ", "[[:alpha:]]", "[[:nope:]]", "[]a]", "[a", "\\", "***", "[b-a]", "c", "-", "[a-]", "[\\]]",
    "x.py", "*.py", "\t", "[a/b]", "+", "$", "^", "(", "|",
]  # fmt: skip
NAMES = [
    "a",
    "b",
    "c",
    "ab",
    "ba",
    ".a",
    "a.b",
    "x.py",
    "ax.py",
    "#a",
    "!a",
    "a ",
    "-",
    "[a",
    "]",
    "abc",
    "a+",
    "($)",
]


def random_paths(rng: random.Random) -> tuple[list[str], set[str]]:
    """Files that do not contradict each other, and the folders they are in."""
    drawn = {"/".join(rng.choices(NAMES, k=rng.randint(1, 5))) for _ in range(50)}
    folders = {path[:i] for path in drawn for i, char in enumerate(path) if char == "/"}
    return sorted(drawn - folders), folders


def deciding_line(patterns: PatternList, path: str, folders: set[str]) -> int:
    """The line that decides about a path, 0 for none; in a folder that is ignored, the line that ignores it."""
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        here = "/".join(parts[:depth])
        found = patterns.last_match(here, parts[depth - 1], is_folder=here in folders)
        if depth == len(parts) or (found and not found.negated):
            return found.line if found else 0
    raise AssertionError


def git_lines(repository: Path, paths: list[str]) -> dict[str, int]:
    """What ``git check-ignore`` names as the deciding line."""
    asked = b"".join(path.encode() + b"\0" for path in paths)
    command = ["git", "check-ignore", "-v", "-n", "-z", "--no-index", "--stdin"]
    answer = subprocess.run(command, cwd=repository, input=asked, capture_output=True, check=False).stdout
    fields = answer.decode().split("\0")
    return {fields[i + 3]: int(fields[i + 1] or 0) for i in range(0, len(fields) - 3, 4)}


@needs_git
@pytest.mark.skipif(os.name == "nt", reason="the names are not allowed on Windows")
@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_decide_as_in_git(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    files, folders = random_paths(rng)
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    for _ in range(60):
        lines = ["".join(rng.choices(ATOMS, k=rng.randint(1, 7))) for _ in range(rng.choice([1, 1, 4, 8]))]
        content = "\n".join(lines).encode()
        (tmp_path / ".gitignore").write_bytes(content)
        patterns = parse_file(".gitignore", content)
        expected = git_lines(tmp_path, [*sorted(folders), *files])
        actual = {path: deciding_line(patterns, path, folders) for path in expected}
        assert actual == expected, lines


@pytest.mark.parametrize(
    ("pattern", "path", "is_folder", "matches"),
    [
        ("*.log", "deep/down/x.log", False, True),
        ("*.log", "x.logs", False, False),
        ("/build", "build", True, True),
        ("/build", "src/build", True, False),
        ("build/", "src/build", True, True),
        ("build/", "src/build", False, False),
        ("a/*", "a/b", False, True),
        ("a/*", "a", True, False),
        ("a/*", "a/b/c", False, False),
        ("a/**/c", "a/c", False, True),
        ("a/**/c", "a/x/y/c", False, True),
        ("a/**", "a", True, False),
        ("**/a", "x/y/a", False, True),
        ("[[:upper:]]x", "Ax", False, True),
        ("[[:upper:]]x", "ax", False, False),
        ("\\#x", "#x", False, True),
        ("x\\ ", "x ", False, True),
        ("x  ", "x", False, True),
        ("?", "é", False, True),
        ("a\nb", "a\nb", False, False),
        ("*.txt", "two\nlines.txt", False, True),
    ],
)
def test_patterns(pattern: str, path: str, is_folder: bool, matches: bool) -> None:
    patterns = parse_file("x", pattern.encode())
    assert bool(patterns.last_match(path, path.split("/")[-1], is_folder=is_folder)) is matches


def test_lines_are_numbered_as_in_the_file() -> None:
    content = b"\xef\xbb\xbf# comment\r\n\r\n*.log\r\n!keep.log\r\n"
    patterns = parse_file("src/.gitignore", content)
    ignored = patterns.last_match("x.log", "x.log", is_folder=False)
    kept = patterns.last_match("keep.log", "keep.log", is_folder=False)
    assert ignored is not None
    assert kept is not None
    assert patterns.describe(ignored) == "src/.gitignore:3 *.log"
    assert patterns.describe(kept) == "src/.gitignore:4 !keep.log"
    assert kept.negated


@pytest.mark.parametrize("line", ["", "   ", "# x", "/", "!", "//", "x\\", "[a", "[[:nope:]]"])
def test_lines_that_match_nothing(line: str) -> None:
    assert not parse_lines("x", [line]).last_match("x", "x", is_folder=True)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "b", "a" * 250),
        ("?*" * 60 + "b", "a" * 255),
        ("**/a/" * 60 + "b", "/".join("a" * 2000)),
        ("a/**/" * 30 + "*a" * 20 + "/b", "a/" * 1500 + "a" * 200),
        ("**/*a*a*/" * 20 + "b", "aaaa/" * 500 + "c"),
    ],
)
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    started = time.process_time()
    assert not parse_lines("x", [pattern]).last_match(path, path.split("/")[-1], is_folder=False)
    assert time.process_time() - started < 1
