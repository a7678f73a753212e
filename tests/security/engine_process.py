"""A process that calls all that the Python API has on one tree, and writes a line for each: its name and its error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from dowse import Engine
from dowse.errors import DowseError

CALLS: dict[str, Callable[[Engine], object]] = {
    "search": lambda engine: engine.search("retry_with_backoff"),
    "explain": lambda engine: engine.explain("retry", "src/retry.py"),
    "related": lambda engine: engine.related("src/retry.py"),
    "read": lambda engine: engine.read("src/retry.py:retry_with_backoff"),
    "candidates": lambda engine: engine.candidates("retry").__enter__(),
    "near": lambda engine: engine.near("src/retry.py:4"),
    "graph": lambda engine: engine.graph.callers("retry_with_backoff"),
    "load_file": lambda engine: engine.load_file("src/retry.py"),
    "paths": lambda engine: engine.paths(),
    "files": lambda engine: list(engine.files()),
    "list_skipped": lambda engine: list(engine.list_skipped()),
    "why": lambda engine: engine.why("src/retry.py"),
    "why_unread": lambda engine: engine.why_unread("src/retry.py:4"),
    "filter": lambda engine: engine.filter(languages=["python"]),
    "path_inside": lambda engine: engine.path_inside("src/retry.py"),
    "parse_place": lambda engine: engine.parse_place("src/retry.py:4"),
    "revision": lambda engine: engine.revision(["src/retry.py"]),
    "status": lambda engine: engine.status(),
    "state": lambda engine: engine.state(),
    "find_corrupt_parts": lambda engine: engine.find_corrupt_parts(),
    "load_history": lambda engine: engine.load_history(),
    "history": lambda engine: engine.history.search("retry"),
    "load_text_at": lambda engine: engine.load_text_at("src/retry.py", "HEAD"),
    "with_settings": lambda engine: engine.with_settings(limit=3).search("retry"),
    "generation": lambda engine: engine.generation(),
    "count_pending": lambda engine: engine.count_pending(),
    "force_check": lambda engine: engine.force_check(),
    "refresh": lambda engine: engine.refresh(),
    "reindex": lambda engine: engine.reindex(["src/retry.py", "../neighbour/private"]),
    "watch": lambda engine: engine.watch(),
    "term_graph": lambda engine: engine.term_graph(),
    "term_graph_file": lambda engine: engine.term_graph_file,
    "try_terms": lambda engine: engine.try_terms("retry"),
    "search_log": lambda engine: engine.search_log,
    "embedder": lambda engine: engine.embedder,
    "subject_embedder": lambda engine: engine.subject_embedder,
    "word_vectors": lambda engine: engine.word_vectors,
    "fingerprint": lambda engine: engine.fingerprint,
    "languages": lambda engine: engine.languages,
    "index_folder": lambda engine: engine.index_folder,
    "index_files": lambda engine: engine.index_files(),
    "lock_file": lambda engine: engine.lock_file(),
    "is_on_server": lambda engine: engine.is_on_server,
    "list_ignore_files": lambda engine: engine.list_ignore_files(),
    "store": lambda engine: list(engine.store.dump()),
    "store_at": lambda engine: engine.store_at("memory"),
    "copy_index": lambda engine: engine.copy_index("embedded", "memory"),
    "server_status": lambda engine: engine.server_status(),
    "init_server": lambda engine: engine.init_server(),
    "collect_garbage": lambda engine: engine.collect_garbage(),
    "trust_index": lambda engine: (engine.trust_index(), engine.trust_index(fresh=True)),
    "index": lambda engine: (engine.index(), engine.index(rebuild=True)),
    "clear": lambda engine: engine.clear(),
    "open": lambda engine: Engine.open(engine.root, read_only=True).search("retry"),
    "close": lambda engine: engine.close(),
}


def call(name: str, root: Path) -> str:
    """Call one on an engine of its own; what dowse says on purpose is its answer, anything else ends the process."""
    try:
        with Engine.open(root) as engine:
            CALLS[name](engine)
    except DowseError as error:
        return str(error)
    return ""


def main(cpu_seconds: int, root: Path) -> None:
    """Call everything."""
    import resource  # which Windows lacks, where only the table above is read

    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    sys.path[:] = [os.path.abspath(entry) for entry in sys.path]
    os.chdir(root)
    for name in CALLS:
        print(json.dumps([name, call(name, root)]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
