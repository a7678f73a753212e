"""docs/retrieval.md, held against the code: every value, every file, the worked example."""

import importlib
import re
from pathlib import Path

import pytest

from dowse.search.ranking.fusion import METHODS, fuse
from dowse.search.ranking.signals import SIGNALS
from dowse.settings import SIGNALS as SWITCHABLE
from dowse.settings import Settings
from dowse.types.stored import Scored

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "dowse"
PAGE = ROOT / "docs" / "retrieval.md"
VALUE = re.compile(r"`([a-z_.]+)\.([A-Za-z_]+)(?:\[\"([^\"]+)\"\])? = ([^`]+)`")


def in_code(module: str, name: str, key: str | None) -> str:
    """A value as the page writes it."""
    value = getattr(Settings(), name) if module == "settings" else None
    if value is None:
        value = getattr(importlib.import_module(f"dowse.{module}"), name)
    if key is not None:
        value = value[key]
    return f'"{value}"' if isinstance(value, str) else repr(value)


def test_every_value_is_that_of_the_code(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text("utf-8")

    def true(match: re.Match[str]) -> str:
        module, name, key, _ = match.groups()
        place = f'{module}.{name}["{key}"]' if key else f"{module}.{name}"
        return f"`{place} = {in_code(module, name, key)}`"

    held = VALUE.sub(true, page)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(held, encoding="utf-8", newline="\n")
    assert len(VALUE.findall(page)) > 50
    assert held == PAGE.read_text("utf-8")


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
        "search/ranking/signals",
        "search/output",
    ],
)
def test_no_stage_is_left_out(folder: str) -> None:
    page = PAGE.read_text("utf-8")
    files = {path.relative_to(SOURCE).as_posix() for path in (SOURCE / folder).glob("[a-z]*.py")}
    assert [path for path in sorted(files) if f"`{path}`" not in page] == []


def test_every_signal_setting_and_method_is_there() -> None:
    page = PAGE.read_text("utf-8")
    for name in {*SIGNALS, *SWITCHABLE, *METHODS}:
        assert f"| `{name}` |" in page


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
