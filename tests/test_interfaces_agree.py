"""One query, one answer: the command line, Python and MCP give the same hits under the settings of a tree."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.multi_repo import Repositories
from dowse.types.answers import SearchOptions, SearchResponse
from tests.agents.clients import environment, make_tree, run, stdio_client

LIMIT = 3

SETTINGS = {
    "defaults": "",
    "limit": f"limit = {LIMIT}\n",
    "relevance": "min_relevance = 0.5\n",
    "features": 'disabled_features = ["file_role", "definition", "phrase"]\n',
    "confidence": "show_low_confidence = true\n",
    "all": f'limit = {LIMIT}\nmin_relevance = 0.05\ndisabled_features = ["file_role"]\nhybrid = "off"\n',
}
"""What a dowse.toml may say that changes an answer."""

QUERIES = (
    "retry with backoff",
    "Token.refresh",
    "retry.py",
    "wall lang:python path:src/**",
    "retry kind:function -path:tests",
    "zebra quagga okapi retry",
)

FILTERS: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    ("lang:python", {"languages": ["python"]}, ("--lang", "python")),
    ("path:src/**", {"paths": ["src/**"]}, ("--path", "src/**")),
    ("-path:tests", {"not_paths": ["tests"]}, ("--not-path", "tests")),
    ("kind:class", {"kinds": ["class"]}, ("--kind", "class")),
    ("-is:test", {"tests": False}, ("--no-tests",)),
)
"""One filter as the query language, Python and the command line have it."""

PLACES = ("src/retry.py", "src/part_3.py:2")

WIDE_BUDGET = 20_000
"""Tokens with room for every hit: what an agent has no room for is no difference in ranking."""

Hits = list[tuple[str, int, int]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def make_project(folder: Path, settings: str) -> Path:
    make_tree(folder)
    for number in range(4 * LIMIT):
        text = f"def part_{number}(wall):\n    '''Retry part {number} of the wall.'''\n    return wall[{number}]\n"
        (folder / f"src/part_{number}.py").write_text(text, encoding="utf-8")
    (folder / "dowse.toml").write_text(settings, encoding="utf-8")
    return folder


@pytest.fixture(scope="module", params=SETTINGS)
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("trees") / "project", SETTINGS[request.param])


@pytest.fixture(scope="module")
def plain_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("trees") / "project", SETTINGS["limit"])


def run_command(tree: Path, home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dowse", *args, "--json"],
        check=False,
        cwd=tree,
        env=environment(home),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )


def ask_command_line(tree: Path, home: Path, *args: str) -> Hits:
    done = run_command(tree, home, *args)
    assert done.returncode in (0, 1), done.stderr
    return [(hit["path"], hit["start_line"], hit["end_line"]) for hit in json.loads(done.stdout)["results"]]


def ask_agent_server(
    tree: Path, home: Path, tool: str, calls: list[dict[str, Any]], *roots: str
) -> list[Hits]:
    async def work() -> list[Hits]:
        found = []
        async with stdio_client(tree, home, *roots) as client:
            for call in calls:
                options = {"budget": WIDE_BUDGET, "repeat": True}
                answer = await client.call_tool(tool, {**call, **options})
                assert not answer.is_error, answer.content
                found.append([parse_hit(hit["at"]) for hit in answer.structured_content["hits"]])
        return found

    return run(work)


def parse_hit(written: str) -> tuple[str, int, int]:
    path, _, lines = written.rpartition(":")
    first, _, last = lines.partition("-")
    return path, int(first), int(last or first)


def ask_python(tree: Path, queries: Iterable[str]) -> list[Hits]:
    with Engine.open(tree) as engine:
        return [list_places(engine.search(query)) for query in queries]


def list_places(response: SearchResponse) -> Hits:
    return [(hit.path, hit.start_line, hit.end_line) for hit in response.results]


def test_a_search_has_the_same_hits_everywhere(tree: Path, home: Path) -> None:
    python = ask_python(tree, QUERIES)
    assert any(python)
    assert [ask_command_line(tree, home, "search", query) for query in QUERIES] == python
    assert ask_agent_server(tree, home, "search", [{"query": query} for query in QUERIES]) == python


def test_each_of_the_settings_counts(tmp_path: Path) -> None:
    answers = {
        name: ask_python(make_project(tmp_path / name, text), QUERIES) for name, text in SETTINGS.items()
    }
    assert [name for name in answers if answers[name] == answers["defaults"]] == ["defaults"]
    assert max(map(len, answers["limit"])) == LIMIT


@pytest.mark.parametrize(("written", "asked", "flags"), FILTERS, ids=[written for written, *_ in FILTERS])
def test_a_filter_is_the_same_everywhere(
    plain_tree: Path, home: Path, written: str, asked: dict[str, Any], flags: tuple[str, ...]
) -> None:
    with Engine.open(plain_tree) as engine:
        python = list_places(engine.search("retry", SearchOptions(filter=engine.filter(**asked))))
        assert list_places(engine.search(f"retry {written}")) == python
    assert ask_command_line(plain_tree, home, "search", "retry", *flags) == python
    assert ask_agent_server(plain_tree, home, "search", [{"query": f"retry {written}"}]) == [python]


def test_what_the_caller_says_wins_everywhere(plain_tree: Path, home: Path) -> None:
    with Engine.open(plain_tree) as engine:
        python = list_places(engine.search("retry", SearchOptions(limit=2 * LIMIT)))
    assert len(python) == 2 * LIMIT
    assert ask_command_line(plain_tree, home, "search", "retry", "--limit", str(2 * LIMIT)) == python
    assert ask_agent_server(plain_tree, home, "search", [{"query": "retry", "limit": 2 * LIMIT}]) == [python]


def test_what_belongs_to_a_place_is_the_same_everywhere(tree: Path, home: Path) -> None:
    with Engine.open(tree) as engine:
        python = [list_places(engine.related(*engine.parse_place(place))) for place in PLACES]
    assert any(python)
    assert [ask_command_line(tree, home, "related", place) for place in PLACES] == python
    assert ask_agent_server(tree, home, "related", [{"place": place} for place in PLACES]) == python


def test_several_repositories_keep_to_the_settings(plain_tree: Path, home: Path, tmp_path: Path) -> None:
    other = make_project(tmp_path / "other", SETTINGS["limit"])
    with Repositories.open([str(plain_tree), str(other)]) as both:
        python = list_places(both.search("retry"))
    assert len(python) == LIMIT
    repos = ("--repo", str(plain_tree), "--repo", str(other))
    assert ask_command_line(plain_tree, home, "search", "retry", *repos) == python
    found = ask_agent_server(plain_tree, home, "search", [{"query": "retry"}], str(plain_tree), str(other))
    assert [(path.partition(":")[2], first, last) for path, first, last in found[0]] == python


@pytest.mark.parametrize("place", ["src/part_3.py:0", "src/part_3.py:" + "9" * 5000])
def test_a_line_that_cannot_be_is_refused_everywhere(plain_tree: Path, home: Path, place: str) -> None:
    with Engine.open(plain_tree) as engine, pytest.raises(UsageError) as refused:
        engine.related(*engine.parse_place(place))
    done = run_command(plain_tree, home, "related", place)
    assert (done.returncode, str(refused.value) in done.stderr) == (2, True)


def test_entities_keep_to_the_settings(plain_tree: Path, home: Path) -> None:
    with Engine.open(plain_tree) as engine:
        python = [hit.id for hit in engine.graph.entities("part_*")]
    assert len(python) == LIMIT
    done = run_command(plain_tree, home, "entities", "part_*")
    assert [hit["id"] for hit in json.loads(done.stdout)["entities"]] == python
