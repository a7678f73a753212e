"""Coding agent setup: install the MCP server in the configuration files of agents (Claude Code, Cursor, VS Code, ...).

Every edit can be undone. ``clients.py`` is the table of agents; ``jsonc.py`` and ``toml_editor.py`` edit one entry of a
file and nothing else; ``setup.py`` puts it together; ``instructions.py`` has the texts for AGENTS.md and the skill.
"""
