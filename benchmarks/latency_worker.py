"""Answer queries and print how long each took: ``python -m benchmarks.latency_worker ENGINE|SERVICE ROOT``.

A question a line on standard input, milliseconds a line on standard output. ``engine`` searches and packs into the
budget; ``service`` gives the answer that the MCP server would send. In processes of their own, because a server is in
one: whoever has just run in the same process as another finds its code and data in the processor's caches.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from dowse import Engine, SearchOptions
from dowse.interfaces.mcp.service import Service
from dowse.interfaces.mcp.session import ClientSession
from dowse.interfaces.mcp.tools import DEFAULT_BUDGET_TOKENS
from dowse.interfaces.mcp.workspace import ServerScope
from dowse.search.output.budget import pack


def make_engine_search(root: str) -> Callable[[str], object]:
    """A search, the disk looked at, packed into the budget."""
    engine = Engine.open(root)

    def search(query: str) -> object:
        engine.force_check()
        response = engine.search(query, SearchOptions(limit=11))
        return pack(response.results[:10], DEFAULT_BUDGET_TOKENS, words=response.query.words)

    return search


def make_service_search(root: str) -> Callable[[str], object]:
    """The same as an answer of the server."""
    service = Service(ServerScope((root,)))

    def search(query: str) -> object:
        params = {"name": "search", "arguments": {"query": query, "repeat": True}}
        return service.answer(ClientSession(), "tools/call", params)

    return search


SEARCHES = {"engine": make_engine_search, "service": make_service_search}


def main(mode: str, root: str) -> None:
    """Answer until there are no more questions."""
    search = SEARCHES[mode](root)
    for line in sys.stdin:
        query = line.rstrip("\n")
        started = time.perf_counter()
        search(query)
        print((time.perf_counter() - started) * 1e3, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
