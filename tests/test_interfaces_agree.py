"""One query, one answer: command line, Python, MCP and HTTP give the same hits under the settings of a tree."""

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
from dowse.search.channels.request import DEPTH_STEP
from dowse.types.answers import SearchOptions, SearchResponse
from tests.agents.clients import environment, make_tree, run, stdio_client
from tests.web.serving import serve_here

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
    "zebra quagga okapi",
)

FILTERS: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    ("lang:python", {"languages": ["python"]}, ("--lang", "python")),
    ("path:src/**", {"paths": ["src/**"]}, ("--path", "src/**")),
    ("-path:tests", {"not_paths": ["tests"]}, ("--not-path", "tests")),
    ("kind:class", {"kinds": ["class"]}, ("--kind", "class")),
    ("-is:test", {"tests": False}, ("--no-tests",)),
    ("name:part_*", {"names": ["part_*"]}, ("--name", "part_*")),
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
def wide_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree with more hits than one step of depth has, in which words and names disagree."""
    folder = make_project(tmp_path_factory.mktemp("trees") / "project", "")
    for number in range(2 * DEPTH_STEP):
        words = "the wall " * (number % 7) + "retry " * (number % 5)
        text = f"def step_{number}(given):\n    # {words}{number}\n    return {number}\n"
        (folder / f"src/step_{number}.py").write_text(text, encoding="utf-8")
    return folder


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
    return read_hits(json.loads(done.stdout))


def ask_web_server(tree: Path, queries: Iterable[str]) -> list[Hits]:
    with serve_here(tree) as client:
        answers = [client.get("/api/v1/search", params={"query": query}) for query in queries]
    return [read_hits(answer.raise_for_status().json()) for answer in answers]


def read_hits(values: dict[str, Any]) -> Hits:
    return [(hit["path"], hit["start_line"], hit["end_line"]) for hit in values["results"]]


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
    assert ask_web_server(tree, QUERIES) == python


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
    assert ask_web_server(plain_tree, [f"retry {written}"]) == [python]


def test_what_the_caller_says_wins_everywhere(plain_tree: Path, home: Path) -> None:
    with Engine.open(plain_tree) as engine:
        python = list_places(engine.search("retry", SearchOptions(limit=2 * LIMIT)))
    assert len(python) == 2 * LIMIT
    assert ask_command_line(plain_tree, home, "search", "retry", "--limit", str(2 * LIMIT)) == python
    assert ask_agent_server(plain_tree, home, "search", [{"query": "retry", "limit": 2 * LIMIT}]) == [python]


def test_a_name_is_looked_up_wherever_it_is_asked_for(plain_tree: Path, home: Path) -> None:
    """The filter alone is a query: definitions of that name, though no text of theirs is asked for."""
    with Engine.open(plain_tree) as engine:
        response = engine.search("", SearchOptions(filter=engine.filter(names=["part_1*"])))
        python = list_places(response)
        assert [c.name for c in response.channels if c.ran and c.hits] == ["names"]
        assert list_places(engine.search("name:part_1*")) == python
        assert {path for path, _, _ in python} == {f"src/part_{n}.py" for n in (1, 10, 11)}
        with pytest.raises(UsageError, match="the query is empty"):
            engine.search(" ")
    assert ask_command_line(plain_tree, home, "search", "--name", "part_1*") == python
    assert ask_agent_server(plain_tree, home, "search", [{"query": "name:part_1*"}]) == [python]


@pytest.mark.parametrize("limit", [DEPTH_STEP - 1, DEPTH_STEP, DEPTH_STEP + 1])
def test_a_full_page_is_ranked_as_deeply_everywhere(wide_tree: Path, home: Path, limit: int) -> None:
    """Channels go deeper in steps, and how deep they go shows in the order of hits."""
    with Engine.open(wide_tree) as engine:
        response = engine.search("retry the wall", SearchOptions(limit=limit))
    python, (lexical, *_) = list_places(response), response.channels
    assert len(python) == limit
    assert (lexical.name, lexical.hits) == ("lexical", DEPTH_STEP if limit <= DEPTH_STEP else 2 * DEPTH_STEP)
    assert ask_command_line(wide_tree, home, "search", "retry the wall", "--limit", str(limit)) == python
    assert ask_agent_server(wide_tree, home, "search", [{"query": "retry the wall", "limit": limit}]) == [
        python
    ]


def test_a_page_says_whether_there_is_more(plain_tree: Path) -> None:
    with Engine.open(plain_tree) as engine:
        every = engine.search("retry", SearchOptions(limit=100))
        count = len(every.results)
        assert LIMIT < count < 100
        more = [engine.search("retry", SearchOptions(limit=n)).has_more for n in (1, count - 1, count)]
        first, second, *_ = every.results
        assert first.relevance > second.relevance
        relevant = SearchOptions(limit=1, min_relevance=first.relevance)
        assert not engine.search("retry", relevant).has_more
    assert (more, every.has_more) == ([True, True, False], False)


def test_what_belongs_to_a_place_is_the_same_everywhere(tree: Path, home: Path) -> None:
    with Engine.open(tree) as engine:
        python = [list_places(engine.related(*engine.parse_place(place))) for place in PLACES]
    assert any(python)
    assert [ask_command_line(tree, home, "related", place) for place in PLACES] == python
    calls = [{"ask": "related", "target": place} for place in PLACES]
    assert ask_agent_server(tree, home, "graph", calls) == python


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
