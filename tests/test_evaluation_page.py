"""The figures on the page about evaluation are the recorded ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
RESULTS = ROOT / "benchmarks" / "results"


def read_figures(name: str) -> dict[str, dict[str, Any]]:
    result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return {figure["name"]: figure for figure in result["figures"]}


def read_row(first: str) -> list[str]:
    """Read the cells of the one row that begins with a text."""
    (row,) = re.findall(rf"^\| {re.escape(first)} \|(.*)\|$", PAGE, re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


def three_digits(value: float) -> str:
    return f"{value:.3f}"


@pytest.mark.parametrize("profile", ["locagent", "dowse"])
def test_the_profiles_beside_locagent(profile: str) -> None:
    figures = read_figures("locagent-profile")
    same = figures.get(f"{profile}: hits of LocAgent, same lines")
    touched, mrr = (
        figures[f"{profile}: {name}"]
        for name in ("hits of LocAgent, some of the same lines", "MRR@10 of the right file")
    )
    assert read_row(f"profile `{profile}`") == [
        three_digits(same["value"]) if same else "",
        three_digits(touched["value"]),
        three_digits(mrr["value"]),
    ]
    assert read_row("LocAgent")[-1] == mrr["beside"].removeprefix("LocAgent: ")


def test_the_profile_has_the_hits_of_locagent() -> None:
    figure = read_figures("locagent-profile")["locagent: hits of LocAgent, same lines"]
    assert (figure["target"], figure["met"]) == (">= 0.95", True)


def test_the_constants_of_bm25() -> None:
    prefix, suffix = "keywords alone, ", ": MRR@10 of the right file"
    rows = {
        name.removeprefix(prefix).removesuffix(suffix): figure
        for name, figure in read_figures("locagent-profile").items()
        if name.startswith(prefix)
    }
    assert len(rows) == 5
    for name, figure in rows.items():
        shared = figure["beside"].rpartition(" ")[2]
        assert read_row(name) == [three_digits(figure["value"]), shared]


def test_the_position_costs_nothing() -> None:
    figures = read_figures("near")
    assert {name: figure["met"] for name, figure in figures.items() if figure["target"]} == {
        name: True for name, figure in figures.items() if figure["target"]
    }
    for way in ("query terms", "description and query terms"):
        recall = f"recall of edited files at 13 files, {way}"
        told = [figures[f"{recall}, {which}"]["value"] for which in ("without the position", "with it")]
        assert read_row(way) == list(map(three_digits, told))
