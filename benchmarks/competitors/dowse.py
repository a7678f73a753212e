"""dowse itself, measured through the same two functions as the others.

One process, index on disk in a folder of its own, no cache of answers. In a burst of searches dowse does not
compare the tree with the disk every time; here it does, unless ``burst`` is set, as for a search after a pause.
With ``budget``, an answer is what ``dowse search --budget`` prints: some of its hits whole, of others a part or
only the header.
"""

from __future__ import annotations

import shutil
import tempfile
from typing import Any, NamedTuple

from dowse import Engine, SearchOptions
from dowse.search.output.budget import pack


class OpenEngine(NamedTuple):
    """An engine, the temporary folder of its index ("" if one was given), and its search options."""

    engine: Engine
    folder: str
    burst: bool
    budget: int


def index(
    path: str, index_dir: str = "", burst: bool = False, budget: int = 0, **settings: Any
) -> OpenEngine:
    """Open an engine and bring its index up to date."""
    made = "" if index_dir else tempfile.mkdtemp(prefix="dowse-benchmark-")
    engine = Engine.open(path, index_dir=index_dir or made, workers=1, cache="off", **settings)
    engine.index()
    return OpenEngine(engine, made, burst, budget)


def search(opened: OpenEngine, query: str, k: int) -> list[tuple[str, int, int, str, str]]:
    """Return path, first and last line, entity and text of the best results."""
    if not opened.burst:
        opened.engine.force_check()
    if opened.budget:
        return _search_packed(opened, query)
    results = opened.engine.search(query, SearchOptions(limit=k)).results
    return [(hit.path, hit.start_line, hit.end_line, hit.entity, hit.text) for hit in results]


def _search_packed(opened: OpenEngine, query: str) -> list[tuple[str, int, int, str, str]]:
    """Pack the default results into the budget; each comes with the text that is printed for it."""
    response = opened.engine.search(query)
    packed = pack(response.results, opened.budget, words=response.query.words)
    return [
        (hit.result.path, hit.result.start_line, hit.result.end_line, hit.result.entity, "\n".join(hit.lines))
        for hit in packed.hits
    ]


def close(opened: OpenEngine) -> None:
    """Close the engine and remove the index if its folder was made here."""
    opened.engine.close()
    if opened.folder:
        shutil.rmtree(opened.folder, ignore_errors=True)
