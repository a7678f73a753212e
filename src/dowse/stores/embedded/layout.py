"""On-disk layout of an embedded index: the names of its files and folders, their checksums, and who deletes them.

Nothing else deletes files of an index. A file is deleted because its name and place are those of a file that dowse
writes, never because it lies in some folder, and never through a link.

    catalogue.db                 the catalogue (SQLite), with its log beside it
    lock, writer                 who writes
    views/1/lexical/             the lexical index of a view (tantivy)
    views/1/vectors/             its vectors
    views/1/graph                what is derived from it and may be lost

What has another name stays where it is.
"""

from __future__ import annotations

import os
import re
import stat
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from dowse import index_folder
from dowse.errors import IndexForeign, IndexUnwritable
from dowse.frozen import frozen
from dowse.lazy_regex import compile_lazily

CATALOGUE = "catalogue.db"
LOCK_FILE = "lock"
HOLDER = "writer"
VIEWS = "views"
LEXICAL = "lexical"
VECTORS = "vectors"

READ_BYTES = 1 << 20
"""Bytes read at a time for a checksum."""

REMOVE_ATTEMPTS = 20
REMOVE_SECONDS = 0.05
"""The lexical engine watches its folder from a thread of its own, which may put a lock file there at any moment."""


NO_FOLDERS: Mapping[str, Layout] = {}


@frozen
class Layout:
    """Names of the files and of the folders in a folder, as patterns."""

    files: re.Pattern[str]
    folders: Mapping[str, Layout] = NO_FOLDERS

    def inside(self, name: str) -> Layout | None:
        """Return the layout of a folder in this one, if it is one of ours."""
        return next((inner for pattern, inner in self.folders.items() if re.fullmatch(pattern, name)), None)


LEXICAL_LAYOUT = Layout(
    compile_lazily(r"meta\.json|\.managed\.json|\.tantivy-\w+\.lock|\.tmp\w+|[0-9a-f]{32}(\.\d+)?\.\w+")
)
VECTOR_LAYOUT = Layout(compile_lazily(r"segments\.json(\.new)?|\d{8,}-[0-9a-f]{8}\.segment"))
VIEW_LAYOUT = Layout(compile_lazily(r"graph(\.\d+){0,2}"), {LEXICAL: LEXICAL_LAYOUT, VECTORS: VECTOR_LAYOUT})
VIEWS_LAYOUT = Layout(compile_lazily("(?!)"), {r"\d+": VIEW_LAYOUT})
INDEX_LAYOUT = Layout(
    compile_lazily(
        rf"{re.escape(CATALOGUE)}(-wal|-shm|-journal)?|{LOCK_FILE}|{HOLDER}|"
        rf"{re.escape(index_folder.IGNORE_FILE)}|{index_folder.SEAL_FILE}"
    ),
    {VIEWS: VIEWS_LAYOUT},
)


def own_files(folder: Path, layout: Layout = INDEX_LAYOUT) -> Iterator[Path]:
    """List the files in a folder that are called as dowse calls its files there, those deepest inside first."""
    for entry in sorted(_entries(folder), key=lambda entry: entry.name):
        inner = layout.inside(entry.name)
        if inner is not None and _is_folder(entry):
            yield from own_files(Path(entry.path), inner)
        elif layout.files.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def view_folders(folder: Path) -> list[Path]:
    """List the folders of views in the folder of all views."""
    return [
        Path(entry.path)
        for entry in _entries(folder)
        if VIEWS_LAYOUT.inside(entry.name) and _is_folder(entry)
    ]


def remove(folder: Path, layout: Layout = INDEX_LAYOUT) -> None:
    """Delete our files in a folder and the folders that are then empty; raise if one of them cannot be deleted."""
    if not os.path.lexists(folder):
        return
    for _ in range(REMOVE_ATTEMPTS):
        _remove_once(folder, layout)
        if next(own_files(folder, layout), None) is None:
            return
        time.sleep(REMOVE_SECONDS)
    raise IndexUnwritable(f"{folder} cannot be removed: is a file in it open elsewhere, or write-protected?")


def _remove_once(folder: Path, layout: Layout) -> None:
    """Delete what can be deleted now."""
    for entry in list(_entries(folder)):
        inner = layout.inside(entry.name)
        try:
            if inner is not None and _is_folder(entry):
                _remove_once(Path(entry.path), inner)
            elif layout.files.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                os.unlink(entry.path)
        except OSError:
            continue
    try:
        if stat.S_ISDIR(os.lstat(folder).st_mode):
            os.rmdir(folder)
    except OSError:  # something else is in it
        return


def check_plain(folder: Path, *, any_owner: bool = False) -> None:
    """Raise ``IndexForeign`` unless all below a folder is folders and regular files of this user: no link, no pipe."""
    pending = [folder]
    while pending:
        for entry in _entries(pending.pop()):
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # a writer has just deleted it
                continue
            is_folder = stat.S_ISDIR(status.st_mode)
            if not (is_folder or stat.S_ISREG(status.st_mode)) or not index_folder.is_own(
                status, any_owner=any_owner
            ):
                raise IndexForeign(
                    f"{entry.path} is a link, a pipe or somebody else's file, which dowse never puts there: remove it"
                )
            if is_folder:
                pending.append(Path(entry.path))


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """List a folder; nothing of one that is gone, or that is a link."""
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return
        with os.scandir(folder) as entries:
            yield from list(entries)
    except OSError:
        return


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and not entry.is_symlink()


def checksum(path: Path, size: int) -> int:
    """Return the CRC-32 of the first bytes of a file. It is read, not mapped: a bad block is an error, not a signal."""
    found = 0
    with open(path, "rb") as file:
        while size > 0 and (piece := file.read(min(size, READ_BYTES))):
            found = zlib.crc32(piece, found)
            size -= len(piece)
    return found
