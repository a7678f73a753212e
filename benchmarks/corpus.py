"""Large source trees made of real ones.

The 31 repositories and those of SWE-QA are copied one after the other until there is enough, then again
from the start, each round into a folder of its own. In every file of a later round one line is changed (the
first identifier on it gets a suffix), so that no two contents are equal and nothing that is known by its
content can be used again. Such a corpus lacks the vocabulary of a real one of its size: posting lists grow as
they would, the number of distinct terms does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

from benchmarks import data
from benchmarks.sets import repositories, swe_qa

BYTES_PER_CHUNK = 1030
"""Source bytes for each chunk that comes of them, measured on these trees; a little high, to have enough."""

MAX_FILE_BYTES = 1_000_000
"""Larger files are not indexed by default, so they are not copied."""

SNIFF_BYTES = 8_000
"""Bytes at the beginning of a file that are searched for a NUL, the mark of a binary one."""

_IDENTIFIER = re.compile(rb"\b(?:[A-Za-z]+_[A-Za-z_]+|[a-z]+[A-Z][A-Za-z]+|[A-Za-z]{9,})\b")
"""A name of more than one word, or a long word: hardly ever a keyword, so the file still parses."""


class Corpus(NamedTuple):
    """A generated tree: its root, its size, and a pattern that matches one of the copied repositories."""

    root: Path
    files: int
    size: int
    part: str


def build(root: Path, chunks: int) -> Corpus:
    """Write a tree of about so many chunks."""
    wanted, files, size = chunks * BYTES_PER_CHUNK, 0, 0
    sources = list(_list_sources())
    copies = (
        written
        for number in count()
        for name, source in sources
        for written in _copy_files(source, root / f"round-{number}" / name, number)
    )
    while size < wanted:
        files, size = files + 1, size + next(copies)
    return Corpus(root, files, size, f"round-0/{sources[0][0]}/**")


def _list_sources() -> Iterator[tuple[str, Path]]:
    trees = data.find_folder("BENCH_TREES")
    for tree in repositories.trees():
        yield tree.name, trees / tree.name
    for tree in swe_qa.trees():
        yield f"qa-{tree.name}", tree.path


def _copy_files(source: Path, target: Path, number: int) -> Iterator[int]:
    """Copy the text files of a tree; yield the size of each."""
    for path in sorted(source.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            continue
        content = path.read_bytes()
        if b"\0" in content[:SNIFF_BYTES]:
            continue
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(vary_line(content, number))
        yield len(content)


def vary_line(content: bytes, number: int) -> bytes:
    """Change one line of the content, differently for each number; number 0 changes nothing."""
    if not number:
        return content
    suffix = f"Round{number}".encode()
    changed, times = _IDENTIFIER.subn(lambda match: match[0] + suffix, content, count=1)
    return changed if times else content + b"\n" + suffix + b"\n"
