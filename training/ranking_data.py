"""Collect what ranking is learned from: the features of the candidates of every query, and which are right.

    python training/ranking_data.py --trees FOLDER --indexes FOLDER --query-maps FOLDER --to FILE \\
        [--split train ...] [--queries FOLDER]

The trees are those of ``training/trees.py``; an index of each is made, or kept from the last run. ``--queries`` takes
queries from another folder, such as mined ones. For calibration every tree is also asked some queries about the others
of the chosen splits, which have no answer there. Queries that are more than a name are also collected without vectors.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from query_map_folds import use_fold
from ranking_examples import PRIMARY, SECONDARY, Example, Place, RankedFile, Target
from trees import QUESTIONS, load_pins

from dowse import Engine, SearchOptions
from dowse.errors import UsageError
from dowse.evaluation import dataset
from dowse.search.ranking.features import FeatureExtractor
from dowse.search.ranking.features.roles import find_counted_role
from dowse.search.ranking.model import NAME_TRAIT, measure_traits

SPLITS = ("train", "validation", "test")
FOREIGN_QUERIES = 8
"""Queries about other trees that each tree is asked."""

LAST_LINE = 1_000_000_000
"""The end of an answer that is a whole file."""


def main() -> None:
    """Collect the examples of the chosen splits into one file."""
    parser = argparse.ArgumentParser(description="Collect features of the candidates of queries.")
    parser.add_argument("--trees", type=Path, required=True, help="where training/trees.py wrote the trees")
    parser.add_argument("--indexes", type=Path, required=True, help="where indexes of the trees are kept")
    parser.add_argument("--to", type=Path, required=True, help="the file to write")
    parser.add_argument("--split", nargs="+", choices=SPLITS, default=["train", "validation"])
    parser.add_argument("--query-maps", type=Path, help="maps by fold of training/learn_query_map.py")
    parser.add_argument("--queries", type=Path, help="folder of other queries: <owner>+<name>.jsonl")
    parser.add_argument("--jobs", type=int, default=1, help="repositories at a time")
    arguments = parser.parse_args()
    pins = [pin for pin in load_pins() if pin.split in arguments.split]
    texts = {pin.folder_name: [row["query"] for row in load_rows(pin.split, pin.folder_name)] for pin in pins}
    chance, tasks = random.Random(0), []
    for pin in pins:
        name = pin.folder_name
        if arguments.queries:
            rows = _read_rows(arguments.queries / f"{name}.jsonl")
        else:
            own = load_rows(pin.split, name)
            others = [text for other in sorted(texts) if other != name for text in texts[other]]
            rows = [*own, *_make_foreign_rows(chance.sample(others, FOREIGN_QUERIES))]
        if rows:
            tree, index = arguments.trees / name, arguments.indexes / name
            tasks.append((pin.split, name, tree, index, rows, arguments.query_maps))
    with ProcessPoolExecutor(arguments.jobs) as pool:
        examples = [example for found in pool.map(_run_task, tasks) for example in found]
    arguments.to.write_bytes(pickle.dumps(examples))


def _run_task(task: tuple[str, str, Path, Path, Sequence[dict[str, Any]], Path | None]) -> list[Example]:
    """Collect the examples of one repository."""
    split, name, tree, index, rows, query_maps = task
    if query_maps:
        use_fold(query_maps, name)
    found = list(collect(split, name, tree, index, rows))
    print(f"{name}: {len(found)} queries", flush=True)
    return found


def load_rows(split: str, name: str) -> list[dict[str, Any]]:
    """Load the written questions about a repository."""
    return _read_rows(QUESTIONS / split / f"{name}.jsonl")


def _read_rows(path: Path) -> list[dict[str, Any]]:
    return (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    )


def _make_foreign_rows(texts: Iterable[str]) -> list[dict[str, Any]]:
    return [
        {"id": f"foreign-{n}", "query": text, "category": "foreign", "relevant": []}
        for n, text in enumerate(texts)
    ]


def collect(
    split: str, name: str, tree: Path, index: Path, rows: Sequence[dict[str, Any]]
) -> Iterator[Example]:
    """Index a tree if need be, and collect the examples of its queries."""
    with Engine.open(tree, index_dir=str(index), cache="off") as engine:
        engine.index()
        yield from _list_examples(engine, split, name, rows)
    with Engine.open(tree, index_dir=str(index), cache="off", hybrid="off") as engine:
        without_vectors = _list_examples(engine, split, name, rows)
        yield from (example for example in without_vectors if not example.traits[NAME_TRAIT])


def _list_examples(
    engine: Engine, split: str, name: str, rows: Sequence[dict[str, Any]]
) -> Iterator[Example]:
    for row in rows:
        targets = [parse_target(relevant) for relevant in row["relevant"]]
        try:
            with engine.candidates(row["query"], SearchOptions(limit=10)) as context:
                extractor = FeatureExtractor(context)
                files = list(_list_files(extractor, targets))
                traits = measure_traits(context)
        except UsageError as error:
            print(f"{row['id']}: {error}", flush=True)
            continue
        yield Example(name, split, row["id"], row["category"], row["query"], traits, targets, files)


def parse_target(relevant: str | dict[str, Any]) -> Target:
    """Parse an answer as the question files write it."""
    text, grade = (
        (relevant, 1) if isinstance(relevant, str) else (relevant["target"], relevant.get("grade", 1))
    )
    gold = dataset.parse_target(text)
    return Target(gold.path, gold.start or 1, gold.end or LAST_LINE, PRIMARY if grade > 1 else SECONDARY)


def _list_files(extractor: FeatureExtractor, targets: Sequence[Target]) -> Iterator[RankedFile]:
    extractor.read(extractor.context.files)
    for file in extractor.context.files:
        own = [target for target in targets if target.path == file.file.path]
        features = (*extractor.compute_file(file), *extractor.compute_text(file))
        lines = [(place.chunk.start_line, place.chunk.end_line) for place in file.places]
        places = [
            Place(first, last, _grade(own, first, last), values)
            for (first, last), values in zip(lines, extractor.compute_places(file), strict=True)
        ]
        grade = max([target.grade for target in own], default=0.0)
        yield RankedFile(file.file.path, find_counted_role(file), grade, features, places)


def _grade(targets: Iterable[Target], first: int, last: int) -> float:
    """Return what some lines count: the best of the targets that they overlap."""
    return max([t.grade for t in targets if t.first <= last and t.last >= first], default=0.0)


if __name__ == "__main__":
    main()
