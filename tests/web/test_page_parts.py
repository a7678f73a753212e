"""Parts of pages that are made from the index: snippets, long names, example queries, the page of the API."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest

from dowse.engine import Engine
from dowse.interfaces.web.query_examples import list_examples
from dowse.types.answers import SearchOptions
from tests.web.serving import serve_here

HTML = {"Accept": "text/html"}

QUEUE = '''class JobQueue:
    """Holds what is to be done."""

    def enqueue(self, job):
        """Put a job at the end of the line.

        A zebra that waits here is told
        when its turn has come.
        """
        self.jobs.append(job)

    def the_name_of_this_method_is_very_much_longer_than_a_window(self, zebra):
        """Count what waits for its turn."""
        return len(self.jobs), zebra
'''


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("parts") / "tree"
    tree.mkdir()
    (tree / "queues.py").write_text(QUEUE)
    return tree


@pytest.fixture(scope="module")
def page(tree: Path) -> str:
    with serve_here(tree) as client:
        return client.get("/", params={"q": "zebra"}, headers=HTML).text


def test_a_snippet_from_the_middle_of_a_text_is_not_shown_as_code(page: str) -> None:
    snippet = next(hit for hit in page.split('class="hit') if "told" in hit.partition("hit-foot")[0])
    lines = re.findall("<code>(.*?)</code></li>", snippet.partition("hit-foot")[0])
    told = next(line for line in lines if "told" in line)
    assert re.search('<span class="[cs]">A ', told) and 'class="k"' not in told, told
    assert re.search(r"\w", re.sub("<[^>]*>", "", lines[0]))


def test_a_long_name_is_broken_where_its_words_end(tree: Path) -> None:
    with serve_here(tree) as client:
        shown = client.get("/", params={"q": "name:the_name*", "part": "results"}, headers=HTML).text
    assert "JobQueue.<wbr>the_<wbr>name_<wbr>of_<wbr>this_<wbr>" in shown


def test_what_the_summary_says_is_not_said_again(tree: Path) -> None:
    with serve_here(tree) as client:
        shown = client.get("/", params={"q": "quagga okapi tapir"}, headers=HTML).text
    assert shown.count("nothing good was found") == 0
    assert "Nothing good was found" in shown or "Nothing found" in shown


def test_examples_are_of_the_tree_and_find_something(tmp_path: Path) -> None:
    (tmp_path / "queues.py").write_text(QUEUE)
    with Engine.open(tmp_path) as engine:
        assert ("By name", "Session.refresh") in list_examples(engine)  # there is no index yet
        engine.index()
        examples = dict(list_examples(engine))
        assert examples["In words"] == "holds what is to be done"
        assert examples["By name"].startswith("JobQueue.")
        for query in ("In words", "By name", "Names by prefix", "An exact phrase", "A regular expression"):
            found = engine.search(examples[query], SearchOptions(limit=3))
            assert found.results and not found.relaxed, query


def test_the_page_of_the_api_has_every_operation_and_asks_it(client: httpx2.Client) -> None:
    shown = client.get("/api", headers=HTML).text
    described = client.get("/api/openapi.json").json()
    for path in described["paths"]:
        assert path.endswith(("/health", "/metrics")) or f"<code>{path}</code>" in shown, path
    assert '<form method="get" action="/api/v1/search" class="trial">' in shown
    assert 'action="/api/v1/index"' not in shown
