"""What goes beside the server: hooks, sub-agent, commands, skill, plugin, and the count of what was saved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dowse.interfaces.agents import nudges
from tests.agents.clients import Lines
from tests.test_cli import Shell

ALL = ("--hooks", "--commands", "--subagent", "--skill")
MINE = '{\n\t"model": "opus",\n\t"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "mine"}]}]}\n}\n'


@pytest.mark.parametrize("scope", [(), ("--project",)])
@pytest.mark.parametrize("before", [None, "", MINE, "\ufeff" + MINE.replace("\n", "\r\n")])
def test_extras_come_and_go(scope: tuple[str, ...], before: str | None, tree: Path, home: Path) -> None:
    folder = (tree if scope else home) / ".claude"
    if before is not None:
        folder.mkdir()
        (folder / "settings.json").write_bytes(before.encode())
    shell = Shell(tree, home)
    dry = shell("agent", "install", "claude-code", *scope, *ALL, "--dry-run")
    assert "PreToolUse" in dry.stdout and not (folder / "skills").exists()
    done = shell("agent", "install", "claude-code", *scope, *ALL)
    assert done.returncode == 0, done.stderr
    settings = json.loads((folder / "settings.json").read_bytes().decode("utf-8-sig"))
    assert settings["hooks"]["PreToolUse"][0]["matcher"] == "Grep|Bash"
    command = settings["hooks"]["SessionStart"][-1]["hooks"][0]["command"]
    assert command.endswith("agent hook") and (str(tree) not in command)
    assert "mcp__dowse__search" in (folder / "agents/dowse-search.md").read_text()
    assert {path.stem for path in (folder / "commands").iterdir()} == {
        "dowse-find",
        "dowse-impact",
        "dowse-why",
    }
    again = shell("agent", "install", "claude-code", *scope, *ALL)
    assert not again.stdout
    assert shell("agent", "uninstall", "claude-code", *scope, *ALL).returncode == 0
    if before is None:
        assert not folder.exists()
    else:
        assert (folder / "settings.json").read_bytes() == before.encode()
        assert [path.name for path in folder.iterdir()] == ["settings.json"]


def test_what_others_changed_since_stays(tree: Path, home: Path) -> None:
    shell, path = Shell(tree, home), tree / ".claude/settings.json"
    shell("agent", "install", "claude-code", "--project", *ALL)
    settings = json.loads(path.read_text())
    settings["hooks"]["SessionStart"].insert(0, {"hooks": []})
    path.write_text(json.dumps(settings))
    (tree / ".claude/commands/dowse-why.md").write_text("mine")
    shell("agent", "uninstall", "claude-code", "--project", *ALL)
    assert json.loads(path.read_text()) == {"hooks": {"SessionStart": [{"hooks": []}]}}
    assert (tree / ".claude/commands/dowse-why.md").read_text() == "mine"


def test_plugin_folder(tree: Path, home: Path) -> None:
    shell, folder = Shell(tree, home), home / "plugin"
    assert shell("agent", "plugin", str(folder), "--dry-run").returncode == 0 and not folder.exists()
    assert shell("agent", "plugin", str(folder)).returncode == 0
    about = json.loads((folder / ".claude-plugin/plugin.json").read_text())
    assert about["name"] == "dowse"
    assert json.loads((folder / ".mcp.json").read_text())["mcpServers"]["dowse"]["args"] == ["mcp"]
    assert set(json.loads((folder / "hooks/hooks.json").read_text())["hooks"]) == {
        "SessionStart",
        "PreToolUse",
    }
    for name in ("agents/dowse-search.md", "commands/dowse-find.md", "skills/dowse/SKILL.md"):
        assert (folder / name).read_text().startswith("---\n")
    assert shell("agent", "plugin", str(folder), "--remove").returncode == 0
    assert not folder.exists()


@pytest.mark.parametrize(
    ("tool", "given", "suits"),
    [
        ("Grep", {"pattern": "where is the token refreshed"}, True),
        ("Grep", {"pattern": "refresh|renew token"}, True),
        ("Grep", {"pattern": r"def\s+refresh_token"}, True),
        ("Grep", {"pattern": "class Session"}, True),
        ("Grep", {"pattern": "TODO"}, False),
        ("Grep", {"pattern": "class Session", "output_mode": "count"}, False),
        ("Bash", {"command": "cd src && grep -rn 'session expired' ."}, True),
        ("Bash", {"command": "rg -c 'session expired'"}, False),
        ("Bash", {"command": "ls src | grep py"}, False),
        ("Bash", {"command": "echo 'unclosed"}, False),
        ("Read", {"file_path": "a.py"}, False),
    ],
)
def test_grep_is_nudged_where_search_is_better(tool: str, given: dict[str, str], suits: bool) -> None:
    pattern = nudges.find_pattern(tool, given)
    assert bool(pattern and nudges.suits_search(pattern)) == suits


def run_hook(home: Path, event: object) -> str:
    written = event if isinstance(event, bytes) else json.dumps(event).encode()
    done = Shell(home, home)("agent", "hook", stdin=written)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hook_answers_once_and_never_fails(home: Path) -> None:
    started = json.loads(run_hook(home, {"hook_event_name": "SessionStart"}))["hookSpecificOutput"]
    assert started["hookEventName"] == "SessionStart" and "search" in started["additionalContext"]
    event = {
        "hook_event_name": "PreToolUse",
        "session_id": "one",
        "tool_name": "Grep",
        "tool_input": {"pattern": "class Session"},
    }
    nudge = json.loads(run_hook(home, event))["hookSpecificOutput"]
    assert '"class Session"' in nudge["additionalContext"] and "permissionDecision" not in nudge
    assert run_hook(home, event) == ""
    for odd in (b"", b"{", b"[]", {"hook_event_name": "PreToolUse", "tool_input": 3}, {}):
        assert run_hook(home, odd) == ""


def test_savings_are_counted_only_if_asked(tree: Path, home: Path) -> None:
    shell = Shell(tree, home)

    def ask() -> None:
        with Lines(tree, home) as server:
            server.initialize()
            server.call("search", query="retry_with_backoff")

    ask()
    assert "--on" in shell("agent", "stats").stderr
    shell("agent", "stats", "--on")
    ask()
    found = shell.json("agent", "stats")
    assert found["on"] and found["tools"][0]["tool"] == "search"
    assert found["total"]["calls"] == 1 and found["total"]["returned"] > 0 and found["total"]["files"] > 0
    assert "fewer tokens" in shell("agent", "stats").stdout
    shell("agent", "stats", "--off")
    assert not shell.json("agent", "stats")["on"]
