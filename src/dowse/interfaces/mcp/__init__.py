"""MCP server: dowse for coding agents, over the Model Context Protocol (JSON-RPC).

``tools.py`` is the table of tools; ``handlers.py`` and ``graph_handlers.py`` run them; ``service.py`` dispatches the
requests of the protocol; ``stdio.py`` and ``http_server.py`` are the transports. ``session.py`` remembers what a
client was sent, ``responses.py`` writes answers within their budget.

Nothing here searches: that is the job of the engine.
"""
