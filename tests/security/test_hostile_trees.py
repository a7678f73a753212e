"""Trees that somebody made to do harm, and everything that dowse can do in them: nothing around them changes."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import httpx2
import pytest
from mcp import Client, StdioServerParameters

from dowse import Engine
from dowse.interfaces.agents.clients import AGENTS
from dowse.interfaces.cli import cli
from tests.agents.clients import command, run
from tests.security.engine_process import CALLS
from tests.security.surroundings import (
    INDEX_FILES,
    VIEW_FILES,
    find_data,
    make_environment,
    make_project,
    run_commands,
    run_process,
    take_snapshot,
    write_files,
)
from tests.security.test_index_folder import CHANGES, alter_texts, make_bomb, make_pipe
from tests.web.serving import BEARER, ServeCommand

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and pipes of another kind")

AGENT_FILES = sorted(
    {agent.project for agent in AGENTS.values() if agent.project}
    | {agent.instructions_file for agent in AGENTS.values()}
    | {".claude/skills/dowse/SKILL.md"}
)

COMMANDS: Mapping[str, Sequence[Sequence[str]]] = {
    "search": [
        ["retry_with_backoff"],
        ["/growing/", "--with", "deps"],
        ["retry", "--near", "src/retry.py:4"],
    ],
    "locate": [[]],
    "explain": [["retry", "src/retry.py"]],
    "related": [["src/retry.py"]],
    "entities": [["retry"]],
    "show": [["src/retry.py:retry_with_backoff"]],
    "callers": [["retry_with_backoff"]],
    "callees": [["retry_with_backoff"]],
    "deps": [["src/retry.py"]],
    "impact": [["src/retry.py"]],
    "traverse": [["src/retry.py"]],
    "hierarchy": [["Token"]],
    "path": [["tests/test_retry.py", "src/retry.py"]],
    "hubs": [[]],
    "cycles": [[]],
    "affected": [[], ["--since", "HEAD"]],
    "history": [["retry"]],
    "blame": [["src/retry.py:retry_with_backoff"]],
    "open": [["1"]],
    "help": [[], ["search"]],
    "index": [[]],
    "status": [[], ["--why", "src/retry.py"]],
    "list": [[], ["--skipped"]],
    "languages": [[]],
    "eval run": [
        ["{given}/truth.jsonl", "--save", "{given}/saved.json"],
        ["--mine", "2", "--from", "symbols"],
    ],
    "eval diff": [["{given}/saved.json", "{given}/saved.json"]],
    "terms check": [[], ["{given}/terms.json"]],
    "terms try": [["retry"]],
    "terms validate": [["{given}/terms.json", "{given}/truth.jsonl"]],
    "terms suggest": [["--out", "suggested.json"]],
    "store init": [[]],
    "store status": [[]],
    "store gc": [[]],
    "store copy": [["embedded", "memory"]],
    "config show": [[]],
    "config path": [[]],
    "doctor": [[]],
    "completion": [["bash"]],
    "shell": [[]],
    "watch": [[]],
    "agent config": [["claude-code", "--project"]],
    "agent hook": [[]],
    "agent plugin": [["plugin"], ["plugin", "--remove"]],
    "agent stats": [[]],
    "agent install": [
        *(
            [name, "--project", "--instructions", "--skill"]
            for name, agent in AGENTS.items()
            if agent.project
        ),
        ["claude-code", "--dry-run"],
    ],
    "agent uninstall": [
        [name, "--project", "--instructions", "--skill"] for name, agent in AGENTS.items() if agent.project
    ],
    "hook install": [[]],
    "hook status": [[]],
    "hook uninstall": [[]],
    "trust": [[], ["--fresh"]],
    "clear": [["--yes"]],
    "mcp": [],  # driven by a client, below
    "serve": [],  # asked over HTTP, below
}
"""What every command is called with, in this order; those that write beside the index or delete it come last."""

TOOLS: Mapping[str, Mapping[str, Any]] = {
    "search": {"query": "retry_with_backoff"},
    "read": {"target": ["src/retry.py", "retry_with_backoff"]},
    "graph": {"ask": "callers", "target": "retry_with_backoff"},
    "locate": {"text": "retry_with_backoff failed at src/retry.py:4"},
    "changes": {"ask": "blame", "target": "src/retry.py"},
    "status": {"query": "retry", "target": "src/retry.py"},
}


# --- the corpus ---


def link_everything(tree: Path, home: Path) -> None:
    """Put a link out of the tree wherever dowse reads or writes a file."""
    neighbour = tree.parent / "neighbour"
    (tree / ".dowse").mkdir()
    for name in (*INDEX_FILES, "views", "lexical", "vectors"):
        (tree / ".dowse" / name).symlink_to(neighbour / name)
    for name in (".gitignore", ".dowseignore", "src/out.py", "suggested.json"):
        (tree / name).symlink_to(neighbour / "private")
    (tree / "src" / "out").symlink_to(neighbour)
    link_agent_files(tree, neighbour / "private")


def link_to_nothing(tree: Path, home: Path) -> None:
    """Put links that lead to files that would be made outside by whoever writes through them."""
    made = tree.parent / "neighbour" / "made"
    (tree / ".dowse").symlink_to(made)
    for name in ("suggested.json", "dowse-truth-symbols-2-seed0.jsonl"):
        (tree / name).symlink_to(made)
    link_agent_files(tree, made)


def link_agent_files(tree: Path, target: Path) -> None:
    for name in AGENT_FILES:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).symlink_to(target)


def link_folders(tree: Path, home: Path) -> None:
    """Put links in place of whole folders that dowse writes into."""
    neighbour = tree.parent / "neighbour"
    (tree / ".dowse").symlink_to(neighbour)
    for name in sorted({name.split("/")[0] for name in AGENT_FILES if "/" in name}):
        (tree / name).symlink_to(neighbour)
    make_git(tree)
    for path in (tree / ".git" / "hooks").iterdir():
        path.unlink()
    (tree / ".git" / "hooks").rmdir()
    (tree / ".git" / "hooks").symlink_to(neighbour)


def make_git(tree: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    (tree / ".git" / "hooks").mkdir(exist_ok=True)


def link_hooks(tree: Path, home: Path) -> None:
    """Put links in place of hooks, to a script and to nothing."""
    make_git(tree)
    script = tree.parent / "neighbour" / "script"
    script.write_text("#!/bin/sh\necho mine\n", encoding="utf-8")
    (tree / ".git" / "hooks" / "post-commit").symlink_to(script)
    (tree / ".git" / "hooks" / "post-merge").symlink_to(tree.parent / "neighbour" / "made")


def bring_index(tree: Path, home: Path) -> None:
    """Bring an index that another user made, with texts of their own and values that unpack to gigabytes."""
    run_commands(tree, home, [["index"]], DOWSE_STATE_DIR=str(home / "other"))
    data = find_data(tree)
    alter_texts(data, covered=True)
    with closing(sqlite3.connect(data / "catalogue.db")) as rows:
        rows.execute("UPDATE mentions SET packed = ?", (make_bomb(),))
        rows.commit()
    write_files(tree / ".dowse", INDEX_FILES | {f"views/1/{name}": data for name, data in VIEW_FILES.items()})


def alter_index(tree: Path, home: Path) -> None:
    """Change the user's own index: other texts, paths that lead out, and triggers."""
    run_commands(tree, home, [["index"], ["hubs"]])
    data = find_data(tree)
    alter_texts(data, covered=False)
    with closing(sqlite3.connect(data / "catalogue.db")) as rows:
        rows.execute("UPDATE files SET path = '../neighbour/private' WHERE path LIKE 'tests/%'")
        rows.executescript(CHANGES["trigger"])


def misplace_files(tree: Path, home: Path) -> None:
    """Change the paths in the user's own index, so that they lead out of the tree."""
    run_commands(tree, home, [["index"], ["hubs"]])
    with closing(sqlite3.connect(find_data(tree) / "catalogue.db")) as rows:
        rows.execute("UPDATE files SET path = '../neighbour/main.py' WHERE path LIKE 'tests/%'")
        rows.execute("UPDATE views SET root = root || '/'")
        rows.execute("INSERT INTO views (root, generation) VALUES (?, 1)", (str(tree.parent / "neighbour"),))
        rows.commit()


def pipe_everything(tree: Path, home: Path) -> None:
    """Put a pipe wherever dowse reads a file."""
    make_git(tree)
    names = (".gitignore", ".dowseignore", "src/pipe.py", "README.md", *AGENT_FILES, "suggested.json")
    for name in (*names, "dowse-truth-symbols-2-seed0.jsonl", *(f".dowse/{name}" for name in INDEX_FILES)):
        make_pipe(tree / name)
    for name in ("HEAD", "index", "config", "hooks/post-commit", "info/exclude", "packed-refs"):
        make_pipe(tree / ".git" / name)


def pipe_settings(tree: Path, home: Path) -> None:
    """Put pipes in place of the settings, and of the file that says which repository this is."""
    make_pipe(tree / "dowse.toml")
    make_pipe(tree / ".git")


def reach_out(tree: Path, home: Path) -> None:
    """Set all that leads out of the tree and is only noted."""
    settings = 'index_dir = "../neighbour"\nsearch_log = true\ntrust_index = true\nworkers = 100_000\n'
    settings += '[repositories]\nother = "../neighbour"\n'
    (tree / "dowse.toml").write_text(settings, encoding="utf-8")
    (tree / ".git").write_text("gitdir: ../neighbour/.git/worktrees/x\n", encoding="utf-8")


def name_other_files(tree: Path, home: Path) -> None:
    """Set a file outside as one that is read."""
    settings = 'terms = "../neighbour/private"\nindex_dir = "src"\n'
    (tree / "dowse.toml").write_text(settings, encoding="utf-8")


CORPUS: Sequence[Callable[[Path, Path], None]] = (
    link_everything,
    link_to_nothing,
    link_folders,
    link_hooks,
    bring_index,
    alter_index,
    misplace_files,
    pipe_everything,
    pipe_settings,
    reach_out,
    name_other_files,
)


@pytest.fixture(params=CORPUS, ids=lambda build: build.__name__)
def tree(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> Path:
    folder = make_project(tmp_path / "around")
    request.param(folder, home)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def given(home: Path) -> Path:
    """Make the files that a user gives to commands."""
    folder = home / "given"
    truth = {"query": "retry", "relevant": [{"path": "src/retry.py"}]}
    terms = {"entries": [{"canonical": "retry", "synonyms": ["again"]}]}
    files = {"truth.jsonl": truth, "terms.json": terms}
    write_files(folder, {name: json.dumps(value).encode() for name, value in files.items()})
    return folder


@pytest.fixture
def unchanged(tree: Path, home: Path, given: Path) -> Iterator[None]:
    """Make sure that nothing changes but the tree, and what dowse keeps for the user or was told to write."""
    without = [tree, home / "state", home / "cache", given]
    before = take_snapshot(home.parent, without)
    yield
    assert take_snapshot(home.parent, without) == before


# --- everything that dowse can do ---


def list_commands(group: click.Group, *before: str) -> Iterator[str]:
    """List the commands of the program, those in groups too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from list_commands(found, *before, name)
        else:
            yield " ".join((*before, name))


def test_the_tables_are_complete() -> None:
    assert sorted(COMMANDS) == sorted(list_commands(cli))
    assert set(CALLS) == {name for name in dir(Engine) if not name.startswith("_")}


@pytest.mark.usefixtures("unchanged")
def test_commands_change_nothing_around_the_tree(tree: Path, home: Path, given: Path) -> None:
    commands = [
        [*name.split(), *(arg.format(given=given) for arg in args)]
        for name, calls in COMMANDS.items()
        for args in calls
    ]
    told = run_commands(tree, home, commands, stdin="retry_with_backoff\n")
    internal = [(args, one) for args, one in zip(commands, told, strict=True) if "internal error" in one.text]
    assert not internal
    assert not [args for args, one in zip(commands, told, strict=True) if "only mine" in one.text]


@pytest.mark.usefixtures("unchanged")
def test_the_python_api_changes_nothing_around_the_tree(tree: Path, home: Path) -> None:
    lines = run_process("engine_process", [str(tree)], "", home)
    assert [json.loads(line)[0] for line in lines] == list(CALLS)


@pytest.mark.usefixtures("unchanged")
def test_pages_change_nothing_around_the_tree(tree: Path, home: Path) -> None:
    paths = (
        "/?q=retry_with_backoff",
        "/index",
        "/skipped",
        "/graph",
        "/api/v1/search?query=retry",
        "/api/v1/status",
    )
    with ServeCommand(tree, home) as server:
        for path in paths:
            answered = httpx2.get(f"{server.url}{path}", headers=BEARER | {"Accept": "text/html"}, timeout=60)
            assert answered.status_code in (200, 400, 503), answered.text


@pytest.mark.usefixtures("unchanged")
def test_agents_change_nothing_around_the_tree(tree: Path, home: Path) -> None:
    first, *rest = command()
    server = StdioServerParameters(command=first, args=rest, cwd=tree, env=make_environment(home))

    async def work() -> None:
        async with Client(server) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            assert sorted(tools) == sorted(TOOLS)
            for tool, arguments in TOOLS.items():
                answer = await client.call_tool(tool, dict(arguments))
                assert "internal error" not in str(answer.content)
                assert "only mine" not in str(answer.content)

    run(work)


def test_links_that_stay_in_the_tree_are_followed(tmp_path: Path, home: Path) -> None:
    tree = make_project(tmp_path / "around")
    make_git(tree)
    script = tree / "scripts" / "post-commit"
    write_files(tree, {"AGENTS.md": b"# Here\n", "scripts/post-commit": b"#!/bin/sh\necho mine\n"})
    (tree / "CLAUDE.md").symlink_to("AGENTS.md")
    (tree / ".git" / "hooks" / "post-commit").unlink(missing_ok=True)
    (tree / ".git" / "hooks" / "post-commit").symlink_to("../../scripts/post-commit")
    commands = [["agent", "install", "claude-code", "--project", "--instructions"], ["hook", "install"]]
    assert [told.code for told in run_commands(tree, home, commands)] == [0, 0]
    assert "dowse" in (tree / "AGENTS.md").read_text(encoding="utf-8")
    assert (tree / "CLAUDE.md").is_symlink()
    assert "dowse" in script.read_text(encoding="utf-8")
