"""User interfaces: command line (CLI), MCP server, interactive shell, reports, agent setup and git hooks.

Each parses its input, calls the engine and renders; none decides what an answer is.
"""
