"""Git configuration parser, as far as it says which files to ignore (``core.excludesFile``)."""

from __future__ import annotations

import os
from pathlib import Path

from dowse.lazy_regex import compile_lazily
from dowse.safe_files import read_regular
from dowse.settings_files import MAX_CONFIG_BYTES

_GIT_SECTION = compile_lazily(r"""\s*\[([^\]"]*)((?:"(?:\\.|[^"\\])*")?)\](.*)""")
"""The name of a section, that of a subsection in quotes, and what follows on the line."""


def read_excludes_file(config: Path) -> str | None:
    """Read ``core.excludesFile`` from a git configuration file, if it is set; an empty string means no file at all."""
    import configparser

    parser = configparser.ConfigParser(
        strict=False, interpolation=None, allow_no_value=True, inline_comment_prefixes=("#", ";")
    )
    try:
        content = read_regular(config.resolve(), MAX_CONFIG_BYTES)  # the user's own is often a link
        lines = content.decode("utf-8", "replace").splitlines()
        parser.read_string("\n".join(map(_normalize_line, lines)))
    except (OSError, RuntimeError, configparser.Error):
        return None
    value = parser.get("core", "excludesfile", fallback=None)
    return None if value is None or "\0" in value else os.path.expanduser(value.strip('"'))


def _normalize_line(line: str) -> str:
    """Rewrite a line of a git configuration for Python's parser, to which an indented line continues the one above."""
    header = _GIT_SECTION.match(line)
    # Case counts only within quotes, and the first value may stand behind the name of its section.
    return f"[{header[1].lower()}{header[2]}]\n{header[3].strip()}" if header else line.strip()
