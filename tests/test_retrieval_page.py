"""docs/retrieval.md and docs/ranking.md, held against the code: every value, file and feature, the worked example."""

import importlib
import math
import re
from pathlib import Path

import pytest

from dowse.code.languages import load_builtin
from dowse.search.ranking.features import FILE_FEATURES, FILE_GROUPS, PLACE_FEATURES, TEXT_FEATURES
from dowse.search.ranking.features.feature import Feature
from dowse.search.ranking.fusion import METHODS, fuse
from dowse.settings import FEATURE_GROUPS, Settings
from dowse.types.stored import Scored

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "dowse"
PAGE = ROOT / "docs" / "retrieval.md"
MODEL_CARD = ROOT / "docs" / "ranking.md"
SIGNS = {1: "+", -1: "-", 0: "±"}
VALUE = re.compile(r"`([a-z_.]+)\.([A-Za-z_]+)(?:\[\"([^\"]+)\"\])? = ([^`]+)`")


def in_code(module: str, name: str, key: str | None) -> str:
    """A value as the page writes it."""
    value = getattr(Settings(), name) if module == "settings" else None
    if value is None:
        value = getattr(importlib.import_module(f"dowse.{module}"), name)
    if key is not None:
        value = value[key]
    return f'"{value}"' if isinstance(value, str) else repr(value)


@pytest.mark.parametrize(
    ("path", "least"), [(PAGE, 50), (MODEL_CARD, 4)], ids=lambda value: getattr(value, "stem", "")
)
def test_every_value_is_that_of_the_code(path: Path, least: int, request: pytest.FixtureRequest) -> None:
    page = path.read_text("utf-8")

    def true(match: re.Match[str]) -> str:
        module, name, key, _ = match.groups()
        place = f'{module}.{name}["{key}"]' if key else f"{module}.{name}"
        return f"`{place} = {in_code(module, name, key)}`"

    held = VALUE.sub(true, page)
    if request.config.getoption("--update-golden"):
        path.write_text(held, encoding="utf-8", newline="\n")
    assert len(VALUE.findall(page)) > least
    assert held == path.read_text("utf-8")


def test_every_file_is_there() -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", PAGE.read_text("utf-8")))
    assert [path for path in sorted(named) if not (SOURCE / path).is_file()] == []


@pytest.mark.parametrize(
    "folder",
    [
        "indexing",
        "search",
        "search/query",
        "search/channels",
        "search/ranking",
        "search/ranking/features",
        "search/output",
    ],
)
def test_no_stage_is_left_out(folder: str) -> None:
    page = PAGE.read_text("utf-8")
    files = {path.relative_to(SOURCE).as_posix() for path in (SOURCE / folder).glob("[a-z]*.py")}
    assert [path for path in sorted(files) if f"`{path}`" not in page] == []


def test_every_group_of_features_and_method_is_there() -> None:
    page = PAGE.read_text("utf-8")
    for name in {*FILE_GROUPS, *FEATURE_GROUPS, *METHODS}:
        assert f"| `{name}` |" in page


@pytest.mark.parametrize(
    "table", [FILE_FEATURES, TEXT_FEATURES, PLACE_FEATURES], ids=["file", "text", "place"]
)
def test_the_model_card_has_every_feature_with_its_sign(table: dict[str, Feature]) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (`.+?) \| .+\.py` \|$", MODEL_CARD.read_text("utf-8"), re.M))
    for name, feature in table.items():
        assert f"`{name}` {SIGNS[feature.sign]}" in rows[feature.group]
    for group in {feature.group for feature in table.values()}:
        named = set(re.findall(r"`(\w+)`", rows[group]))
        assert named == {name for name, feature in table.items() if feature.group == group}


def test_the_model_card_names_files_that_are_there() -> None:
    named = set(re.findall(r"`((?:features/)?[a-z_]+\.py)`", MODEL_CARD.read_text("utf-8")))
    ranking = SOURCE / "search" / "ranking"
    assert [path for path in sorted(named) if not (ranking / path).is_file()] == []


def test_the_example_is_what_fusion_does() -> None:
    a, b, c = 1, 2, 3
    channels = {
        "lexical": [Scored(a, 12.0), Scored(b, 9.0), Scored(c, 3.0)],
        "dense": [Scored(c, 0.8), Scored(a, 0.6)],
        "names": [Scored(b, 1.0)],
    }
    weights = {"lexical": 1.0, "dense": 0.2, "names": 0.3}
    rows = dict(re.findall(r"^\| ([ABC]) \| (.+) \|$", PAGE.read_text("utf-8"), re.M))
    for name, chunk in zip("ABC", (a, b, c), strict=True):
        cells = rows[name].split(" | ")
        for method, cell in zip(("scores", "rrf", "zscore"), cells, strict=True):
            score = fuse(method, channels, weights).scores[chunk]
            assert cell.rpartition("= ")[2] == f"{score:.3f}", (name, method)


def test_the_languages_with_symbols_are_those_that_have_definitions() -> None:
    section = (
        PAGE.read_text("utf-8")
        .partition("## Languages with symbols")[2]
        .partition("known in:")[2]
        .partition(". ")[0]
    )
    known = [name for name, language in load_builtin().by_name.items() if language.definitions]
    assert sorted(re.findall(r"`([^`]+)`", section)) == sorted(known)


def test_the_examples_are_computed_right() -> None:
    page = PAGE.read_text("utf-8")
    rare, common = (math.log(1 + (1000 - n + 0.5) / (n + 0.5)) for n in (10, 400))
    often = 5 * 2.2 / (5 + 1.2)
    assert f"idf is {rare:.2f} and {common:.2f}" in page
    assert f"{rare:.2f} × 1 against {common:.2f} × {often:.2f}" in page
    assert f"1/61 + 1/63 = {1 / 61 + 1 / 63:.4f}" in page and f"2/62 = {2 / 62:.4f}" in page
    assert f"1/61 = {1 / 61:.4f}" in page
    assert len(page.splitlines()) >= 250
