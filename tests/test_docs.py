"""The documentation, held against the program."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from click import Command, Context, Group

from dowse.code.languages import load_builtin
from dowse.code.languages.spec import Language
from dowse.interfaces.cli import cli
from dowse.settings import FEATURE_GROUPS, Settings
from dowse.types.source import Kind

ROOT = Path(__file__).parent.parent
FOLDERS = ("docs", "benchmarks", "examples")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])

CODE = ("src", "tests", "benchmarks", "training", "docs", "fuzz")

SAMPLE_MODULES = {"conftest.py"}
"""Names of modules that stand for anybody's."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_setting_is_documented_with_its_default() -> None:
    rows = dict(
        re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", (ROOT / "docs/settings.md").read_text("utf-8"), re.M)
    )
    assert rows.keys() == {field.name for field in fields(Settings)}
    for name, text in rows.items():
        default = getattr(Settings(), name)
        shown = {True: "true", False: "false"}.get(default) if isinstance(default, bool) else None
        shown = shown or (
            "[]" if default == () else f'"{default}"' if isinstance(default, str) else str(default)
        )
        assert text == shown, name


def test_groups_of_features_are_documented() -> None:
    page = (ROOT / "docs/settings.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in FEATURE_GROUPS)


def test_captures_are_documented() -> None:
    page = (ROOT / "docs/languages.md").read_text("utf-8")
    used = set()
    for language in load_builtin().by_name.values():
        queries = re.sub(r'"[^"]*"', "", language.definitions + language.references)
        used |= set(re.findall(r"@([a-z]\w*)", queries))
    assert [capture for capture in sorted(used) if f"`@{capture}`" not in page] == []
    assert all(f"`@{kind}`" in page for kind in Kind if kind not in (Kind.FILE, Kind.DIRECTORY))


def test_kinds_are_in_the_schema_of_json() -> None:
    schema = json.loads((ROOT / "docs/search.schema.json").read_text("utf-8"))
    listed = schema["$defs"]["result"]["properties"]["kind"]["enum"]
    assert sorted(listed) == sorted(kind.value for kind in Kind if kind is not Kind.DIRECTORY)


def list_commands(command: Command, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Command]]:
    if not isinstance(command, Group):
        yield words, command
        return
    with Context(command) as context:
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from list_commands(child, (*words, name))


def test_the_json_of_every_command_is_documented() -> None:
    page = (ROOT / "docs/json.md").read_text("utf-8")
    headings = set(re.findall(r"\w+", " ".join(re.findall(r"^## dowse (.*)$", page, re.M))))
    with_json = [
        words
        for words, command in list_commands(cli)
        if any("--json" in option.opts for option in command.params)
    ]
    assert len(with_json) > 30
    assert [
        words for words in with_json if words[0] not in headings and f"`dowse {words[0]}`" not in page
    ] == []


DEFAULT_COMMANDS = {"cli": "search", "eval": "run"}


def find_command(words: list[str]) -> tuple[Command, list[str]]:
    """The command that a line runs, and its arguments."""
    command: Command = cli
    while isinstance(command, Group):
        with Context(command) as context:
            child = command.get_command(context, words[0])
            if child is None:
                child = command.get_command(context, DEFAULT_COMMANDS[str(command.name)])
                words = ["", *words]
            assert child is not None
        command, words = child, words[1:]
    return command, words


WRITTEN_PAGES = [page for page in PAGES if page.name != "cli.md"]


@pytest.mark.parametrize("page", WRITTEN_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_commands_that_are_shown_exist_with_their_options(page: Path) -> None:
    for line in re.findall(r"^    dowse (.+)$", page.read_text(encoding="utf-8"), re.M):
        words = shlex.split(line.partition(" | ")[0], comments=True)
        if words[0] in ("--help", "--version"):
            continue
        command, arguments = find_command(words)
        known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
        flags = {word.partition("=")[0] for word in arguments if re.match(r"-[a-z]$|--[a-z]", word)}
        assert flags <= known, line


def test_language_keys_in_examples_exist() -> None:
    page = (ROOT / "docs/languages.md").read_text("utf-8")
    known = {field.name for field in fields(Language)}
    for table in re.findall(r"```toml\n(.*?)```", page, re.S):
        assert set(re.findall(r"^(\w+) =", table, re.M)) <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_modules_that_are_named_exist(page: Path) -> None:
    if page.name in ("modules.md", "CHANGELOG.md") or "retrieval" in page.name:
        return
    text = re.sub(r"```.*?```|^    .*$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    named = set(re.findall(r"`((?:[\w*]+/)*[a-z_]\w+\.py)`", text))
    files = [path.as_posix() for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    missing = {name for name in named if not any(file.endswith(f"/{name}") for file in files)}
    assert missing - SAMPLE_MODULES == set()
