"""dowse itself, measured through the same two functions as the others.

One process, index on disk in a folder of its own, no cache of answers. In a burst of searches dowse does not
compare the tree with the disk every time; here it does, unless ``burst`` is set, as for a search after a pause.
"""

from __future__ import annotations

import shutil
import tempfile
from typing import Any, NamedTuple

from dowse import Engine, SearchOptions


class Opened(NamedTuple):
    """An engine, the folder that was made for its index ("" if it was given), and how it is asked."""

    engine: Engine
    folder: str
    burst: bool


def index(path: str, index_dir: str = "", burst: bool = False, **settings: Any) -> Opened:
    """The engine for a tree, its index up to date."""
    made = "" if index_dir else tempfile.mkdtemp(prefix="dowse-benchmark-")
    engine = Engine.open(path, index_dir=index_dir or made, workers=1, cache="off", **settings)
    engine.index()
    return Opened(engine, made, burst)


def search(opened: Opened, query: str, k: int) -> list[tuple[str, int, int, str, str]]:
    """Path, first and last line, entity and text of the best results."""
    if not opened.burst:
        opened.engine.check_soon()
    results = opened.engine.search(query, SearchOptions(limit=k)).results
    return [(hit.path, hit.start_line, hit.end_line, hit.entity, hit.text) for hit in results]


def close(opened: Opened) -> None:
    """Close the engine and remove the index if its folder was made here."""
    opened.engine.close()
    if opened.folder:
        shutil.rmtree(opened.folder, ignore_errors=True)
