"""Table of the fuzz targets; each has a file of its own with one function, ``run``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple


class Target(NamedTuple):
    """A reader to fuzz. ``share`` is its part of all runs: quick ones get many."""

    name: str
    share: int
    max_bytes: int = 2048

    def load(self) -> Callable[[bytes], None]:
        """Import what is run with every input; it raises if the reader does anything that is not allowed."""
        run: Callable[[bytes], None] = import_module(f"{__name__}.{self.name}").run
        return run


TARGETS = {
    target.name: target
    for target in (
        Target("configuration", 15),
        Target("decoding", 70),
        Target("diff", 60),
        Target("entry", 60),
        Target("evaluation", 20),
        Target("formats", 20, 2048),
        Target("git", 10),
        Target("git_config", 25),
        Target("graph", 60),
        Target("ground_truth", 20),
        Target("ignore", 40),
        Target("instructions", 70),
        Target("jsonc", 60),
        Target("language_tables", 50),
        Target("location", 80),
        Target("long_text", 60),
        Target("mcp", 10),
        Target("model", 20),
        Target("output", 50),
        Target("query", 40),
        Target("query_log", 30),
        Target("replies", 30),
        Target("report", 60),
        Target("scopes", 50),
        Target("secrets", 30, 4096),
        Target("segments", 20),
        Target("source", 10, 1024),
        Target("term_graph", 20),
        Target("tokenizer", 40),
        Target("toml", 40),
        Target("versions", 60),
        Target("watched", 60),
    )
}
