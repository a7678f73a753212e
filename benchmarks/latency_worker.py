"""Answer queries and print how long each took: ``python -m benchmarks.latency_worker ENGINE|SERVICE ROOT``.

One query per line on standard input, milliseconds per line on standard output. ``engine`` searches and packs into the
budget; ``service`` makes the answer that the MCP server would send. Each runs in a process of its own, as the server
does: in a shared process, the second would find code and data in the processor's caches.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from dowse import Engine, SearchOptions
from dowse.interfaces.mcp.service import Service
from dowse.interfaces.mcp.session import ClientSession
from dowse.interfaces.mcp.tools import DEFAULT_BUDGET_TOKENS
from dowse.interfaces.workspace import ServerScope
from dowse.search.output.budget import pack


def make_engine_search(root: str) -> Callable[[str], object]:
    """Make a search by the engine, with a check of the disk, packed into the budget."""
    engine = Engine.open(root)

    def search(query: str) -> object:
        engine.force_check()
        response = engine.search(query, SearchOptions(limit=11))
        return pack(response.results[:10], DEFAULT_BUDGET_TOKENS, words=response.query.words)

    return search


def make_service_search(root: str) -> Callable[[str], object]:
    """Make a search that returns the answer of the MCP server."""
    service = Service(ServerScope((root,)))

    def search(query: str) -> object:
        params = {"name": "search", "arguments": {"query": query, "repeat": True}}
        return service.answer(ClientSession(), "tools/call", params)

    return search


SEARCHES = {"engine": make_engine_search, "service": make_service_search}


def main(mode: str, root: str) -> None:
    """Answer queries until standard input ends."""
    search = SEARCHES[mode](root)
    for line in sys.stdin:
        query = line.rstrip("\n")
        started = time.perf_counter()
        search(query)
        print((time.perf_counter() - started) * 1e3, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
