"""The command line from end to end: the real command, in a process of its own, on real trees."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from filelock import FileLock
from referencing import Registry, Resource

from dowse.interfaces import progress, render, text_layout, theme
from dowse.interfaces.cli import COMMANDS, CommandRow, add_default_command, cli
from dowse.interfaces.cli.run_command import run
from dowse.search.output.token_estimate import estimate_tokens
from dowse.types.answers import SearchResponse, SearchResult
from dowse.types.queries import Query

DOCS = Path(__file__).parents[1] / "docs"
WINDOWS = sys.platform == "win32"
HEAVY = {
    "numpy",
    "tantivy",
    "tree_sitter",
    "rich",
    "sqlite3",
    "pygments",
    "pathspec",
    "filelock",
    "dowse.engine",
}

RETRY = '''"""Trying again."""


def retry_with_backoff(call, attempts=3):
    """Call again, with growing pauses, until it works."""
    for attempt in range(attempts):
        try:
            return call()
        except OSError:
            pause(2**attempt)
'''

SESSION = '''class Token:
    """What proves who you are."""

    def refresh(self):
        return self.renew()
'''

SERVER = """package server

// Listen waits for connections and hands each to the retry queue.
func Listen(port int) error {
    return nil
}
"""

TEST = """from retry import retry_with_backoff


def test_retry_gives_up():
    assert retry_with_backoff(lambda: 1) == 1
"""


def make_tree(folder: Path) -> Path:
    """A small project in two languages, with tests and something to ignore."""
    for path, text in {
        "src/retry.py": RETRY,
        "src/session.py": SESSION,
        "src/server.go": SERVER,
        "tests/test_retry.py": TEST,
        "README.md": "# Demo\n\nHow to retry a call.\n",
        ".gitignore": "*.log\n",
        "noise.log": "retry retry retry\n",
        "picture.bin": "\0\1\2",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty home: nothing of the machine's own settings takes part."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Path:
    """A project with an index, for tests that only read."""
    folder = make_tree(tmp_path_factory.mktemp("tree"))
    assert Shell(folder, home)("index").returncode == 0
    return folder


class Shell:
    """Calls dowse in a folder."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("DOWSE_", "NO_COLOR"))}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)  # a call takes half as long with compiled modules
        self.environment = kept | {"HOME": str(home), "USERPROFILE": str(home), "TERM": "xterm"}
        self.environment |= {"PYTHONPYCACHEPREFIX": str(home / "compiled")}
        self.environment |= {"XDG_CONFIG_HOME": str(home / "config"), "DOWSE_CACHE_DIR": str(home / "cache")}
        self.environment |= {"DOWSE_STATE_DIR": str(home / "state")}

    @property
    def data(self) -> Path:
        """The folder with the files of the index, which is there."""
        (data,) = (self.folder / ".dowse").iterdir()
        return data

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "dowse", *args]

    def __call__(
        self, *args: str, cwd: Path | None = None, stdin: bytes = b"", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(*args),
            cwd=cwd or self.folder,
            input=stdin,
            capture_output=True,
            env=self.environment | environment,
            timeout=60,
            check=False,
        )
        out, err = (stream.decode("utf-8").replace("\r\n", "\n") for stream in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def json(self, *args: str, **options: Any) -> Any:
        done = self(*args, "--json", **options)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def dowse(tree: Path, home: Path) -> Shell:
    """dowse in the indexed project."""
    return Shell(tree, home)


@pytest.fixture
def fresh(tmp_path: Path, home: Path) -> Shell:
    """dowse in a project of its own, without an index."""
    return Shell(make_tree(tmp_path / "project"), home)


# --- starting ------------------------------------------------------------------------------------


def imported(shell: Shell, *args: str) -> set[str]:
    """Modules that a call imports, and the packages they are in."""
    command = [sys.executable, "-X", "importtime", "-m", "dowse", *args]
    done = subprocess.run(
        command, cwd=shell.folder, capture_output=True, text=True, env=shell.environment, check=True
    )
    names = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line]
    return {".".join(name.split(".")[:depth]) for name in names for depth in (1, 2)}


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_load_no_part_of_the_engine(dowse: Shell, flag: str) -> None:
    assert imported(dowse, flag).isdisjoint(HEAVY | {"dowse.settings", "dowse.types"})


def test_a_warm_piped_search_loads_only_what_it_needs(dowse: Shell) -> None:
    dowse("search", "retry")  # checks once more what was written just before it was indexed
    loaded = imported(dowse, "search", "retry")
    assert {"tantivy", "sqlite3", "simsimd"} <= loaded, "the semantic channel runs too"
    assert loaded.isdisjoint(
        {"rich", "numpy", "tree_sitter", "pathspec", "filelock", "pygments", "platformdirs"}
    )


def test_the_table_says_what_each_command_says(dowse: Shell) -> None:
    with click.Context(cli, info_name="dowse") as ctx:
        for name, row in COMMANDS.items():
            command = cli.get_command(ctx, name)
            assert command is not None
            assert command.name == name
            assert command.get_short_help_str(200).rstrip(".") == row.summary.rstrip(".")


INDEX_FLAGS = {"--root", "--index-dir", "--store", "--embedder", "--allow-home"}
"""What every command that opens the index of a tree takes."""

FLAGS_OF_OTHERS: dict[str, set[str]] = {
    "languages": {"--root", "--json"},  # the next ones read the settings of a tree, and no index
    "config show": {"--root", "--index-dir", "--store", "--embedder", "--json"},
    "config path": {"--root"},
    "terms try": {"--root", "--json"},
    "store init": {"--root", "--store", "--json"},  # a server, whatever the tree
    "store status": {"--root", "--store", "--json"},
    "store gc": {"--root", "--store", "--json"},
    "mcp": INDEX_FLAGS,  # never ends with an answer
    "help": set(),
    "shell": INDEX_FLAGS,  # a conversation
    "watch": INDEX_FLAGS,  # never ends
    "serve": INDEX_FLAGS,
    "agent install": {"--root"},  # files of other programs
    "agent uninstall": {"--root"},
    "agent config": {"--root"},
    "agent hook": set(),  # an agent starts it
    "agent plugin": set(),
    "agent stats": {"--json"},  # of all trees
    "hook install": {"--root"},
    "hook status": {"--root"},
    "hook uninstall": {"--root"},
    "eval diff": {"--json"},  # two files
    "open": {"--root"},  # the last answer
    "completion": set(),
}
"""Shared flags of the commands that do not answer from an index, or not with one object."""


def list_commands(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """List all commands that run something, by their whole names."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    ctx = click.Context(command)
    for part in command.list_commands(ctx):
        found = command.get_command(ctx, part)
        assert found
        yield from list_commands(found, f"{name} {part}".strip())


def test_flags_are_the_same_on_every_command() -> None:
    shared = INDEX_FLAGS | {"--json"}
    found = {
        name: shared & {flag for parameter in command.params for flag in parameter.opts}
        for name, command in list_commands(cli)
    }
    assert found == {name: FLAGS_OF_OTHERS.get(name, shared) for name in found}
    assert FLAGS_OF_OTHERS.keys() <= found.keys()


FILTERS = {"--lang", "--path", "--not-path", "--kind", "--name", "--tests"}
RANKING = {"--limit", "--min-relevance", "--all", "--near", "--hybrid", "--no-refresh"}

OTHER_FILTERS = {
    "affected": {"--tests"},  # prints the tests alone
    "traverse": {"--kind"},  # of nodes
    "hubs": {"--kind"},
    "history": {"--path"},  # of what commits change
}

QUERY_COMMANDS = ("search", "locate", "explain")

FRESH_COMMANDS = {
    *QUERY_COMMANDS, "related", "entities", "show", "shell", "affected",
    "callers", "callees", "deps", "impact", "traverse", "hierarchy", "path", "hubs", "cycles",
}  # fmt: skip
"""Commands that bring the index up to date before they answer."""

OWN_WORDS = {
    "--path",  # a glob of files, or what commits change
    "--since",  # a revision, or a date
    "--save",
    "--limit",  # says what is counted, and its default
    "--explain",  # says what was read
    "--budget",
    "--rebuild",
    "--yes",
    "--metrics",
    "--instructions",
    "--skill",
    "--repo",
    "--out",
    "--context",
    "--tests",
    "--host",  # says when it counts
    "--port",
    "--no-token",
}
"""Flags that mean the same, described in the words of their command."""


def list_flags() -> dict[str, dict[str, click.Option]]:
    """List the options of every command, by the long flag."""
    return {
        name: {
            parameter.opts[-1]: parameter
            for parameter in command.params
            if isinstance(parameter, click.Option)
        }
        for name, command in list_commands(cli)
    }


def test_whatever_searches_takes_the_same_filters() -> None:
    found = {name: FILTERS & flags.keys() for name, flags in list_flags().items() if FILTERS & flags.keys()}
    all_filters = dict.fromkeys((*QUERY_COMMANDS, "related", "entities"), FILTERS)
    assert found == all_filters | OTHER_FILTERS


def test_whatever_ranks_a_query_takes_the_same_flags() -> None:
    flags = list_flags()
    for name in QUERY_COMMANDS:
        assert flags[name].keys() >= RANKING, name
    assert {name for name in flags if "--no-refresh" in flags[name]} == FRESH_COMMANDS
    assert flags["locate"].keys() == flags["search"].keys()


def test_a_flag_is_spelled_and_described_in_one_way() -> None:
    spelled: dict[str, set[object]] = {}
    for flags in list_flags().values():
        for flag, option in flags.items():
            words = None if flag in OWN_WORDS else (option.metavar, option.help)
            spelled.setdefault(flag, set()).add((tuple(option.opts), words))
    assert {flag: ways for flag, ways in spelled.items() if len(ways) > 1} == {}


def test_every_command_is_documented() -> None:
    spec = importlib.util.spec_from_file_location("generate_cli", DOCS / "generate_cli.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == module.page(), "run 'make docs'"


def test_no_command_at_all_shows_the_help(dowse: Shell) -> None:
    done = dowse()
    assert done.returncode == 2
    assert "Search:" in done.stdout and "Understand:" in done.stdout
    assert dowse("help").stdout == done.stdout
    assert dowse("help", "hook", "status").stdout.startswith("Usage: dowse hook status")
    assert "did you mean 'search'?" in dowse("help", "serch").stderr


@pytest.mark.parametrize("excluded", ["-path:src", "-language:python,go", "-kind:function", "-is:source"])
def test_what_a_question_rules_out_is_no_option(dowse: Shell, excluded: str) -> None:
    assert "src/retry.py" in dowse("search", "retry", "--files").stdout.replace("\\", "/")
    for args in (["search", "retry", excluded], [excluded, "retry"], ["retry", excluded, "-n", "20"]):
        done = dowse(*args, "--files")
        assert done.returncode in (0, 1), done.stderr
        assert "retry.py" not in done.stdout.replace("test_retry.py", "")
    assert "filtered out" in dowse("explain", "retry", excluded, "src/retry.py").stdout
    assert dowse("search", "retry", "-l", "py", "--", excluded, "--files").returncode in (0, 1)


def test_a_question_with_nothing_but_exclusions_lists_the_rest(dowse: Shell) -> None:
    listed = dowse("search", "-path:tests", "--files").stdout.split()
    assert listed == sorted(listed)
    assert "src/retry.py" in "".join(listed)


# --- which command -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (["retry"], ["search", "retry"]),
        (["retry", "backoff"], ["search", "retry", "backoff"]),
        (["-n", "1", "retry"], ["search", "-n", "1", "retry"]),
        (["--debug", "retry"], ["--debug", "search", "retry"]),
        (["--", "index"], ["search", "--", "index"]),
        (["index"], ["index"]),
        (["search", "--", "index"], ["search", "--", "index"]),
        (["--help"], ["--help"]),
        ([], []),
    ],
)
def test_what_is_no_command_is_a_search(args: list[str], meant: list[str]) -> None:
    assert add_default_command(args) == meant


def test_a_question_needs_no_command(dowse: Shell) -> None:
    asked = [
        dowse.json(*args)
        for args in (["search", "retry", "backoff"], ["retry", "backoff"], ["retry backoff"])
    ]
    assert [answer["query"]["text"] for answer in asked] == ["retry backoff"] * 3
    assert asked[0]["results"] == asked[1]["results"] == asked[2]["results"]


def test_a_command_can_be_searched_for(dowse: Shell) -> None:
    done = dowse("search", "--json", "--", "index")
    assert json.loads(done.stdout)["query"]["text"] == "index"


def test_a_mistyped_command_is_mentioned(dowse: Shell) -> None:
    assert "the command is 'dowse status'" in dowse("statsu").stderr
    assert "the command is" not in dowse("search", "statsu").stderr


# --- the answer ----------------------------------------------------------------------------------


def test_plain_output_is_for_scripts(dowse: Shell) -> None:
    done = dowse("search", "retry_with_backoff")
    assert done.returncode == 0
    first, *rest = done.stdout.splitlines()
    place = re.escape(str(Path("src/retry.py")))
    assert re.fullmatch(place + r":\d+-\d+: retry_with_backoff \(function\) (strong|likely|weak)", first)
    assert "   4  def retry_with_backoff(call, attempts=3):" in rest
    assert all(not line or re.match(r"(  +\d+(  |$)|\S+:\d+-\d+: )", line) for line in rest)
    assert "\x1b" not in done.stdout
    assert re.match(r"\d+ hits? in \d+\.\d\d s", done.stderr)


def test_lines_are_numbered_as_in_the_file(dowse: Shell, tree: Path) -> None:
    lines = (tree / "src/retry.py").read_text(encoding="utf-8").split("\n")
    for result in dowse.json("retry backoff")["results"]:
        if result["path"] == "src/retry.py":
            shown = lines[result["start_line"] - 1 : result["end_line"]]
            assert "\n".join(shown).rstrip() == result["text"].rstrip()


def test_paths_can_be_opened_from_where_one_is(dowse: Shell, tree: Path) -> None:
    inside = dowse("search", "retry_with_backoff", "-n", "1", "--files", cwd=tree / "tests").stdout.strip()
    above = dowse(
        "search", "retry_with_backoff", "-n", "1", "--files", "-p", tree.name, cwd=tree.parent
    ).stdout.strip()
    assert (tree / "tests" / inside).resolve() == (tree / "src/retry.py").resolve()
    assert Path(above) == Path(tree.name, "src/retry.py")


def test_paths_of_a_tree_elsewhere_are_absolute(dowse: Shell, tree: Path, tmp_path: Path) -> None:
    found = dowse(
        "search", "retry_with_backoff", "-n", "1", "--files", "-p", str(tree), cwd=tmp_path
    ).stdout.strip()
    assert Path(found) == tree.resolve() / "src/retry.py"


def test_files_are_listed_once(dowse: Shell) -> None:
    paths = dowse("search", "retry", "--files").stdout.split("\n")[:-1]
    assert len(paths) == len(set(paths)) > 1
    assert str(Path("src/retry.py")) in paths


def test_a_question_from_standard_input(dowse: Shell) -> None:
    answer = dowse.json("search", "-", stdin=b"where is the token\0 refreshed \xff")
    assert answer["query"]["text"] == "where is the token\0 refreshed \ufffd"
    assert answer["results"][0]["path"] == "src/session.py"


def test_filters(dowse: Shell, tree: Path) -> None:
    def found(*args: str, cwd: Path | None = None) -> set[str]:
        words_alone = ("search", "retry", "--hybrid", "off", *args)
        return {result["path"] for result in dowse.json(*words_alone, cwd=cwd)["results"]}

    everything = found()
    assert everything >= {"src/retry.py", "src/server.go", "tests/test_retry.py", "README.md"}
    assert found("--lang", "py") == {"src/retry.py", "tests/test_retry.py"}
    assert found("-l", "go", "-l", "markdown") == {"src/server.go", "README.md"}
    assert found("--path", "src") == {"src/retry.py", "src/server.go"}
    assert found("--path", "./", cwd=tree / "src") == {"src/retry.py", "src/server.go"}
    assert found("--path", "./", "--path", "../tests", cwd=tree / "src") == everything - {
        "README.md",
        ".gitignore",
    }
    assert found("--not-path", "*.py") == everything - {"src/retry.py", "tests/test_retry.py"}
    assert found("--tests") == {"tests/test_retry.py"}
    assert found("--no-tests") == everything - {"tests/test_retry.py"}
    assert found("--name", "retry_*") == {"src/retry.py"}
    assert found("--kind", "function", "--lang", "python") == {"src/retry.py", "tests/test_retry.py"}


def test_context_lines(fresh: Shell) -> None:
    body = "".join(f"    step_{number} = compute({number})\n" for number in range(12))
    functions = "\n\n".join(f"def function_{letter}():\n{body}" for letter in "abcdefghijklmn")
    (fresh.folder / "src/many.py").write_text(functions, encoding="utf-8")

    def lines(*args: str) -> tuple[int, int]:
        result = fresh.json("search", "function_g", "-n", "1", *args)["results"][0]
        assert len(result["text"].split("\n")) <= result["end_line"] - result["start_line"] + 1
        return result["start_line"], result["end_line"]

    first, last = lines("-C", "0")
    assert 1 < first < last < len(functions.split("\n"))
    assert lines("-A", "2") == (first, last + 2)
    assert lines("-B", "3") == (first - 3, last)
    assert lines("-C", "1", "-A", "4") == (first - 1, last + 4)
    assert lines("-B", "9999")[0] == 1


FORMS = [
    [],
    ["--files"],
    ["--explain"],
    *(["--detail", level] for level in ("ids", "signature", "preview", "full")),
    ["--budget", "400"],
    ["--budget", "30"],
]
"""Every way of showing hits as text."""


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_paths_are_relative_to_the_working_directory(dowse: Shell, tree: Path, form: list[str]) -> None:
    inside = dowse("search", "retry_with_backoff", *form, cwd=tree / "src").stdout
    assert re.search(r"^retry\.py", inside, re.MULTILINE)
    assert not re.search(r"^src.retry\.py", inside, re.MULTILINE)
    assert re.search(r"^src.retry\.py", dowse("search", "retry_with_backoff", *form).stdout, re.MULTILINE)


def test_hits_of_several_repositories_say_which(fresh: Shell) -> None:
    repositories = ("--repo", str(fresh.folder), "--repo", str(fresh.folder / "src"))
    for form in FORMS:
        text = fresh("search", "retry_with_backoff", *repositories, *form).stdout
        assert form == ["--files"] or re.search(r"^\[\w+\] src.retry\.py:", text, re.MULTILINE)


def test_explain_shows_the_reading_and_every_reason(dowse: Shell) -> None:
    text = dowse("search", "where is retry_with_backoff", "-n", "2", "--explain").stdout
    for expected in (
        "type     symbol",
        "dropped  where, is",
        "channel  lexical: ",
        "channel  dense: ",
        "channel  files: skipped: ",
    ):
        assert expected in text
    first, second = dowse.json("search", "where is retry_with_backoff", "-n", "2")["results"]
    for result in (first, second):
        for reason in result["reasons"]:
            line = f"    {reason['value']:+8.3f} {reason['name']:<13} {reason['detail']}".rstrip()
            assert line in text.split("\n")
        assert f"    {result['score']:+8.3f} score         relevance {result['relevance']:.2f}" in text
    assert text.count("    above the next one by ") == 1, "the last one has none below"


def test_explain_says_what_puts_a_hit_above_the_next_one(dowse: Shell) -> None:
    args = ("search", "where is retry_with_backoff", "-n", "2")
    text = dowse(*args, "--explain").stdout
    first, second = ({r["name"]: r["value"] for r in hit["reasons"]} for hit in dowse.json(*args)["results"])
    gains = {name: first.get(name, 0.0) - second.get(name, 0.0) for name in first | second}
    best = sorted((name for name in gains if gains[name] >= 0.01), key=lambda name: -gains[name])[:3]
    assert best
    assert f"    above the next one by {', '.join(f'{name} {gains[name]:+.2f}' for name in best)}\n" in text


@pytest.mark.parametrize("level", ["ids", "signature", "preview", "full"])
def test_explain_goes_with_every_level_of_detail(dowse: Shell, level: str) -> None:
    args = ("search", "retry_with_backoff", "-n", "1", "--explain")
    plain, text = (dowse(*args, *more).stdout for more in ([], ["--detail", level]))
    reasons = [line for line in plain.split("\n") if re.match(r" +[+-]\d+\.\d{3} \w", line)]
    assert len(reasons) > 1 and text.startswith("type     symbol")
    lines = text.split("\n")
    header = next(i for i, line in enumerate(lines) if line.startswith("src"))
    assert lines[header + 1 : header + 1 + len(reasons)] == reasons
    assert ("return call()" in text) == (level in ("preview", "full"))


def test_explain_goes_with_a_budget(dowse: Shell) -> None:
    done = dowse("search", "retry_with_backoff", "--explain", "--budget", "300")
    assert re.search(
        r"^src.retry\.py:\S+ retry_with_backoff \(function\) \[.*coverage \+\d.* = \d", done.stdout
    )
    assert estimate_tokens(done.stdout.rstrip("\n")) <= 300
    assert done.stderr.startswith("type     symbol")


def test_a_tiny_budget_names_a_whole_place_or_is_an_error(dowse: Shell) -> None:
    for budget in range(1, 40):
        done = dowse("search", "retry_with_backoff", "--budget", str(budget))
        if done.returncode == 0:
            break
        assert (done.returncode, done.stdout) == (2, "")
        assert re.search(rf"a budget of {budget} holds no hit: .* takes \d+ tokens", done.stderr)
    assert re.fullmatch(r"src.retry\.py:4\n", done.stdout)
    assert dowse("search", "retry", "--budget", "1", "--json").returncode == 2


def test_json_keeps_a_budget(dowse: Shell) -> None:
    answer = dowse.json("search", "retry_with_backoff", "--budget", "100")
    assert answer["packed"]["text"].startswith("src/retry.py:4-10 retry_with_backoff")
    assert estimate_tokens(answer["packed"]["text"]) == answer["packed"]["tokens"] <= 100
    assert not any(result["text"] for result in answer["results"])


def test_a_level_of_detail_goes_with_a_budget(dowse: Shell) -> None:
    text = dowse("search", "retry", "--detail", "ids", "--budget", "300").stdout
    assert re.fullmatch(r"(\S+:\d+-\d+\n)+", text)


@pytest.mark.parametrize(
    "options",
    [
        ["--files", "--explain"],
        ["--files", "--detail", "ids"],
        ["--files", "--budget", "9"],
        ["--files", "--with", "deps"],
        ["--budget", "9", "--with", "deps"],
    ],
)
def test_what_would_be_left_out_is_an_error(dowse: Shell, options: list[str]) -> None:
    done = dowse("search", "retry", *options)
    assert done.returncode == 2
    assert "leave one of them out" in done.stderr


def test_a_score_is_what_its_reasons_make(dowse: Shell) -> None:
    answer = dowse.json("retry backoff")
    assert answer["results"]
    for result in answer["results"]:
        assert result["score"] == pytest.approx(sum(reason["value"] for reason in result["reasons"]))


def strict(schema: Any) -> Any:
    """The schema, with fields it does not name forbidden: what is printed must be documented."""
    if isinstance(schema, dict):
        closed = {"additionalProperties": False} if "properties" in schema else {}
        return {key: strict(value) for key, value in schema.items()} | closed
    return [strict(item) for item in schema] if isinstance(schema, list) else schema


def test_json_is_as_documented(dowse: Shell) -> None:
    schema = strict(json.loads((DOCS / "search.schema.json").read_text(encoding="utf-8")))
    jsonschema.Draft202012Validator.check_schema(schema)
    for args in (
        ["retry backoff"],
        ["src/retry.py"],
        ["where is Token.refresh", "--embedder", "hashing"],
        ["zzzqqq"],
    ):
        answer = dowse.json("search", *args, "--index-dir", ".other")
        jsonschema.validate(answer, schema, cls=jsonschema.Draft202012Validator)
    for args in (["search", "retry", "--budget", "100"], ["search", "retry", "--with", "deps"]):
        jsonschema.validate(dowse.json(*args), schema, cls=jsonschema.Draft202012Validator)
    for place in ("src/retry.py", "src/retry.py:5"):
        jsonschema.validate(dowse.json("related", place), schema, cls=jsonschema.Draft202012Validator)
    failure = dowse.json("search", "retry", "--lang", "pyhton")
    jsonschema.validate(failure, schema, cls=jsonschema.Draft202012Validator)
    assert failure["error"]["type"] == "UsageError"
    shutil.rmtree(dowse.folder / ".other")


def names_in(values: Any) -> set[str]:
    """The names of all fields of some values, at any depth."""
    inner = values.values() if isinstance(values, dict) else values if isinstance(values, list) else ()
    return set(values if isinstance(values, dict) else ()).union(*map(names_in, inner))


@pytest.mark.parametrize(
    ("section", "args"),
    [
        ("search", ["search", "retry", "--with", "deps", "--budget", "200"]),
        ("explain", ["explain", "retry", "src/retry.py"]),
        ("entities", ["entities", "retry"]),
        ("show", ["show", "src/session.py:Token"]),
        ("callers", ["callers", "retry_with_backoff"]),
        ("callers", ["impact", "src/retry.py"]),
        ("hubs", ["hubs"]),
        ("cycles", ["cycles"]),
        ("affected", ["affected", "--diff", "-"]),
        ("list", ["list"]),
    ],
)
def test_every_field_of_json_is_named_on_its_page(dowse: Shell, section: str, args: list[str]) -> None:
    sections = (DOCS / "json.md").read_text(encoding="utf-8").split("\n## dowse ")
    also = {"explain": "search", "affected": "callers"}.get(section, section)  # it says what is as there
    page = "".join(text for text in sections if re.match(rf"({section}|{also})\b", text))
    diff = b"--- a/src/retry.py\n+++ b/src/retry.py\n@@ -4,1 +4,1 @@\n-x\n+y\n"
    names = names_in(dowse.json(*args, stdin=diff)) - {"schema"}
    assert names and not {name for name in names if f"`{name}`" not in page}


def test_nothing_good_is_said(dowse: Shell) -> None:
    done = dowse("search", "qqqzzz")
    assert done.returncode == 1
    remarks = done.stderr.splitlines()
    assert remarks[0] == "nothing fits well; these are guesses"
    assert remarks[1].startswith("try ") and "--all" in remarks[1]
    everything = dowse("search", "qqqzzz", "--all")
    assert everything.returncode == 0
    assert len(everything.stdout) > len(done.stdout) > 0
    assert dowse("search", "retry backoff", "--min-relevance", "1").returncode == 1


def test_explaining_a_place(dowse: Shell, tree: Path) -> None:
    found = dowse("explain", "retry", "backoff", "src/retry.py:5")
    assert found.returncode == 0
    assert "src/retry.py:5: in the answer, 1st of" in found.stdout
    assert re.search(r"lexical: [12]\w\w, score", found.stdout)
    assert "time     analyze" in found.stdout
    there = dowse("explain", "retry backoff", "retry.py", cwd=tree / "src")
    assert there.stdout.startswith("retry.py: in the answer, 1st of")
    missing = dowse("explain", "retry backoff lang:go", "src/retry.py")
    assert missing.returncode == 1
    assert "not in the answer: filtered out: lang:go" in missing.stdout
    assert ".gitignore:1 *.log" in dowse("explain", "retry", "noise.log").stdout
    assert dowse("explain", "retry", "src/retry.py:0").returncode == 2


def test_a_cursor_is_relative_to_the_working_directory(dowse: Shell, tree: Path) -> None:
    def near(cursor: str, cwd: Path) -> list[str]:
        done = dowse("search", "retry", "--near", cursor, "--explain", "--json", cwd=cwd)
        assert done.returncode == 0, done.stderr
        hits = json.loads(done.stdout)["results"]
        return [hit["path"] for hit in hits if "proximity" in [reason["name"] for reason in hit["reasons"]]]

    from_root = near("src/retry.py:5", tree)
    assert "src/retry.py" in from_root
    for cursor in ("retry.py:5", "./retry.py:5", "../src/retry.py:5", str(tree / "src/retry.py:5")):
        assert near(cursor, tree / "src") == from_root
    assert dowse("search", "retry", "--near", "src/retry.py:0").returncode == 2


@pytest.mark.parametrize("command", [["explain", "retry"], ["related"]])
def test_a_line_that_a_file_does_not_have_is_an_error(dowse: Shell, command: list[str]) -> None:
    last = RETRY.count("\n")
    assert dowse(*command, f"src/retry.py:{last}").returncode != 2
    done = dowse(*command, f"src/retry.py:{last + 1}")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"src/retry.py has the lines 1-{last}, not {last + 1}" in done.stderr


def test_an_explanation_is_json_as_documented(dowse: Shell) -> None:
    files = [json.loads((DOCS / f"{name}.schema.json").read_text("utf-8")) for name in ("search", "explain")]
    shared = Resource.from_contents(strict(files[0]))
    registry: Registry[Any] = Registry().with_resource("search.schema.json", shared)
    validator = jsonschema.Draft202012Validator(strict(files[1]), registry=registry)
    for place in ("src/retry.py:5", "src/session.py", "noise.log", "src/server.go"):
        validator.validate(dowse.json("explain", "retry backoff lang:py", place))
    validator.validate(dowse.json("explain", "nonsense:field", "src/retry.py"))


def test_the_dense_channel_can_be_switched_on(fresh: Shell) -> None:
    answer = fresh.json("search", "growing pauses", "--embedder", "hashing")
    assert {channel["name"] for channel in answer["channels"] if channel["ran"]} >= {"lexical", "dense"}


def test_a_first_search_says_that_it_indexed(fresh: Shell) -> None:
    assert re.search(r"note: indexed 6 files in .* first: there was no index", fresh("retry").stderr)
    assert "note:" not in fresh("retry").stderr


def test_one_file_is_a_file(tmp_path: Path, home: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/retry.py").write_text(RETRY, encoding="utf-8")
    shell = Shell(tmp_path / "tree", home)
    assert re.search(r"note: indexed 1 file in .* first: there was no index", shell("retry").stderr)
    assert re.search(r"index: current, 1 file, generation", shell("doctor").stdout)


def test_changes_are_seen_unless_that_is_switched_off(fresh: Shell) -> None:
    fresh("index")
    (fresh.folder / "src/new.py").write_text("def brand_new(): pass\n", encoding="utf-8")
    assert fresh("search", "brand_new", "--no-refresh").returncode == 1
    assert fresh("search", "brand_new").returncode == 0
    (fresh.folder / "src/new.py").unlink()
    assert fresh("search", "brand_new").returncode == 1


def test_without_an_embedder_there_is_no_semantic_channel(fresh: Shell) -> None:
    meaning = ("search", "try it once more when it fails", "--json")
    channel = {c["name"]: c for c in json.loads(fresh(*meaning).stdout)["channels"]}["dense"]
    assert channel["ran"] and channel["hits"]
    (fresh.folder / "dowse.toml").write_text('embedder = "none"\n', encoding="utf-8")
    fresh("index")
    channel = {c["name"]: c for c in json.loads(fresh(*meaning).stdout)["channels"]}["dense"]
    assert not channel["ran"] and channel["why_not"] == "no embedder is set"


def test_a_hit_that_changed_says_so(fresh: Shell) -> None:
    fresh("index")
    (fresh.folder / "src/server.go").write_text(SERVER + "\n// more\n", encoding="utf-8")
    assert "[changed since it was indexed]" in fresh("search", "Listen", "--no-refresh", "-n", "1").stdout


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["search"], 2, "the query is empty"),
        (["search", "  "], 2, "the query is empty"),
        (["search", "???", "!!"], 1, "the query has no word to look for"),
        (["search", "x", "--root", "nowhere"], 2, "does not exist: give a folder"),
        (["search", "x", "--root", "README.md"], 2, "is a file: give the folder it is in"),
        (["search", "x", "--root", Path.cwd().anchor], 2, "hardly a source tree"),
        (["search", "x", "--lang", "pyhton"], 2, "unknown language 'pyhton': did you mean 'python'?"),
        (["search", "x", "--kind", "klass"], 2, "unknown kind 'klass': did you mean 'class'?"),
        (["search", "x", "--embedder", "magic"], 2, "unknown embedder 'magic': known are none"),
        (["search", "x", "--limit", "-1"], 2, "-1 is not in the range x>=1 (see 'dowse search --help')"),
        (["search", "x", "--limit", "many"], 2, "'many' is not a valid integer"),
        (["search", "x", "--colour", "never"], 2, "--color"),
        (["search", "qqqzzz", "--hybrid", "off"], 1, "nothing found in"),
        (["index", "nowhere"], 2, "does not exist"),
        (["languages", "klingon"], 2, "unknown language 'klingon'"),
        (["search", "x" * 100_000], 1, "nothing found in"),
        (["config"], 2, "Missing command (see 'dowse config --help')"),
        (["config", "shwo"], 2, "No such command 'shwo'"),
        (["completion", "tcsh"], 2, "'tcsh' is not one of"),
        (["clear"], 2, "say --yes"),
    ],
)
def test_bad_input_gets_a_message_and_a_code(dowse: Shell, args: list[str], code: int, message: str) -> None:
    done = dowse(*args)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def test_a_very_long_question(dowse: Shell) -> None:
    done = dowse("search", "-", stdin=b"retry with growing pauses " * 4000)
    assert done.returncode == 0
    assert "src" in done.stdout


@pytest.mark.skipif(WINDOWS, reason="a folder in use cannot be removed there")
def test_a_working_directory_that_is_gone(dowse: Shell, tree: Path, tmp_path: Path) -> None:
    def removed(*args: str) -> subprocess.CompletedProcess[str]:
        gone = tmp_path / "gone"
        gone.mkdir()
        script = ["sh", "-c", 'rmdir "$0" && exec "$@"', str(gone), *dowse.command(*args)]
        return subprocess.run(
            script, cwd=gone, env=dowse.environment, capture_output=True, text=True, check=False
        )

    assert "the working directory does not exist any more" in removed("search", "retry").stderr
    found = removed("search", "retry_with_backoff", "-n", "1", "--files", "-p", str(tree)).stdout.strip()
    assert Path(found) == tree.resolve() / "src/retry.py"


def test_the_home_folder_is_searched_only_if_one_insists(home: Path) -> None:
    shell = Shell(home, home)
    (home / "notes.txt").write_text("peculiar\n", encoding="utf-8")
    assert "--allow-home if you mean it" in shell("search", "peculiar").stderr
    assert shell("search", "peculiar", "--allow-home").returncode == 0
    assert shell("clear", "--yes", "--allow-home").returncode == 0


@pytest.mark.skipif(WINDOWS, reason="arguments are Unicode on Windows")
def test_a_question_that_is_not_unicode(dowse: Shell) -> None:
    done = subprocess.run(
        [*map(os.fsencode, dowse.command("search")), b"retry \xff\xfe", b"--json"],
        cwd=dowse.folder, env=dowse.environment, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"]


def test_errors_are_json_too(dowse: Shell) -> None:
    done = dowse("search", "x", "--root", "nowhere", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["type"] == "RootError"
    assert done.stderr.startswith("dowse: ")
    assert dowse.json("search", "x", "--nonsense")["error"]["type"] == "UsageError"


@click.command()
def broken() -> None:
    """Fail as nobody expected."""
    raise RuntimeError("two\nlines")


def test_an_unexpected_error_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "dowse.interfaces.cli.broken", sys.modules[__name__])
    monkeypatch.setitem(COMMANDS, "broken", CommandRow("broken:broken", "Fail as nobody expected."))
    assert run(["broken"]) == 4
    message = "dowse: internal error: RuntimeError: two lines (run with --debug for the trace)\n"
    assert capsys.readouterr().err == message
    assert run(["--debug", "broken"]) == 4
    assert "Traceback" in capsys.readouterr().err


# --- indexing ------------------------------------------------------------------------------------


def test_an_indexing_run_says_what_it_did(fresh: Shell) -> None:
    (fresh.folder / "key.py").write_text('AWS = "AKIAIOSFODNN7EXAMPLF"\n', encoding="utf-8")
    done = fresh("index")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"indexed 7 of 9 files in .* s: 7 added, 0 changed, 0 unchanged, 0 removed", lines[0])
    assert lines[1].startswith("skipped 2 files: ")
    assert "1 ignored by an ignore file" in lines[1]
    assert "1 binary" in lines[1]
    assert re.fullmatch(r"skipped 1 folder: 1 excluded by default", lines[2])
    assert re.fullmatch(r"parsed: (\d+ ok|\d+ no grammar)(, \d+ .*)*", lines[3])
    assert lines[4] == "masked 1 secret:"
    assert lines[5].startswith("  key.py:1 (")
    assert lines[-1].startswith(f"index: {fresh.folder.resolve() / '.dowse'} (")


def test_a_second_run_says_what_changed(fresh: Shell) -> None:
    fresh("index")
    time.sleep(0.1)
    (fresh.folder / "src/retry.py").write_text(RETRY + "\nx = 1\n", encoding="utf-8")
    (fresh.folder / "README.md").unlink()
    report = fresh.json("index")["report"]
    assert {key: report[key] for key in ("added", "changed", "unchanged", "removed")} == {
        "added": 0, "changed": 1, "unchanged": 4, "removed": 1,
    }  # fmt: skip


def test_nothing_to_index_is_said_loudly(tmp_path: Path, home: Path) -> None:
    shell = Shell(tmp_path, home)
    done = shell("index")
    assert done.returncode == 1
    assert "nothing to index in" in done.stderr
    assert done.stdout == ""
    assert "is empty: 'dowse index' says why" in shell("search", "x").stderr
    (tmp_path / "data.bin").write_bytes(b"\0" * 100)
    assert re.search("everything is skipped\nskipped .*1 binary", shell("index").stderr)


def test_flags_that_will_be_forgotten_are_mentioned(fresh: Shell) -> None:
    done = fresh("index", "--include", "*.py", "--chunk-size", "500")
    assert 'include = ["*.py"]; chunk_size = 500' in done.stderr
    assert fresh.json("list", "--index-dir", ".dowse")["files"]
    assert "the index was made with other settings" in fresh("search", "retry").stderr
    assert "note:" not in fresh("index").stderr


def test_include_and_exclude(fresh: Shell) -> None:
    fresh("index", "--include", "*.py", "--exclude", "tests")
    assert [file["path"] for file in fresh.json("list")["files"]] == ["src/retry.py", "src/session.py"]


def test_rebuild_starts_from_nothing(fresh: Shell) -> None:
    fresh("index")
    assert fresh.json("index")["report"]["added"] == 0
    assert fresh.json("index", "--rebuild")["report"]["added"] == 6


@pytest.mark.skipif(WINDOWS or os.geteuid() == 0, reason="permissions do not hold root back")
def test_an_unreadable_file_is_listed(fresh: Shell) -> None:
    (fresh.folder / "src/retry.py").chmod(0)
    done = fresh("index")
    assert done.returncode == 4
    assert "failed 1:\n  src/retry.py: unreadable" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not have such names")
def test_a_file_that_cannot_be_indexed_is_listed(fresh: Shell) -> None:
    with open(os.fsencode(fresh.folder) + b"/bad\xff.py", "wb") as file:
        file.write(b"x = 1\n")
    done = fresh("index")
    assert done.returncode == 4
    assert "failed 1:\n  bad\\xff.py: unreadable (its name is not valid UTF-8)" in done.stdout
    assert fresh("search", "retry").returncode == 0


# --- trouble with the index ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "garbage", [b"this is not a database" * 100, b"", b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_damaged_index_is_repaired_or_named(fresh: Shell, garbage: bytes) -> None:
    fresh("index")
    for file in (fresh.folder / ".dowse").glob("*/catalogue.db*"):
        file.write_bytes(garbage)
    searched = fresh("search", "retry")
    assert searched.returncode in (0, 3)
    if searched.returncode == 3:
        assert "corrupt" in searched.stderr
        assert "dowse index" in searched.stderr
    assert fresh("index", "--rebuild").returncode == 0
    assert fresh("search", "retry").returncode == 0


def test_a_lost_lexical_index_is_repaired(fresh: Shell) -> None:
    fresh("index")
    for folder in (fresh.folder / ".dowse").glob("*/views/*/lexical"):
        shutil.rmtree(folder)
    assert fresh("index").returncode == 0
    assert fresh.json("search", "retry")["results"]


@pytest.mark.skipif(WINDOWS, reason="a file in use cannot be corrupt there")
@pytest.mark.parametrize("pattern", ["lexical/*.idx", "vectors/*.segment"])
def test_damage_within_files_is_repaired_by_who_finds_it(fresh: Shell, pattern: str) -> None:
    def damage() -> None:
        for path in (fresh.folder / ".dowse").glob(f"*/views/1/{pattern}"):
            raw = path.read_bytes()
            end = len(raw) * 3 // 4
            path.write_bytes(bytes(byte ^ 0x55 for byte in raw[:end]) + raw[end:])

    fresh("index")
    damage()
    checked = fresh("doctor")
    assert checked.returncode == 3
    assert "fail parts of the index: corrupt: the " in checked.stdout
    searched = fresh("search", "retry with backoff")
    assert searched.returncode == 0
    assert "note: the index was repaired after this error: the " in searched.stderr
    assert "run 'dowse index'" not in searched.stderr
    assert fresh("doctor").returncode == 0
    damage()
    assert "repaired: the " in fresh("index").stdout
    assert fresh("doctor").returncode == 0
    assert "repaired" not in fresh("search", "retry with backoff").stderr


def test_an_index_of_a_newer_version(fresh: Shell) -> None:
    fresh("index")
    with sqlite3.connect(fresh.data / "catalogue.db") as db:
        db.execute("PRAGMA user_version = 999")
    db.close()
    for command in (["search", "retry"], ["index"], ["status"], ["list"]):
        done = fresh(*command)
        assert (done.returncode, done.stdout) == (3, "")
        assert "newer dowse" in done.stderr
    assert fresh("doctor").returncode == 3
    assert fresh("clear", "--yes").returncode == 0
    assert fresh("search", "retry").returncode == 0


def test_two_writers(fresh: Shell) -> None:
    fresh("index")
    with FileLock(fresh.data / "lock"):
        for args in (["index", "--no-wait"], ["index", "--rebuild", "--no-wait"], ["clear", "--yes"]):
            done = fresh(*args)
            assert done.returncode == 3, args
            assert "another process" in done.stderr
        (fresh.folder / "new.py").write_text("def brand_new(): pass\n", encoding="utf-8")
        searched = fresh("search", "retry")
        assert searched.returncode == 0
        assert "note: answered from the index as it was: another process" in searched.stderr
        assert "warn lock: another process is writing" in fresh("doctor").stdout
        waiting = subprocess.Popen(
            fresh.command("index"), cwd=fresh.folder, env=fresh.environment, stdout=subprocess.PIPE
        )
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(3)
    assert b"1 added" in waiting.communicate(timeout=100)[0] and waiting.returncode == 0
    assert fresh("search", "brand_new").returncode == 0


def test_a_search_waits_for_who_makes_the_first_index(fresh: Shell) -> None:
    fresh("index")
    fresh.data.joinpath("catalogue.db").unlink()
    with ThreadPoolExecutor() as pool:
        with FileLock(fresh.data / "lock"):
            searching = pool.submit(fresh, "search", "retry")
            assert fresh("index", "--no-wait").returncode == 3  # which is told at once
            assert not searching.done()
        assert searching.result().returncode == 0, searching.result().stderr


def test_first_searches_at_once(fresh: Shell) -> None:
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda _: fresh("search", "retry_with_backoff"), range(3)))
    assert [done.returncode for done in found] == [0, 0, 0], [done.stderr for done in found]
    assert all("src/retry.py" in done.stdout for done in found)


def test_the_index_folder_is_a_file(fresh: Shell) -> None:
    for command in (["search", "x"], ["index"], ["index", "--rebuild"]):
        done = fresh(*command, "--index-dir", "README.md")
        assert done.returncode == 3
        assert "README.md" in done.stderr
    assert (fresh.folder / "README.md").read_text(encoding="utf-8").startswith("# Demo")


def test_an_index_folder_is_relative_to_the_working_directory(fresh: Shell, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = fresh("index", "-p", "../project", "--index-dir", "the-index", cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    assert (elsewhere / "the-index").is_dir()
    assert not (fresh.folder / "the-index").exists()
    assert fresh.json("list", "--index-dir", "../elsewhere/the-index")["files"]


def test_nothing_but_an_index_is_ever_removed(fresh: Shell) -> None:
    before = {path: path.read_bytes() for path in fresh.folder.rglob("*") if path.is_file()}
    for command in (["index"], ["index", "--rebuild"], ["search", "x"], ["clear", "--yes"]):
        done = fresh(*command, "--index-dir", ".")
        assert done.returncode == 2
        assert "holds other things than an index" in done.stderr
        assert fresh(*command, "--index-dir", "src").returncode == 2
    assert {path: path.read_bytes() for path in fresh.folder.rglob("*") if path.is_file()} == before


READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
"""Runs a command in a mount namespace of its own, in which the folder cannot be written."""


def can_mount(folder: Path) -> bool:
    if shutil.which("unshare") is None:
        return False
    probe = ["unshare", "--mount", "sh", "-c", READ_ONLY, str(folder), "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def test_a_tree_that_cannot_be_written(fresh: Shell, home: Path) -> None:
    if not can_mount(fresh.folder):
        pytest.skip("nothing can be mounted here")
    command = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        READ_ONLY,
        str(fresh.folder),
        *fresh.command("search", "retry"),
    ]
    for note in (True, False):
        done = subprocess.run(
            command, cwd=fresh.folder, env=fresh.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert f"cannot be written, so the index is in {home / 'cache'}" in done.stderr
        assert ("there was no index" in done.stderr) is note
    assert not (fresh.folder / ".dowse").exists()


def test_ctrl_c_leaves_a_usable_index(fresh: Shell) -> None:
    if WINDOWS:
        pytest.skip("signals work differently there")
    for number in range(3000):
        (fresh.folder / f"src/module_{number}.py").write_text(RETRY.replace("retry", f"retry_{number}") * 3)
    process = subprocess.Popen(
        fresh.command("index"),
        cwd=fresh.folder,
        env=fresh.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while process.poll() is None and not list(fresh.folder.glob(".dowse/*/writer")):
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    assert err.strip() == b"dowse: interrupted; the index keeps what was finished"
    assert fresh("search", "retry_with_backoff", "-n", "1").returncode == 0


# --- output that must not break ------------------------------------------------------------------


@pytest.mark.skipif(WINDOWS, reason="names cannot have these characters there")
def test_strange_names_and_code_do_not_break_the_output(tmp_path: Path, home: Path) -> None:
    shell = Shell(tmp_path, home)
    name = "a\nb\x1b[31m \u202e😀.py"
    (tmp_path / name).write_text('def peculiar():\n    return "\x1b[2J\u202e\x07"\n', encoding="utf-8")
    done = shell("search", "peculiar")
    assert done.returncode == 0
    assert done.stdout.startswith("a\\nb\\x1b[31m \\u202e😀.py:1-2: peculiar (function)")
    assert '    return "\\x1b[2J\\u202e\\x07"' in done.stdout
    assert shell("search", "peculiar", "--files").stdout == "a\\nb\\x1b[31m \\u202e😀.py\n"
    assert shell.json("search", "peculiar")["results"][0]["path"] == name
    assert '"\x1b[2J\u202e\x07"' in shell.json("search", "peculiar")["results"][0]["text"]
    assert "a\\nb\\x1b[31m" in shell("list").stdout
    for form in FORMS:
        text = shell("search", "peculiar", *form).stdout
        assert "a\\nb\\x1b[31m \\u202e😀.py" in text
        assert not {"\x1b", "\u202e", "\x07"} & set(text)


def test_output_is_utf8_whatever_the_locale(fresh: Shell) -> None:
    (fresh.folder / "grüße.py").write_text('def grüße():\n    return "😀"\n', encoding="utf-8")
    done = fresh("search", "grüße", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert "grüße.py" in done.stdout
    assert "😀" in done.stdout


def test_a_very_long_line_is_cut_but_not_in_json(fresh: Shell) -> None:
    (fresh.folder / "long.md").write_text("peculiar " + "word " * 5000 + "\n", encoding="utf-8")
    done = fresh("search", "peculiar", "-n", "1")
    assert max(map(len, done.stdout.splitlines())) < 600
    assert "more characters" in done.stdout
    assert "more characters" not in fresh.json("search", "peculiar", "-n", "1")["results"][0]["text"]


@pytest.mark.parametrize("args", [["search", "retry"], ["--help"], ["languages"]])
def test_a_closed_pipe_is_no_error(dowse: Shell, args: list[str]) -> None:
    process = subprocess.Popen(
        dowse.command(*args),
        cwd=dowse.folder,
        env=dowse.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert "Error" not in errors
    assert "Traceback" not in errors


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_an_error(dowse: Shell) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            dowse.command("search", "retry"), cwd=dowse.folder, env=dowse.environment, stdout=full,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 4
    assert "No space left" in done.stderr
    assert "Exception ignored" not in done.stderr


# --- on a terminal -------------------------------------------------------------------------------


def on_terminal(shell: Shell, *args: str, **environment: str) -> tuple[int, str]:
    """Exit code and output of a call whose output is a terminal (of 80 columns and 24 lines)."""
    import pty

    ours, theirs = pty.openpty()
    environment = {"DOWSE_PAGER": "cat"} | environment
    process = subprocess.Popen(
        shell.command(*args), cwd=shell.folder, env=shell.environment | environment,
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    chunks: list[bytes] = []

    def read() -> None:
        try:
            while chunk := os.read(ours, 65536):
                chunks.append(chunk)
        except OSError:
            return  # how Linux says that the other side is closed

    reader = threading.Thread(target=read)
    reader.start()
    code = process.wait(timeout=60)
    reader.join()
    os.close(ours)
    return code, b"".join(chunks).decode().replace("\r\n", "\n")


needs_terminal = pytest.mark.skipif(WINDOWS, reason="needs a pseudo-terminal")


def without_colour(text: str) -> str:
    return re.sub(
        r"\x1b\[[\d;]*m|(?:\r[^\r\n]*)+\r", "", text
    )  # nor progress, which is drawn on a slow machine


@needs_terminal
def test_a_terminal_gets_colours_and_a_footer(dowse: Shell) -> None:
    code, text = on_terminal(dowse, "search", "retry_with_backoff", "-n", "2")
    assert code == 0
    assert "\x1b[35m" in text
    assert f"def{theme.colour('retry_with_backoff', 'found')}(" in text.replace("\x1b[35mdef\x1b[0m ", "def")
    plain = without_colour(text)
    assert re.match(r" 1  src/retry.py:\d+-\d+  retry_with_backoff  function, (strong|likely|weak)\n", plain)
    assert re.search(r"\n\n2 hits in \d+\.\d\d s · dowse open N opens one( · more: --offset 2)?\n$", plain)


@needs_terminal
def test_colours_can_be_refused(dowse: Shell) -> None:
    for args, environment in (([], {"NO_COLOR": "1"}), (["--color", "never"], {}), ([], {"TERM": "dumb"})):
        _, text = on_terminal(dowse, "search", "retry_with_backoff", *args, **environment)
        assert "\x1b" not in text
        assert "  retry_with_backoff  function, " in text
    assert "\x1b[35m" in on_terminal(dowse, "search", "retry", "--color", "always", NO_COLOR="1")[1]
    assert "\x1b[35m" in dowse("search", "retry", "--color", "always").stdout


@needs_terminal
def test_escape_sequences_of_the_tree_do_not_reach_a_terminal(tmp_path: Path, home: Path) -> None:
    (tmp_path / "a\x1b]0;owned\x07.py").write_text(
        'def peculiar():\n    return "\x1b[2J\x9b2J"\n', encoding="utf-8"
    )
    _, text = on_terminal(Shell(tmp_path, home), "search", "peculiar")
    assert "\x1b" not in without_colour(text)
    assert "\x9b" not in text
    assert "\x07" not in text


@needs_terminal
def test_a_long_hit_is_an_excerpt_on_a_terminal(fresh: Shell) -> None:
    body = "".join(f"    step_{number} = {number}\n" for number in range(30))
    (fresh.folder / "src/long.py").write_text(
        f"def many_steps():\n{body}    return peculiar\n", encoding="utf-8"
    )
    fresh("index")
    _, text = on_terminal(fresh, "search", "many_steps peculiar", "-n", "1")
    plain = without_colour(text)
    assert "return peculiar" in plain
    assert "step_29" not in plain
    assert len(plain.splitlines()) < 15
    assert "step_29" in without_colour(on_terminal(fresh, "search", "many_steps", "-n", "1", "--full")[1])
    assert "step_29" in fresh("search", "many_steps", "-n", "1").stdout


@needs_terminal
def test_clear_asks_on_a_terminal(fresh: Shell) -> None:
    import pty

    fresh("index")
    for answer, code in ((b"n\n", 1), (b"y\n", 0)):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            fresh.command("clear"),
            cwd=fresh.folder,
            env=fresh.environment,
            stdin=theirs,
            stdout=subprocess.PIPE,
        )
        os.write(ours, answer)
        out, _ = process.communicate(timeout=60)
        os.close(ours)
        os.close(theirs)
        assert b"remove the index at" in out
        assert process.returncode == code
        assert (fresh.folder / ".dowse").exists() is (code == 1)


@needs_terminal
def test_progress_is_shown_on_a_terminal_and_only_there(fresh: Shell) -> None:
    for number in range(1500):
        (fresh.folder / f"src/module_{number}.py").write_text(RETRY.replace("retry", f"retry_{number}") * 3)
    _, text = on_terminal(fresh, "index")
    bar = r"\[[#-]{24}\] +\d+%  \d+\.\d of \d+\.\d MB  \d+\.\d MB/s"
    assert re.search(rf"\r(?:indexing|embedding) {bar}", text), "they alternate: either may be seen"
    assert fresh("index", "--rebuild").stderr == ""


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (("discover", 0, 0, 65.0), "looking for files ... 1:05"),
        (("index", 0, 10_000_000, 0.0), "indexing [------------------------]   0%  0.0 of 10.0 MB  0.0 MB/s"),
        (
            ("index", 5_000_000, 10_000_000, 2.0),
            "indexing [############------------]  50%  5.0 of 10.0 MB  2.5 MB/s  0:02 left",
        ),
    ],
)
def test_progress_in_words(state: tuple[str, int, int, float], text: str) -> None:
    assert progress.describe_progress(*state) == text


# --- the other commands --------------------------------------------------------------------------


def test_status(dowse: Shell, tree: Path) -> None:
    text = dowse("status").stdout
    assert re.search(r"^state      current, and as the disk is$", text, re.M)
    assert re.search(r"^holds      6 files, \d+ chunks, \d+ definitions$", text, re.M)
    values = dowse.json("status")
    assert values["schema"] == 2
    assert values["index"]["state"] == "current"
    assert values["index"]["languages"]["python"] == 3
    assert values["index"]["location"] == str(tree.resolve() / ".dowse")
    assert len(set(values["index"]["parts"].values())) == 1
    assert values["pending"] == 0
    assert values["report"]["indexed"] == 6


def test_status_without_an_index(fresh: Shell) -> None:
    done = fresh("status")
    assert done.returncode == 3
    assert "missing: 'dowse index' makes it" in done.stdout
    assert not (fresh.folder / ".dowse").exists()
    assert fresh("list").returncode == 3


def test_status_tells_of_changes(fresh: Shell) -> None:
    fresh("index")
    (fresh.folder / "src/retry.py").write_text("x = 1\n", encoding="utf-8")
    assert "current; 1 file or folder changed since" in fresh("status").stdout
    assert "other settings" in fresh("status", "--embedder", "hashing").stdout


@pytest.mark.parametrize(
    ("path", "indexed", "said"),
    [
        ("src/retry.py", True, ""),
        ("noise.log", False, ".gitignore:1 *.log"),
        ("picture.bin", False, "binary (its content is not text)"),
        ("nowhere.py", False, "nowhere.py"),
        ("../outside.py", False, "outside.py"),
    ],
)
def test_why(dowse: Shell, path: str, indexed: bool, said: str) -> None:
    done = dowse("status", "--why", path)
    assert done.returncode == (0 if indexed else 1)
    assert ("belongs in the index" in done.stdout) is indexed
    assert said in done.stdout
    assert dowse.json("status", "--why", path)["indexed"] is indexed


def test_why_is_asked_from_where_one_is(dowse: Shell, tree: Path) -> None:
    assert (
        dowse("status", "--why", "retry.py", cwd=tree / "src").stdout == "src/retry.py belongs in the index\n"
    )


def test_counts_add_up(fresh: Shell) -> None:
    (fresh.folder / "node_modules").mkdir()
    (fresh.folder / "yarn.lock").touch()
    report = fresh.json("index")["report"]
    assert report["seen"] == report["indexed"] + sum(report["skipped"].values())
    assert report["skipped_folders"] == {"excluded by default": 2}  # this one, and the index


def test_notes_of_the_environment(fresh: Shell) -> None:
    note = "note: DOWSE_LIMT in the environment is no setting: did you mean DOWSE_LIMIT?"
    for args in (["search", "retry"], ["config", "show"], ["status"]):
        assert note in fresh(*args, DOWSE_LIMT="3").stderr.splitlines(), args
    checked = fresh("doctor", DOWSE_LIMT="3")
    assert "warn settings: DOWSE_LIMT" in checked.stdout and "ok   index folder" in checked.stdout


@pytest.mark.skipif(not shutil.which("git"), reason="no git here")
def test_what_a_change_reaches_is_asked_of_a_repository(fresh: Shell) -> None:
    done = fresh("affected", GIT_CEILING_DIRECTORIES=str(fresh.folder.parent))
    assert done.returncode == 2
    assert "git cannot answer here (not a git repository): " in done.stderr
    assert "usage" not in done.stderr


def test_files_that_reading_leaves_out(fresh: Shell) -> None:
    (fresh.folder / "nul.py").write_bytes(b"retry = 1\0\n")
    (fresh.folder / "one_line.js").write_text("retry();" * 10_000, encoding="utf-8")
    reasons = {"nul.py": "binary", "one_line.js": "minified or generated bundle", "picture.bin": "binary"}
    if not WINDOWS and os.geteuid():  # nothing is closed to root
        (fresh.folder / "closed.py").touch(mode=0)
        reasons["closed.py"] = "unreadable"
    for indexed in (False, True):
        for path, reason in reasons.items():
            asked = fresh.json("status", "--why", path)
            assert (asked["indexed"], asked["reason"]) == (False, reason)
        found = {skipped["path"]: skipped["reason"] for skipped in fresh.json("list", "--skipped")["skipped"]}
        ignored = {"noise.log": "ignored by an ignore file"}
        assert found == reasons | ignored | ({".dowse/": "excluded by default"} if indexed else {})
        fresh("index")
    told = fresh.json("explain", "retry", "nul.py")
    assert (told["verdict"], told["detail"]) == ("skipped", "binary (its content is not text)")
    assert [s["path"] for s in fresh.json("list", "--skipped", "*.js")["skipped"]] == ["one_line.js"]
    assert fresh("list", "--skipped", "*.go").returncode == 1
    header, *rows = fresh("list", "--skipped").stdout.splitlines()
    assert header.split() == ["REASON", "RULE", "PATH"]
    assert any(re.fullmatch(r"binary +its content is not text +nul\.py", row) for row in rows)


def test_list(dowse: Shell) -> None:
    files = {file["path"]: file for file in dowse.json("list")["files"]}
    assert list(files) == sorted(files)
    assert files["src/retry.py"] == {
        "path": "src/retry.py", "language": "python", "role": "source", "health": "ok",
        "chunks": 1, "definitions": 1,
    }  # fmt: skip
    assert [file["path"] for file in dowse.json("list", "*.go")["files"]] == ["src/server.go"]
    lines = dowse("list", "src").stdout.splitlines()
    assert lines[0].split() == ["LANGUAGE", "CHUNKS", "DEFINITIONS", "PATH"]
    assert lines[1].split() == ["python", "1", "1", "src/retry.py"]
    assert dowse("list", "*.zig").returncode == 1


def test_languages(dowse: Shell, tmp_path: Path, home: Path) -> None:
    rows = {row["name"]: row for row in dowse.json("languages")["languages"]}
    assert rows["python"]["grammar"] == "tree_sitter_python"
    assert rows["python"]["symbols"] is rows["python"]["imports"] is rows["python"]["calls"] is True
    assert rows["text"]["symbols"] is False
    assert re.search(r"^python +yes +yes +yes +tree_sitter_python ", dowse("languages").stdout, re.M)
    assert dowse("languages", "py").stdout.splitlines()[0].split() == ["name", "python"]
    (tmp_path / "dowse.toml").write_text('[languages.klingon]\nextensions = [".kli"]\n', encoding="utf-8")
    assert Shell(tmp_path, home).json("languages", "klingon")["languages"][0]["extensions"] == [".kli"]


def user_file(shell: Shell) -> Path:
    """The user's own settings."""
    path = shell.folder.parent / "own" / "dowse" / "dowse.toml"
    path.parent.mkdir(parents=True)
    shell.environment["XDG_CONFIG_HOME"] = str(shell.folder.parent / "own")
    return path


def test_a_wrong_table_of_a_language_is_a_wrong_setting(fresh: Shell) -> None:
    user_file(fresh).write_text('[languages.python]\nextensions = ".sage"\n', encoding="utf-8")
    for command in ("search", "index", "status", "doctor"):
        done = fresh(command, *(["retry"] if command == "search" else []))
        assert done.returncode == (3 if command == "doctor" else 2)
        assert "'languages.python.extensions' must be a list of endings" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            'grammar = "tree_sitter_no_such:language"',
            "grammar 'tree_sitter_no_such:language' cannot be loaded",
        ),
        (
            "definitions = '(no_such_node) @function'",
            "query for grammar 'tree_sitter_python:language' does not",
        ),
    ],
)
def test_files_of_a_language_that_cannot_be_loaded_are_left_out(fresh: Shell, table: str, said: str) -> None:
    (fresh.folder / "a.sage").write_text("x = 1\n", encoding="utf-8")
    fresh("index")
    user_file(fresh).write_text(f'[languages.python]\nextensions = [".sage"]\n{table}\n', encoding="utf-8")
    for _ in range(2):  # before and after the index is made again
        asked = fresh.json("status", "--why", "a.sage")
        assert (asked["indexed"], asked["reason"]) == (False, "failed to index")
        assert said in asked["detail"]
        found = fresh.json("list", "--skipped", "a.sage")["skipped"]
        assert [skipped["detail"] for skipped in found] == [asked["detail"]]
        failures = fresh.json("index")["report"]["failures"]
        assert {"path": "a.sage", "reason": "failed to index", "detail": asked["detail"]} in failures


def redirected(shell: Shell, redirection: str, *args: str) -> subprocess.CompletedProcess[str]:
    """A call from a shell that closes or redirects standard streams."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *shell.command(*args)],
        cwd=shell.folder,
        env=shell.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.skipif(WINDOWS, reason="a shell that closes streams")
class TestClosedStreams:
    """What is closed or full is no reason to fail, or is said in one line."""

    def test_nobody_reads_the_remarks(self, fresh: Shell) -> None:
        for _ in range(2):  # with and without an index to make
            done = redirected(fresh, "2>&-", "retry", "backoff")
            assert (done.returncode, done.stderr) == (0, "")
            assert "src/retry.py" in done.stdout
        assert redirected(fresh, "2>&-", "search", "retry", "--limit", "0").returncode == 2

    @pytest.mark.parametrize("unbuffered", ["", "1"])
    @pytest.mark.parametrize("args", [["retry"], ["retry", "--json"], ["status"]])
    @pytest.mark.parametrize(
        ("redirection", "why"), [(">&-", "it is closed"), ("> /dev/full", "No space left on device")]
    )
    def test_the_answer_cannot_be_written(
        self, tree: Path, home: Path, redirection: str, why: str, args: list[str], unbuffered: str
    ) -> None:
        if redirection == "> /dev/full" and not Path("/dev/full").exists():
            pytest.skip("no device that is always full")
        shell = Shell(tree, home)
        shell.environment["PYTHONUNBUFFERED"] = unbuffered
        done = redirected(shell, redirection, *args)
        said = f"dowse: standard output cannot be written ({why}): send it to a file or another program\n"
        assert (done.returncode, done.stderr) == (4, said)

    def test_what_writes_nothing_needs_no_output(self, dowse: Shell) -> None:
        assert redirected(dowse, ">&-", "search", "--no-such-option").returncode == 2

    def test_nothing_can_be_read(self, dowse: Shell) -> None:
        for args in (["search", "-"], ["affected", "--diff", "-"], ["shell"]):
            done = redirected(dowse, "<&-", *args)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr.startswith("dowse: standard input is closed: ")
        assert redirected(dowse, "<&-", "retry").returncode == 0

    def test_all_are_closed(self, dowse: Shell) -> None:
        assert redirected(dowse, "<&- >&- 2>&-", "retry").returncode == 4


def test_clear(fresh: Shell) -> None:
    fresh("index")
    assert fresh("clear", "--yes").returncode == 0
    assert not (fresh.folder / ".dowse").exists()
    assert "there is no index" in fresh("clear", "--yes").stderr


def test_doctor(dowse: Shell) -> None:
    done = dowse("doctor")
    assert done.returncode == 0, done.stdout
    assert all(line.startswith(("ok   ", "warn ", "     ")) for line in done.stdout.splitlines())
    names = [check["name"] for check in dowse.json("doctor")["checks"]]
    expected = {
        "python",
        "tantivy",
        "tree-sitter",
        "sqlite",
        "git",
        "root",
        "grammars",
        "ignore rules",
        "index",
        "lock",
    }
    assert expected <= set(names)


def test_doctor_finds_what_is_wrong(fresh: Shell) -> None:
    fresh("index")
    (fresh.data / "catalogue.db").write_bytes(b"garbage" * 1000)
    user_file(fresh).write_text(
        '[languages.klingon]\ngrammar = "tree_sitter_no_such:language"\n', encoding="utf-8"
    )
    done = fresh("doctor")
    assert done.returncode == 3
    assert re.search(r"^fail grammars: klingon: ", done.stdout, re.M)
    assert re.search(r"^fail index: .*corrupt", done.stdout, re.M)
    (fresh.folder / "dowse.toml").write_text("chunk_sise = 1\n", encoding="utf-8")
    done = fresh("doctor")
    assert done.returncode == 3
    assert "did you mean 'chunk_size'?" in done.stdout


def test_completion(dowse: Shell) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_DOWSE_COMPLETE" in dowse("completion", shell).stdout

    def completed(words: str, number: int) -> list[str]:
        variables = {"_DOWSE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(number)}
        shell = Shell(dowse.folder, Path.home())
        shell.environment |= variables
        return [line.partition(",")[2] for line in shell().stdout.split()]

    assert completed("dowse la", 1) == ["languages"]
    assert "--explain" in completed("dowse search --e", 2)
    assert "--explain" in completed("dowse retry --e", 2)
    assert completed("dowse config ", 2) == ["path", "show"]


# --- settings ------------------------------------------------------------------------------------


def setting(shell: Shell, name: str, **environment: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = shell.json("config", "show", **environment)["settings"][name]
    return found


def test_where_settings_come_from(fresh: Shell) -> None:
    assert setting(fresh, "limit") == {"value": 10, "origin": "default"}
    assert fresh("config", "path").returncode == 1
    (fresh.folder / "pyproject.toml").write_text("[tool.dowse]\nlimit = 2\n", encoding="utf-8")
    assert setting(fresh, "limit") == {"value": 2, "origin": "pyproject.toml"}
    assert fresh("config", "path").stdout.strip() == str(fresh.folder.resolve() / "pyproject.toml")
    (fresh.folder / "dowse.toml").write_text("limit = 3\n", encoding="utf-8")
    assert setting(fresh, "limit") == {"value": 3, "origin": "dowse.toml"}
    assert fresh("config", "path").stdout.strip() == str(fresh.folder.resolve() / "dowse.toml")
    assert setting(fresh, "limit", DOWSE_LIMIT="1") == {"value": 1, "origin": "environment"}
    assert re.search(r"^limit +environment +1$", fresh("config", "show", DOWSE_LIMIT="1").stdout, re.M)


def test_flags_win_over_the_environment_over_the_file(fresh: Shell) -> None:
    (fresh.folder / "dowse.toml").write_text("limit = 3\n", encoding="utf-8")

    def hits(*args: str, **environment: str) -> int:
        return len(fresh.json("search", "retry", *args, **environment)["results"])

    assert hits() == 3
    assert hits(DOWSE_LIMIT="2") == 2
    assert hits("--limit", "1", DOWSE_LIMIT="2") == 1


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "dowse.toml",
            "chunk_sise = 1",
            "unknown setting 'chunk_sise' in dowse.toml: did you mean 'chunk_size'?",
        ),
        ("dowse.toml", "limit = 'many'", "setting 'limit' in dowse.toml must be a whole number, not 'many'"),
        ("dowse.toml", "limit = 0", "must be at least 1"),
        ("dowse.toml", "not toml", "dowse.toml is not valid TOML"),
        ("dowse.toml", "disabled_features = ['magic']", "unknown group of features 'magic'"),
        ("dowse.toml", "store = 'cloud'", "unknown store 'cloud'"),
        (
            "pyproject.toml",
            "[tool.dowse]\nlimt = 1",
            "unknown setting 'limt' in pyproject.toml: did you mean 'limit'?",
        ),
        ("pyproject.toml", "[tool]\ndowse = 1", "pyproject.toml"),
    ],
)
def test_a_wrong_setting_is_named(fresh: Shell, file: str, text: str, message: str) -> None:
    (fresh.folder / file).write_text(text + "\n", encoding="utf-8")
    done = fresh("search", "retry")
    assert done.returncode == 2
    assert message in done.stderr


def test_a_wrong_variable_is_named(fresh: Shell) -> None:
    done = fresh("search", "retry", DOWSE_LIMIT="many")
    assert done.returncode == 2
    assert "DOWSE_LIMIT=many: not a valid int" in done.stderr


# --- rendering, as functions ---------------------------------------------------------------------


def query(text: str, dropped: tuple[str, ...] = ()) -> Query:
    return Query(text, (), (), (), (), dropped, "words")


def test_words_that_were_dropped_are_not_pointed_at() -> None:
    pattern = render.query_pattern(query("where is the Token.refresh", ("where", "is", "the")))
    assert pattern
    assert pattern.findall("is this the token to REFRESH?") == ["token", "REFRESH"]
    assert render.query_pattern(query("?")) is None


def test_highlighting_keeps_every_line() -> None:
    code = '\n\n"""doc\nstring"""\r\nx = 1  # é\t\n\n'
    for language in ("python", "no such language", "markdown", "php", "text", "html", "yaml"):
        painted = theme.code_lines(code, language, theme.colour, re.compile("(string)"))
        assert without_colour("\n".join(painted)) == theme.escape_code(code)


def test_every_language_is_highlighted_or_left_alone(dowse: Shell) -> None:
    for row in dowse.json("languages")["languages"]:
        assert without_colour(theme.code_lines("x = 1", row["name"], theme.colour, None)[0]) == "x = 1"


@pytest.mark.parametrize(
    ("root", "cwd", "shown"),
    [
        ("/a/b", "/a/b", "src/x.py"),
        ("/a/b", "/a/b/src", "x.py"),
        ("/a/b", "/a/b/tests", "../src/x.py"),
        ("/a/b", "/a", "b/src/x.py"),
        ("/a/b", "/a/bc", "/a/b/src/x.py"),
        ("/a/b", "/", "a/b/src/x.py"),
    ],
)
@pytest.mark.skipif(WINDOWS, reason="paths are written differently there")
def test_shown_paths(root: str, cwd: str, shown: str) -> None:
    assert render.display_path(root, "src/x.py", cwd) == shown


def test_an_answer_without_hits_says_so_in_one_line() -> None:
    response = SearchResponse(query("x"), "/a", (), (), 1, 0.5, ("careful",))
    summary = render.search_summary(response, 0.5, render.View("/a"), ("open", "more"))
    assert summary.splitlines() == [
        "nothing found in 0.50 s",
        "the query has no word to look for",
        "note: careful",
    ]


def test_every_field_of_a_result_is_in_the_json() -> None:
    schema = json.loads((DOCS / "search.schema.json").read_text(encoding="utf-8"))
    assert set(schema["$defs"]["result"]["properties"]) == set(SearchResult._fields)
    internal = {"filter", "phrases", "unwanted", "regexes", "rewrite", "depends_on_time"}
    assert set(schema["$defs"]["query"]["properties"]) == set(Query.__dataclass_fields__) - internal


def test_table() -> None:
    assert text_layout.format_table([("a", "b", "c"), ("long", "x", "")]) == "a     b  c\nlong  x"
    assert text_layout.format_table([]) == ""


@pytest.fixture(scope="module", autouse=True)
def no_index_left_behind(tree: Path) -> Iterator[None]:
    """The shared tree stays as it was indexed."""
    yield
    assert sorted(path.name for path in tree.iterdir()) == sorted(
        [".dowse", ".gitignore", "README.md", "noise.log", "picture.bin", "src", "tests"]
    )
