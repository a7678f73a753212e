"""Every file of every agent, however odd, is as it was after install and uninstall, to the byte."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
import yaml

from dowse.interfaces.agents import jsonc, setup, yaml_editor
from dowse.interfaces.agents.clients import AGENTS
from tests.test_cli import Shell

BOM = "\ufeff"

ODD_JSON = {
    "byte order mark": BOM + '{"a": 1}\n',
    "CRLF": '{\r\n  "a": 1,\r\n  "b": {"c": []}\r\n}\r\n',
    "byte order mark and CRLF": BOM + '{\r\n    "a": 1\r\n}',
    "tabs": '{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n',
    "comments": '// mine\n{\n  "a": 1, // really\n  /* b */\n}\n',
    "no line break at the end": '{"a": 1}',
    "empty": "",
    "blank": "\n\n",
    "mixed line breaks": '{\r\n  "a": 1,\n  "b": 2\r\n}\n',
    "other servers": '{"KEY": {"other": {"command": "x"}}}\n',
    "no servers": '{"KEY": { }}\n',
}
ODD_TOML = {
    "byte order mark": BOM + 'a = "b"\n',
    "CRLF": 'a = "b"\r\n\r\n[c]\r\nd = 1\r\n',
    "tabs": "[a]\n\tb = 1\n",
    "comments": "# mine\na = 1 # really\n",
    "no line break at the end": "a = 1",
    "empty": "",
}
ODD_YAML = {
    "byte order mark": BOM + "GOOSE_MODE: auto\n",
    "CRLF": "a: 1\r\nextensions:\r\n  memory:\r\n    enabled: true\r\n",
    "wide": "extensions:\n    memory:\n        enabled: true\n\n# end\nb: 2\n",
    "comments": "# mine\nextensions: # these\n  # first\n  memory:\n    type: builtin\n",
    "no line break at the end": "a: 1\nextensions:",
    "empty": "",
    "none": "GOOSE_MODEL: x",
}
ODD = {".toml": ODD_TOML, ".yaml": ODD_YAML}


def list_cases() -> list[tuple[str, str, str]]:
    return [
        (name, about, text.replace("KEY", agent.keys[0]))
        for name, agent in AGENTS.items()
        for about, text in ODD.get(agent.suffix, ODD_JSON).items()
    ]


def parse(text: str, suffix: str) -> object:
    text = text.removeprefix(BOM)
    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix == ".yaml":
        return yaml.safe_load(text)
    return jsonc.get_entry('{"all": ' + text + "}", ("all",)) if text.strip() else {}


@pytest.mark.parametrize(("name", "about", "text"), list_cases())
def test_agent_file(
    name: str, about: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    agent = AGENTS[name]
    root = None if agent.user else tmp_path
    path = setup.config_path(agent, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    setup.apply(setup.plan_install(agent, root, tmp_path))
    written = path.read_bytes().decode()
    assert written.startswith(BOM) == text.startswith(BOM)
    assert setup.plan_install(agent, root, tmp_path).before == setup.plan_install(agent, root, tmp_path).after
    values = parse(written, agent.suffix)
    for key in (*agent.keys, "dowse"):
        assert isinstance(values, dict)
        values = values[key]
    assert "mcp" in json.dumps(values)
    if about == "CRLF":
        assert "\n" not in written.replace("\r\n", "")
    if about == "tabs" and agent.suffix not in (".toml", ".yaml"):
        assert "\n " not in written
    setup.apply(setup.plan_uninstall(agent, root))
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("text", [text for text in ODD_JSON.values() if text.strip()])
def test_entries_of_json_are_taken_out_without_a_backup(text: str) -> None:
    text = text.removeprefix(BOM)
    keys = ("KEY", "dowse")
    before = jsonc.set_entry(text, ("KEY", "first"), {"a": 1})
    assert jsonc.remove_entry(jsonc.set_entry(before, keys, {"command": "x"}), keys) == before


@pytest.mark.parametrize("text", ODD_YAML.values())
def test_entries_of_yaml_are_taken_out_without_a_backup(text: str) -> None:
    text = text.removeprefix(BOM)
    keys = ("extensions", "dowse")
    before = yaml_editor.set_entry(text, ("extensions", "first"), {"a": 1})
    changed = yaml_editor.set_entry(before, keys, {"cmd": "x", "args": ["y"]})
    assert yaml.safe_load(changed)["extensions"]["dowse"] == {"cmd": "x", "args": ["y"]}
    assert yaml_editor.get_entry(changed, keys) == {"cmd": "x", "args": ["y"]}
    assert yaml_editor.remove_entry(changed, keys) == before


@pytest.mark.parametrize("text", ["extensions: {a: 1}\n", "extensions:\n  - a\n", "extensions: null\n"])
def test_other_forms_of_yaml_are_refused(text: str, tree: Path, home: Path) -> None:
    path = home / "config" / "goose" / "config.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = Shell(tree, home)("agent", "install", "goose")
    assert done.returncode == 2 and "edit it by hand" in done.stderr
    assert path.read_text() == text


def test_items_of_lists() -> None:
    keys = ("hooks", "Start")
    for text in (
        "",
        "{}",
        '{"hooks": {"Start": [1, {"a": 2}]}}',
        '{\n\t"hooks": {\n\t\t"Start": []\n\t}\n}\n',
    ):
        changed = jsonc.add_item(text, keys, {"b": 1})
        assert jsonc.get_entry(changed, keys)[-1] == {"b": 1}
        assert jsonc.add_item(changed, keys, {"b": 1}) == changed
        more = jsonc.add_item(changed, keys, 3)
        assert jsonc.remove_item(more, keys, 3) == changed
        assert jsonc.get_entry(jsonc.remove_item(more, keys, {"b": 1}), keys)[-1] == 3


def test_a_file_that_cannot_be_edited_stops_no_other(tree: Path, home: Path) -> None:
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").write_text("{broken")
    done = Shell(tree, home)("agent", "install", "cursor", "qwen")
    assert done.returncode == 2 and ".cursor" in done.stderr
    assert "dowse" in (home / ".qwen/settings.json").read_text()
