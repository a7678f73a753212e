"""Several repositories, one ranking."""

from __future__ import annotations

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
    with Engine.open(cold) as engine:
        assert engine.search(question).results[0].reasons[0].value == 1.0
    with Repositories.open([str(cold), str(hot)]) as both:
        response = both.search(question)
    first, *rest = response.results
    assert (first.repository, first.entity) == ("hot", "rotate_access_token")
    painted = next(hit for hit in rest if hit.entity == "paint")
    assert painted.repository == "cold"
    assert painted.score < first.score / 2
    channels = {channel.name for channel in response.channels}
    added = sum(reason.value for reason in painted.reasons if reason.name in channels)
    factor = 1.0
    for reason in painted.reasons:
        factor *= 1.0 if reason.name in channels else reason.value
    assert painted.score == pytest.approx(added * factor)  # the score is what its reasons say
    assert {report.name: report.problem for report in response.repositories} == {"cold": "", "hot": ""}


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
