"""semble, through its public Python interface; run by the interpreter of its own environment.

BENCH_SEMBLE_MODEL names a folder with its embedding model; without it semble fetches its default model.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

MODEL = os.environ.get("BENCH_SEMBLE_MODEL", "")
_semble: Any = importlib.import_module("semble")


def index(path: str) -> Any:
    """Build an index in memory."""
    given = {"model_path": MODEL} if MODEL else {}
    return _semble.SembleIndex.from_path(path, **given)


def search(index: Any, query: str, k: int) -> list[tuple[str, int, int]]:
    """Return path, first and last line of the best results."""
    found = index.search(query, top_k=k)
    return [(hit.chunk.file_path, hit.chunk.start_line, hit.chunk.end_line) for hit in found]
