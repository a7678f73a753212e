"""The code graph: calls and imports against jedi, nodes against LocAgent's counts, entities, cost, changes.

Each part is an outcome of its own and is skipped, with a note, if its data is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, at_least, at_most, below
from benchmarks.competitors.serve import cpu_seconds
from benchmarks.metrics import first_rank, mean, reciprocal
from benchmarks.sets import locagent
from benchmarks.stage_clock import measure_time
from dowse import Engine
from dowse.code import parsing, references, symbols
from dowse.code.languages.spec import Language
from dowse.gc_pause import gc_paused
from dowse.graph import build
from dowse.graph.traversal import Graph
from dowse.types.graph_values import Certainty, Relation
from dowse.types.source import Kind

PACKAGES = ("requests-2.32.3", "flask-3.0.3", "httpx-0.27.2")
"""Source distributions whose calls are compared with jedi; missing ones are skipped."""

LOCAGENT_COUNTS = {
    "requests-2.32.3": {"nodes": 767, "files": 34, "classes": 85, "functions": 643},
    "flask-3.0.3": {"nodes": 1609, "files": 82, "classes": 145, "functions": 1354},
}
"""Node counts of LocAgent's graph, ``__init__`` methods folded into their classes."""

JEDI_VARIABLE = "BENCH_JEDI_PYTHON"
EDITS = 200
RUNS = 7
DEPTH = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("graph")
    group.add_argument(
        "--graph-part",
        action="append",
        choices=list(PARTS),
        dest="graph_parts",
        help="only this part of the graph benchmark",
    )


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Run the chosen parts."""
    for name in args.graph_parts or PARTS:
        try:
            yield PARTS[name]()
        except data.MissingDataError as error:
            print(f"graph {name}: {error}", file=sys.stderr)


# --- calls and imports ---


def measure_calls() -> Outcome:
    """Measure precision and recall of resolved calls, and recall of imports, within the tree."""
    figures: list[Figure] = []
    notes = []
    for name in PACKAGES:
        root = data.find_folder("BENCH_SDISTS") / name
        if not root.is_dir():
            notes.append(f"{name} is not in BENCH_SDISTS: left out")
            continue
        with _open_engine(root) as engine:
            found, note = _compare_edges(name, engine.graph.load(), _load_oracle(root))
        figures += found
        notes.append(note)
    return Outcome("graph-calls", "Calls and imports against jedi", figures, notes)


def _load_oracle(root: Path) -> Any:
    """Load jedi's answers about a tree; they are cached, because they take minutes."""
    kept = data.cache_folder() / f"oracle-{root.name}.json"
    if not kept.exists():
        python = os.environ.get(JEDI_VARIABLE)
        if not python:
            raise data.MissingDataError(
                f"set {JEDI_VARIABLE} to a Python that has jedi: see benchmarks/README.md"
            )
        script = Path(__file__).with_name("oracle.py")
        done = subprocess.run([python, str(script), str(root)], capture_output=True, check=True)
        kept.write_bytes(done.stdout)
    return json.loads(kept.read_text(encoding="utf-8"))


def _compare_edges(name: str, graph: Graph, oracle: Any) -> tuple[list[Figure], str]:
    """Compare our edges with the oracle's, call by call."""
    oracle_targets: dict[tuple[str, int], set[str]] = {}
    silent: set[tuple[str, int, str]] = set()
    expected: set[tuple[str, str]] = set()
    for owner, line, called, inside, outside in oracle["sites"]:
        path = owner.partition(":")[0]
        oracle_targets.setdefault((path, line), set()).update(map(_fold_constructor, inside))
        if not inside and not outside:
            silent.add((path, line, called))
        if len(inside) == 1:
            expected.add((owner, _fold_constructor(inside[0])))
    ours: set[tuple[str, str]] = set()
    right = wrong = unjudged = 0
    for edge in _iterate_edges(graph, Relation.INVOKES):
        target, path = _fold_constructor(edge.target), edge.source.partition(":")[0]
        ours.add((edge.source, target))
        called = edge.target.rpartition(":")[2].rpartition(".")[2]
        if target in oracle_targets.get((path, edge.line), ()):
            right += 1
        elif (path, edge.line, called) in silent or (path, edge.line) not in oracle_targets:
            unjudged += 1
        else:
            wrong += 1
    imported = {
        (e.source, e.target) for e in _iterate_edges(graph, Relation.IMPORTS) if e.target in graph.files
    }
    wanted = {(path, target) for path, targets in oracle["imports"].items() for target in targets}
    figures = [
        Figure(f"{name}: precision of resolved calls", right / max(1, right + wrong), target=at_least(0.95)),
        Figure(
            f"{name}: recall of calls with one target",
            len(expected & ours) / len(expected),
            target=at_least(0.85),
        ),
        Figure(
            f"{name}: recall of imports", len(wanted & imported) / max(1, len(wanted)), target=at_least(1)
        ),
    ]
    extra = len(imported - wanted)
    note = (
        f"{name}: {len(expected)} calls with one target, {right + wrong} of ours judged, {unjudged} on which jedi is "
        f"silent; {len(wanted)} imports, {extra} of ours beyond them (roots that the oracle does not know)"
    )
    return figures, note


def _fold_constructor(id: str) -> str:
    """Replace the id of a constructor by that of its class."""
    return id.removesuffix(".__init__")


def _iterate_edges(graph: Graph, relation: Relation) -> Iterator[Any]:
    for file in graph.files.values():
        for edge in file.edges:
            if edge.relation is relation and edge.certainty is Certainty.RESOLVED:
                yield edge


# --- counts ---


def measure_counts() -> Outcome:
    """Compare our node counts, by LocAgent's counting rules, with its own."""
    figures = []
    for name, theirs in LOCAGENT_COUNTS.items():
        root = data.find_folder("BENCH_SDISTS") / name
        with _open_engine(root) as engine:
            ours = _count_nodes(engine.graph.load())
        for kind, number in theirs.items():
            share = abs(ours[kind] - number) / number
            figures.append(
                Figure(
                    f"{name}: {kind}, off by", share, target=at_most(0.02), beside=f"{ours[kind]} of {number}"
                )
            )
    return Outcome("graph-counts", "Nodes beside LocAgent's, by its rules", figures)


def _count_nodes(graph: Graph) -> dict[str, int]:
    """Count Python files, their folders, classes and functions; constructors belong to their classes."""
    files = [path for path in graph.files if path.endswith(".py")]
    nodes = [node for path in files for node in graph.files[path].nodes]
    classes = [node for node in nodes if node.kind is Kind.CLASS]
    functions = [
        n for n in nodes if n.kind in (Kind.FUNCTION, Kind.METHOD) and not _is_constructor(n.id, graph)
    ]
    folders = {parent for path in files for parent in Path(path).parents if parent != Path()}
    total = len(files) + len(classes) + len(functions) + len(folders) + 1
    return {"nodes": total, "files": len(files), "classes": len(classes), "functions": len(functions)}


def _is_constructor(id: str, graph: Graph) -> bool:
    parent = graph.parent(id)
    return id.endswith(".__init__") and parent in graph.nodes and graph.nodes[parent].kind is Kind.CLASS


# --- entities ---


def measure_entities() -> Outcome:
    """Search entities with the 100 labelled queries."""
    ranks: dict[str, list[int]] = {}
    times: list[float] = []
    labels = locagent._load_queries()
    for tree in locagent.trees():
        with _open_engine(tree.path) as engine:
            engine.graph.entities("warm")
            for query in tree.queries:
                started = cpu_seconds()
                hits = engine.graph.entities(query.text)
                times.append((cpu_seconds() - started) * 1e3)
                label = labels[query.id]
                rank = first_rank((_fold_constructor(hit.id) for hit in hits), label["gold"], 10)
                ranks.setdefault(label["kind"], []).append(rank)
    every = [rank for found in ranks.values() for rank in found]
    figures = [
        Figure("MRR@10 of entities", mean(map(reciprocal, every)), target=at_least(0.8)),
        Figure("hit@1, exact names", mean(float(r == 1) for r in ranks["symbol"]), target=at_least(0.98)),
        *(Figure(f"MRR@10, {kind}", mean(map(reciprocal, found))) for kind, found in sorted(ranks.items())),
        Figure("a query, CPU, median", statistics.median(times), "ms"),
        *_time_name_lookup(),
    ]
    return Outcome(
        "graph-entities", "Entities: LocAgent's 100 labelled queries", figures, [f"{len(every)} queries"]
    )


def _time_name_lookup() -> list[Figure]:
    """Measure the CPU time of looking up names and prefixes among 100,000 definitions, each for the first time."""
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        for n in range(500):
            text = "".join(f"def function_{n}_{i}():\n    pass\n\n\n" for i in range(200))
            (root / f"module_{n}.py").write_text(text, encoding="utf-8")
        with Engine.open(root, embedder="none", refresh=False) as engine:
            engine.index()
            look_up = engine.graph.entities
            look_up("function_1_1", content=False)
            names = [f"function_{n}_{n % 200}" for n in range(0, 500, 10)]
            prefixes = [f"function_{n}*" for n in range(1, 100, 2)]
            by_name, by_prefix = (
                [measure_time(partial(look_up, name, content=False)).cpu * 1e3 for name in asked]
                for asked in (names, prefixes)
            )
    return [
        Figure("a name among 100,000, CPU, median", statistics.median(by_name), "ms", below(10)),
        Figure(
            "a prefix of thousands of them, CPU, p95",
            statistics.quantiles(by_prefix, n=20)[-1],
            "ms",
            below(10),
        ),
    ]


# --- cost ---


def measure_cost() -> Outcome:
    """Measure what the graph adds to indexing, and the time of a graph query, on a large tree."""
    source = data.find_folder("BENCH_BIG_TREE")
    usual = _measure_usual_indexing(source)
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        with Engine.open(source, index_dir=folder, embedder="none", workers=1, refresh=False) as engine:
            indexing = measure_time(engine.index).cpu
            extracting = _measure_extraction(engine)
            building = measure_time(engine.graph.load).cpu
            impact = [_time_impact(engine, target) for target in _choose_targets(engine)]
        with Engine.open(source, index_dir=folder, embedder="none", refresh=False) as reopened:
            loading = measure_time(lambda: reopened.graph.callers(_choose_targets(reopened)[0])).wall
            graph = reopened.graph.load()
    figures = [
        Figure("indexing, CPU", usual - extracting, "s"),
        Figure("indexing without vectors, CPU", indexing - extracting, "s"),
        Figure("finding what files mention, CPU", extracting, "s"),
        Figure("resolving all names, CPU", building, "s"),
        Figure(
            "graph over indexing, CPU", (building + extracting) / (usual - extracting), target=at_most(0.4)
        ),
        Figure(
            "graph over indexing without vectors, CPU",
            (building + extracting) / (indexing - extracting),
            target=at_most(0.4),
        ),
        Figure(f"impact at depth {DEPTH}, warm, slowest of {len(impact)}", max(impact), "ms", below(50)),
        Figure("first question of a process, wall", loading, "s"),
    ]
    edges = sum(len(file.edges) for file in graph.files.values())
    note = f"{len(graph.files)} files, {len(graph.nodes)} nodes, {edges} edges"
    return Outcome("graph-cost", "What the graph costs on a large tree", figures, [note])


def _measure_usual_indexing(source: Path) -> float:
    """Measure CPU seconds of indexing with the built-in model."""
    with (
        tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder,
        Engine.open(source, index_dir=folder, workers=1, refresh=False) as engine,
    ):
        return measure_time(engine.index).cpu


def _measure_extraction(engine: Engine) -> float:
    """Measure CPU seconds of finding and packing references, on top of definitions; without parsing."""
    total = 0.0
    with engine.store.snapshot() as snapshot, gc_paused():
        for path in snapshot.manifest():
            file = snapshot.file_at(path)
            assert file is not None
            content = snapshot.content(file.id)
            language = engine.languages.detect(path, content)
            bare = replace(language, references="", links=())
            tree, _ = parsing.parse(language, content)
            started = time.process_time()
            _find_definitions(bare, tree, content)
            between = time.process_time()
            entities, matches = _find_definitions(language, tree, content)
            references.pack(entities, references.find(language, matches.references, content))
            total += time.process_time() - 2 * between + started
    return total


def _find_definitions(language: Language, tree: Any, content: bytes) -> tuple[Any, parsing.QueryMatches]:
    matches = parsing.run_queries(language, tree)
    return symbols.find(language, matches.definitions, content), matches


def _choose_targets(engine: Engine) -> list[str]:
    return [hub.node.id for hub in engine.graph.hubs(limit=10)]


def _time_impact(engine: Engine, target: str) -> float:
    engine.graph.impact(target)
    return min(measure_time(lambda: engine.graph.impact(target)).wall for _ in range(RUNS)) * 1e3


# --- changes ---


def measure_changes() -> Outcome:
    """Change a copy of a package at random; the graph must equal a fresh one after each change."""
    source = data.find_folder("BENCH_SDISTS") / "flask-3.0.3"
    rng = random.Random(0)
    equal = 0
    times = []
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "tree"
        shutil.copytree(source, root, symlinks=True)
        with Engine.open(root, embedder="none") as engine:
            engine.graph.load()
            for number in range(EDITS):
                _edit(root, rng, number)
                engine.force_check()
                times.append(measure_time(engine.graph.load).wall * 1e3)
                with engine.store.snapshot() as snapshot:
                    equal += engine.graph.load().files == build.update_graph(snapshot, {})
    figures = [
        Figure(f"changes of {EDITS} after which the graph equals a fresh one", equal, "", at_least(EDITS)),
        Figure("bringing index and graph up to date, median", statistics.median(times), "ms"),
    ]
    return Outcome("graph-changes", "The graph after changes", figures)


def _edit(root: Path, rng: random.Random, number: int) -> None:
    """Change one Python file at random."""
    files = sorted(root.rglob("*.py"))
    path = rng.choice(files)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    action = rng.choice(["cut", "cut", "copy", "add", "rename", "delete", "new"])
    if action == "delete" and len(files) > 20:
        path.unlink()
    elif action == "rename":
        path.rename(path.with_name(f"renamed_{number}.py"))
    elif action == "new":
        other = rng.choice(files)
        path.with_name(f"new_{number}.py").write_text(other.read_text(encoding="utf-8"), encoding="utf-8")
    elif action == "add":
        path.write_text(
            "".join(lines) + f"\n\ndef added_{number}():\n    return {path.stem}()\n", encoding="utf-8"
        )
    else:
        first = rng.randrange(len(lines) + 1)
        last = min(len(lines), first + rng.randint(1, 12))
        kept = lines[:first] + lines[last:] if action == "cut" else lines + lines[first:last]
        path.write_text("".join(kept), encoding="utf-8")


def _open_engine(root: Path) -> Engine:
    return Engine.open(root, store="memory", embedder="none")


PARTS: dict[str, Callable[[], Outcome]] = {
    "calls": measure_calls,
    "counts": measure_counts,
    "entities": measure_entities,
    "cost": measure_cost,
    "changes": measure_changes,
}
