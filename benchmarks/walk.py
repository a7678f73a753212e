"""Trace one query and one file through the program: how many functions, files and frames a reader meets.

Functions of dowse are counted by their code, without comprehensions and generator expressions; a frame is a call of one
of them within another. The query is a warm one of the command line, over the tree of this repository;
the file is one that is indexed for the first time, in the process itself.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import dowse
from benchmarks.bench_types import Figure, Outcome, below

PACKAGE = str(Path(dowse.__file__).parent)
QUERY = "where are changed files noticed"
SAMPLE = Path(PACKAGE) / "search" / "pipeline.py"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(_: argparse.Namespace) -> Iterator[Outcome]:
    """Trace both, and count."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(
            PACKAGE, tree / "dowse", ignore=shutil.ignore_patterns("__pycache__", "*.npy", "*.bin")
        )
        query = _trace_query(tree)
        file = _trace_file(Path(folder) / "one")
    figures = [
        Figure("query: functions", len(query.functions), "", below(250)),
        Figure("query: files", len(query.files), "", below(45)),
        Figure("query: frames", query.depth, "", below(18)),
        Figure("file: functions", len(file.functions), "", below(250)),
        Figure("file: files", len(file.files), "", below(40)),
        *_list_parts("query", query),
        *_list_parts("file", file),
    ]
    yield Outcome(
        "walk",
        "What a reader meets who follows one query and one file",
        figures,
        notes=(f"a warm command line query, {QUERY!r}; a file of {len(SAMPLE.read_bytes()):,} bytes",),
        details={
            "query": sorted(map(_describe, query.functions)),
            "file": sorted(map(_describe, file.functions)),
            "deepest": query.deepest,
        },
    )


PARTS: Mapping[str, tuple[str, ...]] = {
    "command line and rendering": ("interfaces",),
    "settings, roots and what opens an index": (
        "settings.py", "settings_files.py", "settings_schema.py", "roots.py", "index_folder.py", "safe_files.py",
        "git_config.py", "tree_context.py", "managed_index.py", "engine.py",
    ),
    "freshness and discovery": ("indexing/freshness.py", "indexing/stamps.py", "indexing/tree_diff.py",
        "indexing/discover.py", "indexing/default_excludes.py", "indexing/ignore.py", "indexing/ignore_files.py",
        "indexing/git_index.py"),
    "reading the query": ("search/query",),
    "channels": ("search/channels",),
    "ranking": ("search/ranking", "code/test_pairing.py"),
    "stages, cache, what is shown": ("search",),
    "the rest of indexing": ("indexing",),
    "source text: syntax, chunks, tokens": ("code",),
    "embedding": ("embedders",),
    "stores": ("stores",),
}  # fmt: skip
"""The parts of the program by what they are for; a file belongs to the first that names it or its folder."""

OTHER_PART = "values, codec, caches"


def _list_parts(walked: str, tracer: Tracer) -> Iterator[Figure]:
    functions = Counter(_find_part(code.co_filename) for code in tracer.functions)
    files = Counter(map(_find_part, tracer.files))
    for part in (*PARTS, OTHER_PART):
        if functions[part]:
            yield Figure(
                f"{walked}: functions of {part}",
                functions[part],
                beside=f"in {files[part]} file{'s' if files[part] > 1 else ''}",
            )


def _find_part(file: str) -> str:
    path = Path(file).relative_to(PACKAGE).as_posix()
    return next((part for part, prefixes in PARTS.items() if path.startswith(prefixes)), OTHER_PART)


class Tracer:
    """Collects the functions of dowse that are called, and how deep they nest."""

    def __init__(self) -> None:
        self.functions: set[CodeType] = set()
        self.depth = 0
        self.deepest: list[str] = []
        self._stack: list[CodeType] = []

    @property
    def files(self) -> set[str]:
        """The files of these functions."""
        return {code.co_filename for code in self.functions}

    def trace(self, work: Callable[[], Any]) -> None:
        """Do something, and collect what it calls."""
        sys.setprofile(self._note)
        try:
            work()
        finally:
            sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE) or code.co_name.startswith("<"):
            return
        if event == "call":
            self.functions.add(code)
            self._stack.append(code)
            if len(self._stack) > self.depth:
                self.depth = len(self._stack)
                self.deepest = [_describe(each) for each in self._stack]
        elif event == "return" and self._stack and self._stack[-1] is code:
            self._stack.pop()


def _trace_query(tree: Path) -> Tracer:
    from dowse.interfaces.cli.run_command import run as run_command

    arguments = [
        "search",
        QUERY,
        "--root",
        str(tree),
        "--index-dir",
        str(tree.parent / "index"),
        "--limit",
        "3",
    ]
    tracer = Tracer()
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(2):
            run_command(arguments)
        tracer.trace(lambda: run_command(arguments))
    return tracer


def _trace_file(tree: Path) -> Tracer:
    from dowse.engine import Engine

    tree.mkdir()
    (tree / "first.py").write_text("FIRST = 1\n", encoding="utf-8")
    tracer = Tracer()
    with Engine.open(tree, index_dir=str(tree.parent / "one_index")) as engine:
        engine.index()
        shutil.copy(SAMPLE, tree / "sample.py")
        tracer.trace(engine.index)
    return tracer


def _describe(code: CodeType) -> str:
    path = Path(code.co_filename).relative_to(PACKAGE).as_posix()
    return f"{path}:{code.co_firstlineno} {code.co_qualname}"
