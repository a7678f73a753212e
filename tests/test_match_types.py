"""What a hit says of how it was found is true: ``match``, its label, and the raw scores of channels."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine
from dowse.search.ranking.candidates import sort_candidates
from dowse.types.answers import Match, SearchOptions, SearchResult
from dowse.types.source import Kind
from tests.source_trees import write_tree

FILES = {
    "src/session.py": "class Session:\n    def renew(self):\n        return refresh_token(self)\n",
    "src/parcel.py": "def weigh(parcel):\n    return parcel.grams\n\n\ndef post(parcel):\n    return parcel.stamp\n",
    "tests/test_parcel.py": "def test_first():\n    assert True\n",
    "src/other.py": "def unrelated():\n    return 1\n",
    "Dockerfile": "FROM python\nRUN pip install\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("tree"), FILES)


@pytest.fixture(scope="module")
def engine(tree: Path) -> Iterator[Engine]:
    with Engine.open(tree, show_low_confidence=True) as opened:
        yield opened


def hits(engine: Engine, query: str, options: SearchOptions | None = None) -> dict[str, SearchResult]:
    return {hit.path: hit for hit in reversed(engine.search(query, options).results)}


@pytest.mark.parametrize("query", ["parcel.py", "src/parcel.py", "Dockerfile"])
def test_a_file_found_by_its_name_is_labelled_as_the_file(engine: Engine, query: str) -> None:
    first = engine.search(query).results[0]
    assert (first.match, first.entity, first.kind) == (Match.FILE, "", Kind.FILE)
    assert first.path.endswith(query)


def test_a_name_is_said_only_where_a_name_matched(engine: Engine) -> None:
    found = hits(engine, "Session")
    assert (found["src/session.py"].match, found["src/session.py"].entity) == (Match.NAME, "Session")
    assert hits(engine, "src/session.py:3")["src/session.py"].match is Match.EXACT
    assert hits(engine, '"parcel.grams"')["src/parcel.py"].match is Match.EXACT


def test_a_partner_that_no_word_finds_is_said_to_be_one(tree: Path) -> None:
    with Engine.open(tree, embedder="none", show_low_confidence=True) as engine:
        found = hits(engine, "grams and stamp of what is sent")
    assert found["tests/test_parcel.py"].match is Match.PARTNER
    assert found["src/parcel.py"].match is Match.KEYWORD


def test_what_is_only_near_is_said_to_be_that(tree: Path) -> None:
    with Engine.open(tree, embedder="none", show_low_confidence=True) as engine:
        near = SearchOptions(near=(("src/other.py", 1.0),))
        assert hits(engine, "refresh_token", near)["src/other.py"].match is Match.NEAR


def test_the_partners_of_a_place_are_partners(engine: Engine) -> None:
    response = engine.related("src/parcel.py")
    assert {hit.path: hit.match for hit in response.results}["tests/test_parcel.py"] is Match.PARTNER


def test_a_hit_has_the_raw_scores_of_its_channels(tree: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "dowse",
        "search",
        "weigh a parcel",
        "-p",
        str(tree),
        "--json",
        "--explain",
    ]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    best = {channel["name"]: channel["best"] for channel in found["channels"]}
    first = found["results"][0]["channel_scores"]
    assert first["lexical"] == best["lexical"] > 0
    assert 0 < first["dense"] <= best["dense"] <= 1
    with Engine.open(tree) as engine:
        own = engine.embedder
        assert own is not None
        (hit,) = [h for h in engine.search("weigh a parcel").results if h.path == "src/parcel.py"][:1]
        assert math.isclose(dict(hit.channel_scores)["dense"], first["dense"], abs_tol=1e-6)


def test_keyword_beats_semantic_on_equal_fused_scores(engine: Engine) -> None:
    with engine.candidates("parcel") as context:
        one, other = [place for file in context.files for place in file.places][:2]
    one.score = other.score = 1.0
    one.contributions, other.contributions = [("dense", 1.0, 1)], [("lexical", 1.0, 1)]
    assert sort_candidates([one, other]) == [other, one]
    one.contributions, other.contributions = other.contributions, one.contributions
    assert sort_candidates([other, one]) == [one, other]
