"""Find the public query sets and source trees, which are not part of the project.

The paths come from environment variables (see README.md); scorers are loaded from there and never copied.
"""

from __future__ import annotations

import importlib.util
import io
import os
import sys
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import platformdirs

FOLDERS = {
    "BENCH_HOME": "the folder with score.py, loc.py, repos.json, annotations/ and the *.jsonl query files",
    "BENCH_TREES": "the folder with the 31 checked out repositories",
    "BENCH_MIRRORS": "the folder with git snapshots, <owner>+<name>/repo each",
    "BENCH_SDISTS": "the folder with the unpacked source distributions requests-2.32.3 and flask-3.0.3",
    "BENCH_MESSAGES": "a folder with about 30 source trees that no other benchmark uses",
    "BENCH_BIG_TREE": "a source tree of about 7,000 files (a checkout of django)",
}
"""Variables that must name a folder, and what that folder holds."""

ALTERNATE_MIRRORS = {"task_026": "fastapi+typer", "task_037": "Kludex+starlette"}
"""Tasks whose commit is only in the snapshot of the repository under its present name."""


class MissingDataError(Exception):
    """Something that a benchmark needs is not there; the message says what to set."""


def find_folder(variable: str) -> Path:
    """Return the folder that a variable names."""
    value = os.environ.get(variable)
    if not value:
        raise MissingDataError(f"set {variable} to {FOLDERS[variable]}: see benchmarks/README.md")
    path = Path(value)
    if not path.is_dir():
        raise MissingDataError(f"{variable} is not a folder: it should be {FOLDERS[variable]}")
    return path


def cache_folder() -> Path:
    """Return the cache for exports and environments: BENCH_CACHE, else the user's cache folder."""
    path = Path(os.environ.get("BENCH_CACHE") or platformdirs.user_cache_dir("dowse-benchmarks"))
    path.mkdir(parents=True, exist_ok=True)
    return path


@cache
def load_scorer() -> Any:
    """Load the module score.py."""
    find_folder("BENCH_TREES")
    return _load("score.py", ())


@cache
def load_localizer() -> Any:
    """Load the module loc.py, which loads queries about git commits and exports these."""
    find_folder("BENCH_MIRRORS")
    return _load("loc.py", ("--help",))


def _load(name: str, arguments: tuple[str, ...]) -> ModuleType:
    """Load a module of BENCH_HOME. loc.py parses the command line on import: ``--help`` ends that, quietly."""
    path = find_folder("BENCH_HOME") / name
    spec = importlib.util.spec_from_file_location(f"bench_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise MissingDataError(f"{name} is not in BENCH_HOME")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    before, sys.argv = sys.argv, [name, *arguments]
    try:
        with suppress(SystemExit), redirect_stdout(io.StringIO()):
            spec.loader.exec_module(module)
    finally:
        sys.argv = before
    return module


def export_commit(mirror: str, commit: str) -> Path:
    """Export the files of a commit into the cache, once."""
    target = cache_folder() / "exports" / f"{mirror}-{commit[:12]}"
    if target.is_dir():
        return target
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    partial.mkdir(parents=True)
    if not load_localizer().export(mirror, commit, str(partial)):
        partial.rmdir()
        raise MissingDataError(f"commit {commit} is not in the snapshot {mirror} of BENCH_MIRRORS")
    partial.rename(target)
    return target


def load_bench_queries() -> list[str]:
    """List all queries about the 31 repositories, without repeats."""
    return list(dict.fromkeys(task.query for task in load_scorer().load_bench().tasks))
