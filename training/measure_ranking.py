"""Measure the answers of dowse to the written questions of a split, by category.

    python training/measure_ranking.py --trees FOLDER --indexes FOLDER --split test [--setting fusion=rrf ...]

The whole search is measured, with the weights it has. The test split is for reporting: decide nothing by it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from learn_ranking import Figures, RankedPlace, measure, print_by_category, print_figures
from ranking_data import SPLITS, load_rows, parse_target
from ranking_examples import Example
from trees import load_pins

from dowse import Engine, SearchOptions
from dowse.errors import UsageError

MEASURED_HITS = 20


def main() -> None:
    """Ask every question of the chosen split, and print the figures."""
    parser = argparse.ArgumentParser(description="Measure the answers to the written questions.")
    parser.add_argument("--trees", type=Path, required=True, help="where training/trees.py wrote the trees")
    parser.add_argument("--indexes", type=Path, required=True, help="where indexes of the trees are kept")
    parser.add_argument("--split", nargs="+", choices=SPLITS, default=["test"])
    parser.add_argument("--setting", action="append", default=[], help="a setting, like fusion=rrf")
    arguments = parser.parse_args()
    settings = dict(map(parse_setting, arguments.setting))
    found: list[tuple[Example, Figures]] = []
    for pin in load_pins():
        if pin.split in arguments.split:
            name = pin.folder_name
            rows = load_rows(pin.split, name)
            found += ask(pin.split, name, arguments.trees / name, arguments.indexes / name, rows, settings)
    print_figures(" and ".join(arguments.split), [figures for _, figures in found])
    print_by_category(found)


def parse_setting(text: str) -> tuple[str, Any]:
    """Parse a setting like ``history_weight=0``: a value that is JSON is taken as such."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def ask(
    split: str, name: str, tree: Path, index: Path, rows: Sequence[dict[str, Any]], settings: dict[str, Any]
) -> Iterator[tuple[Example, Figures]]:
    """Ask the questions about one repository, and measure the answers; one that is refused has nothing."""
    with Engine.open(tree, index_dir=str(index), cache="off", **settings) as engine:
        engine.index()
        for row in rows:
            targets = [parse_target(relevant) for relevant in row["relevant"]]
            example = Example(name, split, row["id"], row["category"], row["query"], (), targets, ())
            options = SearchOptions(limit=MEASURED_HITS, show_low_confidence=True, text=False)
            try:
                hits = engine.search(row["query"], options).results
            except UsageError:
                hits = ()
            places = [RankedPlace(hit.path, hit.start_line, hit.end_line, hit.score) for hit in hits]
            yield example, measure(example, places)


if __name__ == "__main__":
    main()
