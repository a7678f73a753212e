"""What a query excludes, and where it looks: ``-word``, ``repo:``, ``branch:``, ``case:``."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine
from dowse.errors import UsageError
from dowse.multi_repo import Repositories
from dowse.search.query.parse import parse_query
from dowse.search.query.query_format import format_query
from dowse.types.queries import QueryRegex

FILES = {
    "prompt.py": "def prompt_password(text):\n    return ask(text, hide=True)\n",
    "confirm.py": "def prompt_confirm(text):\n    return ask(text, hide=False)\n",
    "names.py": "def name_case():\n    return 'Prompt here', 'prompt there'\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("unwanted") / "prompts"
    tree.mkdir()
    for name, text in FILES.items():
        (tree / name).write_text(text)
    for command in (["init", "-q", "-b", "work"], ["add", "."], ["commit", "-qm", "Ask"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *command], cwd=tree, check=True)
    return tree


@pytest.fixture(scope="module")
def engine(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tree, index_dir=str(tmp_path_factory.mktemp("index"))) as engine:
        engine.index()
        yield engine


def find_paths(engine: Engine, query: str) -> set[str]:
    return {hit.path for hit in engine.search(query).results}


def test_unwanted_words_are_in_no_hit(engine: Engine) -> None:
    assert {"prompt.py", "confirm.py"} <= find_paths(engine, "prompt text")
    for query in ("prompt text -password", "prompt text -PassWord", 'prompt text -"hide=True"'):
        assert "prompt.py" not in find_paths(engine, query)
        assert "confirm.py" in find_paths(engine, query)
    assert any("excluded" in note for note in engine.search("prompt -password").notes)
    with pytest.raises(UsageError, match="asks for nothing"):
        engine.search("-password")


@pytest.mark.parametrize(
    "query", ["find -v files", "a-b -- c", "x - y", 'the "-password" flag', "\\-password flag"]
)
def test_other_signs_are_text(query: str) -> None:
    assert parse_query(query).unwanted == ()


@pytest.mark.parametrize("query", ["a -word", 'a -"b c" -word', "repo:x branch:y a", "\\-word a"])
def test_queries_are_written_as_they_are_read(query: str) -> None:
    parsed = parse_query(query)
    assert parse_query(format_query(parsed)) == parsed


def test_letter_case_counts_if_asked(engine: Engine) -> None:
    assert parse_query('case:yes "prompt"').regexes == (QueryRegex("prompt"),)
    assert parse_query('case:no "Prompt" /X/').regexes == (QueryRegex("Prompt", True), QueryRegex("X", True))
    assert find_paths(engine, 'case:yes "Prompt here"') == {"names.py"}
    assert find_paths(engine, 'case:no "PROMPT HERE"') == {"names.py"}
    assert not find_paths(engine, 'case:yes "prompt here"')
    assert parse_query("case:yes word").notes
    with pytest.raises(UsageError, match="yes or no"):
        parse_query("case:maybe x")


def test_only_what_is_here_is_searched(engine: Engine) -> None:
    assert find_paths(engine, "repo:prompts branch:work confirm")
    assert find_paths(engine, "repo:prom* confirm")
    with pytest.raises(UsageError, match="this is the repository prompts"):
        engine.search("repo:other confirm")
    with pytest.raises(UsageError, match="the branch work"):
        engine.search("branch:main confirm")


def test_one_of_several_repositories_is_chosen(tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "confirm.py").write_text(FILES["confirm.py"])
    with Repositories.open([str(tree), str(other)], tree) as repositories:
        hits = repositories.search("repo:other prompt_confirm").results
        assert {hit.repository for hit in hits} == {"other"}
        both = repositories.search("prompt_confirm").results
        assert {hit.repository for hit in both} == {"other", "prompts"}
        with pytest.raises(UsageError, match="no repository is called third"):
            repositories.search("repo:third x")
