"""Files of agents, changed and taken back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dowse import __version__
from dowse.errors import UsageError
from dowse.interfaces.agents import instructions, jsonc, setup, toml_editor
from dowse.interfaces.agents.clients import AGENTS
from dowse.interfaces.self_command import launch_command
from tests.test_cli import Shell

KEYS = ("mcpServers", "dowse")
SKILL_PATH = ".claude/skills/dowse/SKILL.md"
PARSERS: dict[str, Callable[[str], Any]] = {
    ".toml": tomllib.loads,
    ".yaml": yaml.safe_load,
    ".json": json.loads,
    ".jsonc": json.loads,
}
ENTRY = {"command": "dowse", "args": ["mcp"]}

SETTINGS = """// mine, do not touch
{
  "theme": "dark", // really
  "mcpServers": {
    "other": { "command": "x", "args": [] }, /* keep */
  },
  "last": [1, 2, {"a": "}"}]
}
"""


def test_entry_goes_in_and_out_of_a_file_with_comments() -> None:
    changed = jsonc.set_entry(SETTINGS, KEYS, ENTRY)
    assert jsonc.get_entry(changed, KEYS) == ENTRY
    assert jsonc.get_entry(changed, ("mcpServers", "other")) == {"command": "x", "args": []}
    for kept in ("// mine", "// really", "/* keep */", '{"a": "}"}'):
        assert kept in changed
    assert jsonc.get_entry(jsonc.remove_entry(changed, KEYS), KEYS) is None
    assert jsonc.set_entry(changed, KEYS, ENTRY) == changed


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), _VALUES, max_size=4), st.sampled_from([None, 2, 4]))
def test_any_file_keeps_what_it_says(values: dict[str, object], indent: int | None) -> None:
    values.pop("mcpServers", None)
    text = json.dumps(values, indent=indent, ensure_ascii=False)
    changed = jsonc.set_entry(text, KEYS, ENTRY)
    assert json.loads(changed) == values | {"mcpServers": {"dowse": ENTRY}}
    assert json.loads(jsonc.remove_entry(changed, KEYS)) == values | {"mcpServers": {}}


@pytest.mark.parametrize("text", ["[]", "{", '{"a" 1', "nonsense", '{"mcpServers": []}'])
def test_broken_files_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        jsonc.set_entry(text, KEYS, ENTRY)


def test_toml() -> None:
    keys = ("mcp_servers", "dowse")
    before = 'model = "x"\n\n[mcp_servers.other]\ncommand = "y"\n'
    changed = toml_editor.set_entry(before, keys, ENTRY)
    assert tomllib.loads(changed)["mcp_servers"] == {"other": {"command": "y"}, "dowse": ENTRY}
    assert toml_editor.set_entry(changed, keys, ENTRY) == changed
    assert toml_editor.remove_entry(changed, keys) == before
    nested = f"{changed}\n[mcp_servers.dowse.env]\nA = '1'\n\n[tui]\nx = 1\n"
    assert tomllib.loads(toml_editor.remove_entry(nested, keys)) == {
        "model": "x",
        "mcp_servers": {"other": {"command": "y"}},
        "tui": {"x": 1},
    }


def test_section() -> None:
    before = "# Rules\n\nBe kind.\n"
    changed = instructions.add_section(before)
    assert instructions.add_section(changed) == changed
    assert instructions.remove_section(changed) == before


@pytest.mark.parametrize("name", AGENTS)
def test_what_is_written_is_valid(name: str, tmp_path: Path) -> None:
    agent = AGENTS[name]
    text = setup.render_entry(agent, None if agent.user else tmp_path, tmp_path)
    values = PARSERS[agent.suffix](text)
    for key in (*agent.keys, "dowse"):
        values = values[key]
    assert "mcp" in json.dumps(values)
    assert (str(tmp_path) in json.dumps(values)) == agent.needs_folder


def test_config_is_printed(tree: Path, home: Path) -> None:
    done = Shell(tree, home)("agent", "config", "gemini")
    assert "mcp" in json.loads(done.stdout)["mcpServers"]["dowse"]["args"]
    assert "settings.json" in done.stderr


@pytest.mark.parametrize(
    ("name", "file", "before"),
    [
        ("claude-code", ".claude.json", '{"numStartups": 3,\r\n "projects": {}}'),
        ("codex", ".codex/config.toml", 'model = "o"'),
        ("zed", "config/zed/settings.json", SETTINGS),
        ("cursor", ".cursor/mcp.json", None),
    ],
)
def test_install_and_uninstall(name: str, file: str, before: str | None, tree: Path, home: Path) -> None:
    path = home / file
    if before is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before.encode())
    if os.name == "nt" and name == "zed":
        pytest.skip("its file is elsewhere there")
    shell = Shell(tree, home)
    dry = shell("agent", "install", name, "--dry-run")
    assert dry.returncode == 0 and "+" in dry.stdout and path.exists() == (before is not None)
    done = shell("agent", "install", name)
    assert done.returncode == 0 and "mcp" in done.stdout, done.stderr
    written = path.read_bytes()
    again = shell("agent", "install", name)
    assert "nothing to change" in again.stderr and path.read_bytes() == written
    assert shell("agent", "uninstall", name).returncode == 0
    if before is None:
        assert not path.parent.exists()
    else:
        assert path.read_bytes() == before.encode()


def test_folders_that_were_made_are_removed_unless_somebody_uses_them(tree: Path, home: Path) -> None:
    shell = Shell(tree, home)
    for command in ("install", "uninstall"):
        shell("agent", command, "cursor", "--project", "--skill")
    assert not (tree / ".cursor").exists()
    assert not (tree / SKILL_PATH.split("/")[0]).exists()
    (tree / ".vscode").mkdir()
    shell("agent", "install", "cursor", "vscode", "--project")
    (tree / ".cursor" / "rules").write_text("mine")
    shell("agent", "uninstall", "cursor", "vscode", "--project")
    assert (tree / ".vscode").exists() and (tree / ".cursor" / "rules").exists()


def test_file_changed_by_others_keeps_their_change(tree: Path, home: Path) -> None:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"a": {"command": "a"}}}')
    shell = Shell(tree, home)
    shell("agent", "install", "cursor")
    values = json.loads(path.read_text())
    values["mcpServers"]["b"] = {"command": "b"}
    path.write_text(json.dumps(values))
    shell("agent", "uninstall", "cursor")
    assert json.loads(path.read_text()) == {"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}


def test_project_files_instructions_and_skill(tree: Path, home: Path) -> None:
    (tree / "CLAUDE.md").write_text("# Rules\n")
    shell = Shell(tree, home)
    done = shell("agent", "install", "claude-code", "vscode", "--project", "--instructions", "--skill")
    assert done.returncode == 0, done.stderr
    assert json.loads((tree / ".mcp.json").read_text())["mcpServers"]["dowse"]["command"] == "dowse"
    assert "servers" in json.loads((tree / ".vscode/mcp.json").read_text())
    assert (
        instructions.BEGIN_MARK in (tree / "CLAUDE.md").read_text()
        and instructions.BEGIN_MARK in (tree / "AGENTS.md").read_text()
    )
    assert (tree / SKILL_PATH).exists()
    shell("agent", "uninstall", "claude-code", "vscode", "--project", "--instructions", "--skill")
    assert (tree / "CLAUDE.md").read_text() == "# Rules\n"
    left = [tree / name for name in (".mcp.json", ".vscode/mcp.json", "AGENTS.md", SKILL_PATH)]
    assert not any(path.exists() for path in left)


def test_errors(tree: Path, home: Path) -> None:
    shell = Shell(tree, home)
    unknown = shell("agent", "install", "cursr")
    assert unknown.returncode == 2 and "did you mean 'cursor'" in unknown.stderr
    assert shell("agent", "install").returncode == 2  # none in use
    assert shell("agent", "install", "roo").returncode == 2  # a project only
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").write_text("{broken")
    broken = shell("agent", "install", "cursor")
    assert broken.returncode == 2 and "mcp.json" in broken.stderr
    assert (home / ".cursor/mcp.json").read_text() == "{broken"


def test_the_agent_starts_the_dowse_that_set_it_up() -> None:
    program, *words = launch_command()
    beside = Path(sys.executable).parent
    assert Path(program).parent == beside, "not another one that is on the path"
    ran = subprocess.run([program, *words, "--version"], capture_output=True, encoding="utf-8", check=False)
    assert ran.returncode == 0
    assert __version__ in ran.stdout
