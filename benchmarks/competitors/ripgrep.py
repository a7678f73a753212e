"""ripgrep adapter: any word of the query matches, and files are ordered by their number of matching lines.

A grep has no ranking. Files come in the order of their matching lines, each as a whole.
BENCH_RG names the program.
"""

from __future__ import annotations

import os
import re
import subprocess

PROGRAM = os.environ.get("BENCH_RG", "rg")
MIN_WORD_LENGTH = 3
"""Letters of the shortest word that is searched for."""


def index(path: str) -> str:
    """Return the path: there is nothing to prepare."""
    return path


def search(index: str, query: str, k: int) -> list[tuple[str, None, None]]:
    """List the files with the most lines that contain a word of the query."""
    words = {word for word in re.findall(r"\w+", query) if len(word) >= MIN_WORD_LENGTH}
    if not words:
        return []
    pattern = "|".join(sorted(map(re.escape, words)))
    command = [PROGRAM, "--count", "--ignore-case", "--no-messages", "--null", "-e", pattern, "."]
    ran = subprocess.run(command, cwd=index, capture_output=True, check=False)
    lines = ran.stdout.decode("utf-8", "replace").splitlines()
    counts = [(int(count), name) for name, _, count in (line.partition("\0") for line in lines)]
    ranked = sorted(counts, key=lambda item: (-item[0], item[1]))[:k]
    return [(name.removeprefix("./").replace("\\", "/"), None, None) for _, name in ranked]
