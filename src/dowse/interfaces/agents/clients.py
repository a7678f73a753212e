"""The agents: where each keeps its servers, and in which words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse import settings

NAME = "dowse"
"""What the server is called in every configuration."""

Entry = Callable[[str, list[str]], dict[str, Any]]
"""A command and its arguments as an agent writes them down."""


def _plain(command: str, args: list[str]) -> dict[str, Any]:
    return {"command": command, "args": args}


def _typed(command: str, args: list[str]) -> dict[str, Any]:
    return {"type": "stdio", "command": command, "args": args}


def _opencode(command: str, args: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": [command, *args], "enabled": True}


def _zed(command: str, args: list[str]) -> dict[str, Any]:
    return {"source": "custom", "command": command, "args": args, "env": {}}


def _copilot(command: str, args: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": command, "args": args, "tools": ["*"]}


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent. ``user`` and ``project`` are its files from the home folder's place and from the project's root."""

    title: str
    keys: tuple[str, ...]
    entry: Entry
    user: Callable[[], Path] | None = None
    project: str = ""
    guidance: str = "AGENTS.md"
    names_folder: bool = False  # it does not say which folder it works on, so the folder is written down

    @property
    def is_toml(self) -> bool:
        """Whether its file is TOML, not JSON."""
        return (self.user() if self.user else Path(self.project)).suffix == ".toml"


def _home(path: str) -> Callable[[], Path]:
    return lambda: Path.home() / path


def _application(name: str) -> Callable[[], Path]:
    """A file in the folder where desktop programs keep theirs."""

    def path() -> Path:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support" / name
        if sys.platform == "win32":
            return Path(settings.variable("APPDATA") or Path.home() / "AppData" / "Roaming") / name
        return _xdg() / name

    return path


def _configured(name: str, windows: str = "") -> Callable[[], Path]:
    """A file in ``~/.config``, on macOS too."""

    def path() -> Path:
        if sys.platform == "win32" and windows:
            return Path(settings.variable("APPDATA") or Path.home() / "AppData" / "Roaming") / windows
        return _xdg() / name

    return path


def _xdg() -> Path:
    return Path(settings.variable("XDG_CONFIG_HOME") or Path.home() / ".config")


AGENTS: Mapping[str, Agent] = {
    "claude-code": Agent(
        "Claude Code", ("mcpServers",), _typed, _home(".claude.json"), ".mcp.json", guidance="CLAUDE.md"
    ),
    "claude-desktop": Agent(
        "Claude Desktop",
        ("mcpServers",),
        _plain,
        _application("Claude/claude_desktop_config.json"),
        names_folder=True,
    ),
    "cursor": Agent("Cursor", ("mcpServers",), _plain, _home(".cursor/mcp.json"), ".cursor/mcp.json"),
    "vscode": Agent(
        "Visual Studio Code", ("servers",), _typed, _application("Code/User/mcp.json"), ".vscode/mcp.json"
    ),
    "codex": Agent("Codex", ("mcp_servers",), _plain, _home(".codex/config.toml"), ".codex/config.toml"),
    "opencode": Agent(
        "OpenCode", ("mcp",), _opencode, _configured("opencode/opencode.json"), "opencode.json"
    ),
    "gemini": Agent(
        "Gemini CLI",
        ("mcpServers",),
        _plain,
        _home(".gemini/settings.json"),
        ".gemini/settings.json",
        guidance="GEMINI.md",
    ),
    "windsurf": Agent(
        "Windsurf", ("mcpServers",), _plain, _home(".codeium/windsurf/mcp_config.json"), names_folder=True
    ),
    "zed": Agent(
        "Zed",
        ("context_servers",),
        _zed,
        _configured("zed/settings.json", "Zed/settings.json"),
        ".zed/settings.json",
    ),
    "copilot-cli": Agent("GitHub Copilot CLI", ("mcpServers",), _copilot, _home(".copilot/mcp-config.json")),
    "kiro": Agent(
        "Kiro", ("mcpServers",), _plain, _home(".kiro/settings/mcp.json"), ".kiro/settings/mcp.json"
    ),
    "roo": Agent("Roo Code", ("mcpServers",), _plain, None, ".roo/mcp.json"),
}
