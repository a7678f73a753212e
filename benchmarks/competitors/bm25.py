"""Plain BM25: the same files, chunks and tokens as dowse, but only the text of the chunks is searched.

No fields, no names, no file names, no vectors, no ranking model: what is left of dowse when all its ideas about
ranking are taken away.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from dowse import Engine
from dowse.search.query.analyze import analyze_text
from dowse.types.stored import Filter, split_chunk_id

TEXT_ONLY = {"body": 1.0}


class Index(NamedTuple):
    """An engine of which only the lexical index is used."""

    engine: Engine
    folder: Path


def index(path: str) -> Index:
    """Index a tree without vectors in a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="dowse-benchmark-"))
    engine = Engine.open(path, index_dir=str(folder), workers=1, embedder="none")
    engine.index()
    return Index(engine, folder)


def search(index: Index, query: str, k: int) -> list[tuple[str, int, int]]:
    """Return path, first and last line of the best chunks."""
    terms = analyze_text(query, lambda suffix: False).terms  # file names are not looked for
    found = []
    with index.engine.store.snapshot() as snapshot:
        for hit in snapshot.lexical(terms, TEXT_ONLY, Filter(), k):
            file_id, ordinal = split_chunk_id(hit.chunk)
            file = snapshot.file(file_id)
            assert file is not None
            chunk = file.parsed.chunks[ordinal]
            found.append((file.path, chunk.start_line, chunk.end_line))
    return found


def close(index: Index) -> None:
    """Close and remove the index."""
    index.engine.close()
    shutil.rmtree(index.folder, ignore_errors=True)
