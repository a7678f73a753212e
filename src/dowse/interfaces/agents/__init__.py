"""Tells coding agents about dowse: which file of each says so, and how; what was written can be taken back.

``clients.py`` is the table of agents; ``jsonc.py`` and ``toml_editor.py`` change one entry of a file and nothing else
in it; ``setup.py`` puts it together; ``instructions.py`` has the texts for AGENTS.md and the skill.
"""
