"""MCP client registry: where each coding agent keeps its list of MCP servers, and in which format."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse import settings

SERVER_NAME = "dowse"
"""Name of the server in every configuration."""

EntryBuilder = Callable[[str, list[str]], dict[str, Any]]
"""Builds the entry of a server, from its command and arguments, in the format of an agent."""


def _plain_entry(command: str, args: list[str]) -> dict[str, Any]:
    return {"command": command, "args": args}


def _make_typed_entry(command: str, args: list[str]) -> dict[str, Any]:
    return {"type": "stdio", "command": command, "args": args}


def _make_opencode_entry(command: str, args: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": [command, *args], "enabled": True}


def _make_zed_entry(command: str, args: list[str]) -> dict[str, Any]:
    return {"source": "custom", "command": command, "args": args, "env": {}}


def _make_copilot_entry(command: str, args: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": command, "args": args, "tools": ["*"]}


def _make_goose_entry(command: str, args: list[str]) -> dict[str, Any]:
    return {
        "enabled": True,
        "type": "stdio",
        "name": SERVER_NAME,
        "description": "Find code by meaning, name or error message",
        "cmd": command,
        "args": args,
        "timeout": 300,
    }


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent. ``user`` gives its configuration file for the user, ``project`` that in a project."""

    title: str
    keys: tuple[str, ...]
    entry: EntryBuilder
    user: Callable[[], Path] | None = None
    project: str = ""
    instructions_file: str = "AGENTS.md"
    needs_folder: bool = False  # it does not tell the server its folder, so the folder becomes an argument

    @property
    def suffix(self) -> str:
        """The ending of its file, which says how that is written."""
        return (self.user() if self.user else Path(self.project)).suffix


def _in_home(path: str) -> Callable[[], Path]:
    return lambda: Path.home() / path


def _in_app_data(name: str) -> Callable[[], Path]:
    """Return a function for a file in the folder where desktop programs keep their settings."""

    def path() -> Path:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support" / name
        if sys.platform == "win32":
            return Path(settings.read_variable("APPDATA") or Path.home() / "AppData" / "Roaming") / name
        return _config_dir() / name

    return path


def _in_config_dir(name: str, windows: str = "") -> Callable[[], Path]:
    """Return a function for a file in ``~/.config``, on macOS too."""

    def path() -> Path:
        if sys.platform == "win32" and windows:
            return Path(settings.read_variable("APPDATA") or Path.home() / "AppData" / "Roaming") / windows
        return _config_dir() / name

    return path


def _config_dir() -> Path:
    return Path(settings.read_variable("XDG_CONFIG_HOME") or Path.home() / ".config")


AGENTS: Mapping[str, Agent] = {
    "claude-code": Agent(
        "Claude Code",
        ("mcpServers",),
        _make_typed_entry,
        _in_home(".claude.json"),
        ".mcp.json",
        instructions_file="CLAUDE.md",
    ),
    "claude-desktop": Agent(
        "Claude Desktop",
        ("mcpServers",),
        _plain_entry,
        _in_app_data("Claude/claude_desktop_config.json"),
        needs_folder=True,
    ),
    "cursor": Agent(
        "Cursor", ("mcpServers",), _plain_entry, _in_home(".cursor/mcp.json"), ".cursor/mcp.json"
    ),
    "vscode": Agent(
        "Visual Studio Code",
        ("servers",),
        _make_typed_entry,
        _in_app_data("Code/User/mcp.json"),
        ".vscode/mcp.json",
    ),
    "codex": Agent(
        "Codex", ("mcp_servers",), _plain_entry, _in_home(".codex/config.toml"), ".codex/config.toml"
    ),
    "opencode": Agent(
        "OpenCode", ("mcp",), _make_opencode_entry, _in_config_dir("opencode/opencode.json"), "opencode.json"
    ),
    "gemini": Agent(
        "Gemini CLI",
        ("mcpServers",),
        _plain_entry,
        _in_home(".gemini/settings.json"),
        ".gemini/settings.json",
        instructions_file="GEMINI.md",
    ),
    "windsurf": Agent(
        "Windsurf",
        ("mcpServers",),
        _plain_entry,
        _in_home(".codeium/windsurf/mcp_config.json"),
        needs_folder=True,
    ),
    "zed": Agent(
        "Zed",
        ("context_servers",),
        _make_zed_entry,
        _in_config_dir("zed/settings.json", "Zed/settings.json"),
        ".zed/settings.json",
    ),
    "copilot-cli": Agent(
        "GitHub Copilot CLI", ("mcpServers",), _make_copilot_entry, _in_home(".copilot/mcp-config.json")
    ),
    "kiro": Agent(
        "Kiro", ("mcpServers",), _plain_entry, _in_home(".kiro/settings/mcp.json"), ".kiro/settings/mcp.json"
    ),
    "roo": Agent("Roo Code", ("mcpServers",), _plain_entry, None, ".roo/mcp.json"),
    "cline": Agent(
        "Cline (command line)",
        ("mcpServers",),
        _plain_entry,
        _in_home(".cline/data/settings/cline_mcp_settings.json"),
    ),
    "kilo": Agent(
        "Kilo Code", ("mcp",), _make_opencode_entry, _in_config_dir("kilo/kilo.jsonc"), "kilo.jsonc"
    ),
    "qwen": Agent(
        "Qwen Code",
        ("mcpServers",),
        _plain_entry,
        _in_home(".qwen/settings.json"),
        ".qwen/settings.json",
        instructions_file="QWEN.md",
    ),
    "goose": Agent(
        "Goose",
        ("extensions",),
        _make_goose_entry,
        _in_config_dir("goose/config.yaml", "Block/goose/config/config.yaml"),
    ),
    "amp": Agent(
        "Amp", ("amp.mcpServers",), _plain_entry, _in_config_dir("amp/settings.json"), ".amp/settings.json"
    ),
    "antigravity": Agent(
        "Antigravity",
        ("mcpServers",),
        _plain_entry,
        _in_home(".gemini/config/mcp_config.json"),
        ".agents/mcp_config.json",
        needs_folder=True,
    ),
    "junie": Agent(
        "Junie", ("mcpServers",), _plain_entry, _in_home(".junie/mcp/mcp.json"), ".junie/mcp/mcp.json"
    ),
    "droid": Agent(
        "Droid", ("mcpServers",), _make_typed_entry, _in_home(".factory/mcp.json"), ".factory/mcp.json"
    ),
    "crush": Agent("Crush", ("mcp",), _make_typed_entry, _in_config_dir("crush/crush.json"), "crush.json"),
    "augment": Agent(
        "Auggie (Augment)",
        ("mcpServers",),
        _make_typed_entry,
        _in_home(".augment/settings.json"),
        ".augment/settings.json",
    ),
    "openhands": Agent("OpenHands", ("mcpServers",), _plain_entry, _in_home(".openhands/mcp.json")),
    "continue": Agent("Continue", ("mcpServers",), _plain_entry, None, ".continue/mcpServers/dowse.json"),
}
