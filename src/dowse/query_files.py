"""Tree-sitter queries of languages in files, ``LANGUAGE.scm`` and ``LANGUAGE.references.scm``, beside the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dowse.safe_files import read_inside, read_regular

DEFAULT_FOLDER = ".dowse/queries"

MAX_QUERY_BYTES = 200_000
"""A larger file is no query that a person wrote."""

MAX_QUERY_FILES = 200

_ENDINGS = {".references.scm": "references", ".scm": "definitions"}
"""What a file holds, by its name; the longer ending first."""


class QueryFiles(NamedTuple):
    """The queries of a folder by language, as a table ``[languages]`` would have them; notes on what is not used."""

    folder: str
    tables: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...]


def read_query_files(root: Path, folder: str) -> QueryFiles:
    """Read the query files in a folder, relative to the root; only a folder that was chosen may be outside of it."""
    named = folder or DEFAULT_FOLDER
    place, home = (root / Path(named).expanduser()).resolve(), root.resolve()
    is_inside = place.is_relative_to(home)
    try:
        names = sorted(entry.name for entry in os.scandir(place) if entry.name.endswith(".scm"))
    except OSError as error:
        return QueryFiles(named, {}, (f"query_dir {named!r} cannot be read: {error}",) if folder else ())
    if not (is_inside or folder):
        return QueryFiles(named, {}, (f"{named} is not used: a link that leads out of the tree",))
    tables: dict[str, dict[str, str]] = {}
    notes = (
        [f"{named}: only the first {MAX_QUERY_FILES} queries count"] if len(names) > MAX_QUERY_FILES else []
    )
    for name in names[:MAX_QUERY_FILES]:
        ending = next(end for end in _ENDINGS if name.endswith(end))
        try:
            text = _read(home, place / name, is_inside=is_inside).decode("utf-8")
        except (OSError, ValueError) as error:
            notes.append(f"{named}/{name} is not used: {error}")
            continue
        tables.setdefault(name.removesuffix(ending), {})[_ENDINGS[ending]] = text
    return QueryFiles(named, tables, tuple(notes))


def _read(root: Path, path: Path, *, is_inside: bool) -> bytes:
    """Read a file; a link in a tree may not lead out of it."""
    if is_inside:
        return read_inside(root, str(path.relative_to(root)), MAX_QUERY_BYTES)
    return read_regular(path.resolve(), MAX_QUERY_BYTES)


def add_queries(tables: Mapping[str, Any], added: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Append queries to the tables of languages; where several patterns match, what was there before counts first."""
    merged = dict(tables)
    for name, queries in added.items():
        table = dict(merged.get(name, {}))
        for part, text in queries.items():
            table[part] = f"{table[part]}\n{text}" if part in table else text
        merged[name] = table
    return merged
