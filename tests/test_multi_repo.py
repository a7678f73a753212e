"""Several repositories, one ranking."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dowse import Engine
from dowse.errors import RootError
from dowse.multi_repo import Repositories, merge_responses, name_folders
from dowse.types.answers import SearchOptions
from tests.test_cli import Shell

HOT = "def rotate_access_token(session):\n    '''Rotate the access token of a session.'''\n    return session.token\n"
COLD = "def paint(wall):\n    '''A session of painting.'''\n    return wall\n"


@pytest.fixture
def hot(tmp_path: Path) -> Path:
    return _tree(tmp_path / "hot", HOT)


@pytest.fixture
def cold(tmp_path: Path) -> Path:
    return _tree(tmp_path / "cold", COLD)


def _tree(folder: Path, code: str) -> Path:
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "code.py").write_text(code)
    (folder / "src" / "other.py").write_text("def unrelated():\n    return 1\n")
    return folder


def test_a_repository_that_knows_little_does_not_come_first(hot: Path, cold: Path) -> None:
    """Alone, the best hit of each is a full match of the keyword channel."""
    question = "rotate the access token of a session"
    with Repositories.open([str(cold), str(hot)]) as both:
        response = both.search(question)
    first, *rest = response.results
    assert (first.repository, first.entity) == ("hot", "rotate_access_token")
    painted = next(hit for hit in rest if hit.entity == "paint")
    assert painted.repository == "cold"
    assert painted.relevance < first.relevance / 2
    for hit in response.results:
        assert hit.score == pytest.approx(sum(reason.value for reason in hit.reasons))
    assert {report.name: report.problem for report in response.repositories} == {"cold": "", "hot": ""}


def test_hits_are_merged_by_relevance_and_keep_their_order(hot: Path, cold: Path) -> None:
    """Scores only compare the hits of one repository: here those of one that knows little are raised above all."""
    with Engine.open(hot) as one, Engine.open(cold) as other:
        known, little = one.search("access token of a session"), other.search("access token of a session")
    assert len(known.results) > 1 and len(little.results) > 1
    loud = replace(little, results=tuple(hit._replace(score=hit.score + 100) for hit in little.results))
    together = merge_responses({"cold": loud, "hot": known}, (), 10).results
    relevances = [hit.relevance for hit in together]
    assert relevances == sorted(relevances, reverse=True)
    for name, response in (("hot", known), ("cold", loud)):
        own = [hit._replace(repository="") for hit in together if hit.repository == name]
        assert own == list(response.results)


def test_equal_relevance_goes_by_rank_then_by_repository(hot: Path, cold: Path) -> None:
    """A pattern of names has no words: whatever has it is right, in every repository."""
    with Repositories.open([str(hot), str(cold)]) as both:
        response = both.search("name:* kind:function")
    assert {hit.relevance for hit in response.results} == {1.0}
    assert [hit.repository for hit in response.results] == ["cold", "hot", "cold", "hot"]


def test_one_alone_is_ranked_as_ever(hot: Path) -> None:
    with Engine.open(hot) as engine:
        response = engine.search("session token")
    together = merge_responses({"hot": response}, (), 10)
    assert [hit.score for hit in together.results] == [hit.score for hit in response.results]


def test_limit_is_of_all_together(hot: Path, cold: Path) -> None:
    with Repositories.open([str(cold), str(hot)]) as both:
        assert len(both.search("session", SearchOptions(limit=1)).results) == 1


def test_names_are_unique(tmp_path: Path) -> None:
    a, b, c = tmp_path / "x" / "api", tmp_path / "y" / "api", tmp_path / "z"
    assert name_folders([a, b, a, c], {"zed": c}) == {"api": a, "y/api": b, "zed": c}


def test_partial_failure_is_reported(hot: Path, tmp_path: Path) -> None:
    with Repositories.open([str(hot), "nowhere"]) as some:
        response = some.search("session token")
    assert response.results[0].repository == "hot"
    (problem,) = [report for report in response.repositories if report.problem]
    assert problem.name == "nowhere"
    assert any("nowhere could not be searched" in note for note in response.notes)
    with pytest.raises(RootError, match="nowhere"):
        Repositories.open(["nowhere"])


def test_command_line(hot: Path, cold: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "config" / "dowse").mkdir(parents=True)
    (home / "config" / "dowse" / "dowse.toml").write_text(f'[repositories]\npainting = "{cold.as_posix()}"\n')
    (hot / "dowse.toml").write_text('[repositories]\nself = "."\n')
    shell = Shell(hot, home)
    answer = shell.json(
        "search", "session", "--repo", "self", "--repo", "painting", APPDATA=str(home / "config")
    )
    assert {hit["repository"] for hit in answer["results"]} == {"self", "painting"}
    assert [report["name"] for report in answer["repositories"]] == ["self", "painting"]
    shown = shell("search", "session", "--repo", "self", "--repo", "painting", APPDATA=str(home / "config"))
    assert "[painting] " in shown.stdout and "paint (function)" in shown.stdout
    unknown = shell("search", "session", "--repo", "nothing")
    assert unknown.returncode == 2 and "there is no repository 'nothing'" in unknown.stderr
