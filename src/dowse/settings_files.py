"""TOML configuration files: ``dowse.toml`` or ``[tool.dowse]`` in ``pyproject.toml`` of a tree, and the user's own
file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dowse.errors import SettingsError
from dowse.safe_files import UnsafeFile, read_inside, read_regular

CONFIG_FILE = "dowse.toml"

MAX_CONFIG_BYTES = 1_000_000
"""A larger file of settings was not written by a person."""

_MAX_LINE_DOTS = 500
"""Dots in a line of TOML: parsing a key takes quadratic time in its parts, minutes for one that fills a file."""


def config_name(root: Path) -> str:
    """Return the name of the file that has the settings of a tree, if it has any."""
    return CONFIG_FILE if os.path.lexists(root / CONFIG_FILE) else "pyproject.toml"


def read_user_file(path: Path) -> dict[str, Any]:
    """Read the user's own settings; none if there is no such file."""
    if not path.is_file():
        return {}
    try:
        return _parse_toml(path.name, read_regular(path.resolve(), MAX_CONFIG_BYTES))  # it may be a link
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error


def read_tree_file(root: Path) -> dict[str, Any]:
    """Read the settings of a tree: only from a regular file inside of it that is not too large."""
    for name, section in ((CONFIG_FILE, ()), ("pyproject.toml", ("tool", "dowse"))):
        try:
            content = read_inside(root, name, MAX_CONFIG_BYTES)
            if section and section[-1].encode() not in content:
                continue  # nothing of ours is in it, and to parse it takes milliseconds
            table: Any = _parse_toml(name, content)
        except FileNotFoundError:
            continue
        except OSError as error:
            if section and isinstance(error, UnsafeFile):
                continue  # treated as a broken one
            raise SettingsError(f"{name} cannot be read: {error}") from error
        except _BrokenToml:
            if section:
                continue  # other tools report a broken pyproject.toml
            raise
        for key in section:
            table = table.get(key, {})
            if not isinstance(table, dict):
                raise SettingsError(f"'{key}' in {name} must be a table, not {table!r}")
        if table or not section:
            return dict(table)
    return {}


class _BrokenToml(SettingsError):
    """A file of settings is not TOML."""


def _parse_toml(name: str, content: bytes) -> dict[str, Any]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{name} cannot be read: {error}") from error
    if any(line.count(".") > _MAX_LINE_DOTS for line in text.splitlines()):
        raise _BrokenToml(f"{name} is not valid TOML: a line with more than {_MAX_LINE_DOTS} dots")
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _BrokenToml(f"{name} is not valid TOML: {error}") from error
