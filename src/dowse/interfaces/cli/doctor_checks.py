"""Health checks of ``dowse doctor``: Python and packages, git, grammars, index integrity, lock, disk space, embedder.

Each says what it found and, if that is not good, what to do.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from dowse import roots
from dowse.code import parsing
from dowse.engine import Engine
from dowse.errors import DowseError
from dowse.interfaces.text_layout import format_count
from dowse.types.stored import IndexState

MIN_PYTHON = (3, 11)

LOW_SPACE_BYTES = 1_000_000_000
"""Bytes free below which a large tree may not fit: an index is about as large as the text it holds."""

PACKAGES = ("tantivy", "tree-sitter", "numpy", "click")


class CheckVerdict(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Check(NamedTuple):
    """One line of the report."""

    name: str
    verdict: CheckVerdict
    found: str
    advice: str = ""


def check_installation() -> Iterator[Check]:
    """Check what dowse runs on."""
    yield _check_python()
    yield from map(_check_package, PACKAGES)
    yield _check_sqlite()
    yield _check_git()


def check_tree(root: str | None, **given: Any) -> Iterator[Check]:
    """Check the tree, its settings, the grammars and the index; nothing more if the first two fail."""
    try:
        engine = Engine.open(root, **given)
    except DowseError as error:
        yield Check("root and settings", CheckVerdict.FAIL, str(error))
        return
    with engine:
        yield Check("root", CheckVerdict.OK, str(engine.root))
        yield from (Check("settings", CheckVerdict.WARN, note) for note in engine.notes)
        yield _check_grammars(engine)
        yield _check_ignore_rules(engine)
        for name, check in _SERVER_CHECKS if engine.is_on_server else _INDEX_CHECKS:
            yield _run_check(name, check, engine)


def _run_check(name: str, check: Callable[[Engine], Check], engine: Engine) -> Check:
    try:
        return check(engine)
    except DowseError as error:
        return Check(name, CheckVerdict.FAIL, str(error))


def _check_python() -> Check:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] >= MIN_PYTHON:
        return Check("python", CheckVerdict.OK, f"{found} at {sys.executable}")
    return Check("python", CheckVerdict.FAIL, found, f"use Python {'.'.join(map(str, MIN_PYTHON))} or newer")


def _check_package(name: str) -> Check:
    try:
        return Check(name, CheckVerdict.OK, version(name))
    except PackageNotFoundError:
        return Check(
            name,
            CheckVerdict.FAIL,
            "not installed",
            "install dowse again: pip install --force-reinstall dowse",
        )


def _check_sqlite() -> Check:
    return Check("sqlite", CheckVerdict.OK, sqlite3.sqlite_version)


def _check_git() -> Check:
    if found := shutil.which("git"):
        return Check("git", CheckVerdict.OK, found)
    return Check("git", CheckVerdict.OK, "not found; dowse reads repositories without it")


def _check_grammars(engine: Engine) -> Check:
    specs = sorted({one.grammar for one in engine.languages.by_name.values() if one.grammar})
    broken = []
    for language in engine.languages.by_name.values():
        own = language.name in engine.settings.languages  # only these can have a query that is wrong
        try:
            if language.grammar:
                parsing.load_grammar(language.grammar)
            for text in filter(None, (language.definitions, language.references) if own else ()):
                parsing.compile_query(language.grammar, text)
        except DowseError as error:
            broken.append(f"{language.name}: {error}")
    if broken:
        advice = "install the packages named, or remove the language from the settings"
        return Check("grammars", CheckVerdict.FAIL, "; ".join(broken), advice)
    return Check("grammars", CheckVerdict.OK, f"all {len(specs)} load")


def _check_ignore_rules(engine: Engine) -> Check:
    if found := engine.list_ignore_files():
        return Check("ignore rules", CheckVerdict.OK, ", ".join(found))
    advice = "add a .gitignore or .dowseignore if more is indexed than you want"
    return Check("ignore rules", CheckVerdict.OK, f"no ignore file in {engine.root}", advice)


def _check_index_folder(engine: Engine) -> Check:
    folder = engine.index_folder
    if note := roots.locate_index(engine.root, engine.settings).note:
        return Check("index folder", CheckVerdict.WARN, note, "or set index_dir to choose another place")
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        return Check(
            "index folder",
            CheckVerdict.FAIL,
            f"{folder} cannot be written",
            "set index_dir to another folder",
        )
    return Check("index folder", CheckVerdict.OK, f"{folder} can be written")


def _check_server(engine: Engine) -> Check:
    """Check the server that has the index: whether it answers, and what it runs."""
    status = engine.server_status()
    versions = ", ".join(f"{name} {version}" for name, version in status.extensions.items())
    found = f"{status.location}: PostgreSQL {status.version}, {versions}, {len(status.views)} checkouts"
    if status.notes:
        return Check("server", CheckVerdict.WARN, found, "; ".join(status.notes))
    return Check("server", CheckVerdict.OK, found)


def _check_space(engine: Engine) -> Check:
    folder = engine.index_folder
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    free = shutil.disk_usage(existing).free
    found = f"{free / 1e9:.1f} GB free"
    if free < LOW_SPACE_BYTES:
        return Check("disk space", CheckVerdict.WARN, found, "free some, or set index_dir to another disk")
    return Check("disk space", CheckVerdict.OK, found)


def _check_index(engine: Engine) -> Check:
    status = engine.status()
    if status.state is IndexState.MISSING:
        return Check("index", CheckVerdict.WARN, "there is none yet", "run 'dowse index', or just search")
    found = f"{status.state}, {format_count(status.files, 'file')}, generation {status.generation}"
    if status.state is IndexState.CURRENT:
        return Check("index", CheckVerdict.OK, found)
    return Check("index", CheckVerdict.WARN, found, "the next search or 'dowse index' rebuilds it")


def _check_lock(engine: Engine) -> Check:
    path = engine.lock_file()
    if path is None:
        return Check("lock", CheckVerdict.OK, "nobody has written here yet")
    try:
        with FileLock(path, timeout=0):
            return Check("lock", CheckVerdict.OK, "free")
    except Timeout:
        return Check(
            "lock", CheckVerdict.WARN, "another process is writing the index", "wait for it, or stop it"
        )
    except OSError as error:
        return Check("lock", CheckVerdict.WARN, f"cannot be tried: {error}")


def _check_parts(engine: Engine) -> Check:
    generations = engine.status().parts
    found = ", ".join(f"{name} {generation}" for name, generation in generations.items()) or "no index"
    if generations and (corrupt := engine.find_corrupt_parts()):
        advice = "run 'dowse index': it rebuilds what is corrupt"
        return Check("parts of the index", CheckVerdict.FAIL, f"corrupt: {', '.join(corrupt)}", advice)
    if len(set(generations.values())) <= 1:
        return Check("parts of the index", CheckVerdict.OK, found)
    advice = "run 'dowse index': it brings them together"
    return Check("parts of the index", CheckVerdict.WARN, f"not of one generation: {found}", advice)


def _check_embedder(engine: Engine) -> Check:
    """Check that a text becomes a vector: loads the model, or asks the service."""
    if engine.embedder is None:
        return Check("embedder", CheckVerdict.OK, "none: no semantic channel")
    found = len(engine.embedder.embed_query("dowse"))
    return Check("embedder", CheckVerdict.OK, f"{engine.settings.embedder}, {found} dimensions")


_INDEX_CHECKS: tuple[tuple[str, Callable[[Engine], Check]], ...] = (
    ("index folder", _check_index_folder),
    ("disk space", _check_space),
    ("index", _check_index),
    ("lock", _check_lock),
    ("parts of the index", _check_parts),
    ("embedder", _check_embedder),
)

_SERVER_CHECKS: tuple[tuple[str, Callable[[Engine], Check]], ...] = (
    ("server", _check_server),
    ("index", _check_index),
    ("embedder", _check_embedder),
)
