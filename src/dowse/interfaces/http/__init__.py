"""HTTP API: search, reading, the code graph and indexes as JSON, for programs and for the page of ``interfaces/web``.

``operations.py`` is the table of operations; ``search_operations.py``, ``graph_operations.py`` and
``index_operations.py`` run them; ``api_app.py`` answers requests by that table and ``api_description.py`` describes it.
``request_guard.py`` decides who gets in (hosts, origins, tokens), for the MCP server too; ``client_limits.py`` is the
server that both run on.
"""
