"""The shared index in PostgreSQL: agreement with the embedded store, speed, and endurance.

A server is started in a temporary folder with its default settings, or DOWSE_TEST_POSTGRES names one (then
there are no restarts). Three parts: *agreement* runs the queries about the repositories on both stores; *scale*
loads about 100,000 chunks into both and searches; *endurance* runs readers and writers at once, then kills writers and
restarts the server.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.stores import server

from benchmarks import corpus, data
from benchmarks.bench_types import Figure, Hit, Outcome, Row, Tree, at_least, at_most
from benchmarks.metrics import mean, percentile
from benchmarks.sets import repositories
from benchmarks.stage_clock import Elapsed, measure_time
from dowse import Engine, SearchOptions, stores
from dowse.types.answers import SearchResponse
from dowse.types.stored import Filter

PARTS = ("agreement", "scale", "endurance")
EMBEDDER = "static"
DEPTH = 10
CHUNKS = 100_000
WARM_UP_QUERIES, TIMED_QUERIES = 20, 200
RECALL_DEPTH, RECALL_QUERIES = 100, 50
ENDURANCE_MINUTES = 5.0
READERS, WRITERS = 16, 4
KILLS, RESTARTS = 20, 5
SEED = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("shared")
    group.add_argument("--shared-part", action="append", choices=PARTS, help="only this part [default: all]")
    group.add_argument("--trees", type=int, help="agreement: only so many trees, the smallest [default: all]")
    group.add_argument(
        "--minutes", type=float, default=ENDURANCE_MINUTES, help="endurance: how long [default: 5]"
    )


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Run each part on a server of its own."""
    parts: dict[str, Callable[[Path, str, argparse.Namespace], Outcome]] = {
        "agreement": _measure_agreement,
        "scale": _measure_scale,
        "endurance": _measure_endurance,
    }
    for name in args.shared_part or PARTS:
        with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
            url = server.database(server.start(Path(folder) / "server", durable=True), "dowse_benchmark")
            with closing(_open_store(url)) as store:
                store.init()
            yield parts[name](Path(folder), url, args)


def _open_store(url: str, view: str = "view") -> Any:
    return stores.create(url, None, view, "one", stores.SharedIndexOptions(f"repository of {view}", view))


# --- agreement ---


def _measure_agreement(folder: Path, url: str, args: argparse.Namespace) -> Outcome:
    trees = sorted(repositories.trees(), key=lambda tree: sum(1 for _ in tree.path.rglob("*")))[: args.trees]
    overlaps: list[float] = []
    rows: dict[str, list[Row]] = {"embedded": [], "postgresql": []}
    for number, tree in enumerate(trees):
        print(f"shared: agreement: {tree.name}", file=sys.stderr)
        settings_by_store = {
            "embedded": {"index_dir": str(folder / f"index-{number}")},
            "postgresql": {"store": url},
        }
        answers = {name: _search_all(tree, settings) for name, settings in settings_by_store.items()}
        for name, found in answers.items():
            rows[name] += repositories.rows(tree, found)
        overlaps += [measure_overlap(one, two) for one, two in zip(*answers.values(), strict=True)]
    quality = {name: mean_ndcg(found) for name, found in rows.items()}
    return Outcome(
        name="shared-agreement",
        title="PostgreSQL beside the embedded store: the same answers",
        figures=[
            Figure("overlap@10, mean", mean(overlaps), target=at_least(0.95)),
            Figure("questions with the same ten places", mean(float(o == 1) for o in overlaps)),
            Figure(
                "NDCG@10, PostgreSQL", quality["postgresql"], beside=f"embedded: {quality['embedded']:.4f}"
            ),
            Figure(
                "NDCG@10, difference",
                abs(quality["postgresql"] - quality["embedded"]),
                target=at_most(0.005),
            ),
        ],
        notes=(f"{len(overlaps)} questions about {len(trees)} trees; embedder {EMBEDDER}",),
    )


def _search_all(tree: Tree, settings: dict[str, Any]) -> list[list[Hit]]:
    with Engine.open(tree.path, embedder=EMBEDDER, refresh=False, **settings) as engine:
        engine.index()
        responses = (engine.search(query.text, SearchOptions(limit=DEPTH)) for query in tree.queries)
        return [to_hits(response) for response in responses]


def to_hits(response: SearchResponse) -> list[Hit]:
    """Make the hits of a response comparable."""
    return [Hit(r.path, r.start_line, r.end_line, r.entity, r.text) for r in response.results]


def measure_overlap(one: Sequence[Hit], two: Sequence[Hit]) -> float:
    """Measure the share of places that two answers have in common."""
    first, second = ({(p.path, p.start, p.end) for p in hits} for hits in (one, two))
    return len(first & second) / max(len(first), len(second)) if first or second else 1.0


def mean_ndcg(rows: Sequence[Row]) -> float:
    """Compute NDCG@10 over all queries."""
    return next(figure.value for figure in repositories.figures(rows) if figure.name == "NDCG@10")


# --- scale ---


def _measure_scale(folder: Path, url: str, args: argparse.Namespace) -> Outcome:
    made = corpus.build(folder / "tree", CHUNKS)
    queries = data.load_bench_queries()
    random.Random(SEED).shuffle(queries)
    own = {"index_dir": str(folder / "index")}
    embedded, _ = _time_loading(made.root, "dowse.stores.embedded.index_writer", "EmbeddedWriter", own)
    shared, graph = _time_loading(
        made.root, "dowse.stores.postgres.commit_writer", "PostgresWriter", {"store": url}
    )
    figures = [
        Figure("storing, wall over the embedded store", shared.wall / embedded.wall, "x", at_most(3)),
        Figure("storing, seconds", shared.wall, "s", beside=f"embedded: {embedded.wall:.0f} s"),
        Figure("graph and statistics, seconds", graph, "s"),
    ]
    with Engine.open(made.root, embedder=EMBEDDER, refresh=False, store=url) as engine:
        status = engine.status()
        python = engine.filter(languages=["python"])
        web = engine.filter(languages=["javascript", "typescript", "c", "cpp", "java"])
        for name, chosen, targets in (
            ("no filter", Filter(), (at_most(25), at_most(60))),
            ("a language", python, (None, at_most(80))),
            ("five languages", web, (None, at_most(80))),
        ):
            times = _time_queries(engine, queries, chosen)
            wall = [one.wall * 1e3 for one in times]
            figures.append(Figure(f"hybrid question, {name}, p50", percentile(wall, 0.5), "ms", targets[0]))
            figures.append(Figure(f"hybrid question, {name}, p95", percentile(wall, 0.95), "ms", targets[1]))
            cpu = percentile([one.cpu * 1e3 for one in times], 0.5)
            figures.append(Figure(f"hybrid question, {name}, CPU of the client p50", cpu, "ms"))
        for name, chosen in (("no filter", Filter()), ("a language", python), ("five languages", web)):
            recall = _measure_recall(engine, queries, chosen)
            figures.append(Figure(f"dense recall@{RECALL_DEPTH}, {name}", recall, target=at_least(0.95)))
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return Outcome(
        name="shared-scale",
        title="PostgreSQL: a tree of 100,000 chunks",
        figures=figures,
        notes=(
            f"{status.files:,} files, {status.chunks:,} chunks; the server on the same machine, over its socket",
            f"load average of the machine at the end: {load:.1f}",
        ),
    )


def _time_loading(root: Path, module: str, writer: str, settings: dict[str, Any]) -> tuple[Elapsed, float]:
    """Time all commits of an indexing run, and finishing it."""
    from importlib import import_module

    kind = getattr(import_module(module), writer)
    applied: list[Elapsed] = []
    finished: list[Elapsed] = []
    apply, finish = kind.apply, kind.finish

    def time_method(method: Any, into: list[Elapsed], *given: Any) -> Any:
        result: list[Any] = []
        into.append(measure_time(lambda: result.append(method(*given))))
        return result[0]

    kind.apply, kind.finish = (
        lambda *given: time_method(apply, applied, *given),
        lambda *given: time_method(finish, finished, *given),
    )
    try:
        with Engine.open(root, embedder=EMBEDDER, **settings) as engine:
            engine.index()
    finally:
        kind.apply, kind.finish = apply, finish
    return Elapsed(sum(s.wall for s in applied), sum(s.cpu for s in applied)), sum(s.wall for s in finished)


def _time_queries(engine: Engine, queries: Sequence[str], chosen: Filter) -> list[Elapsed]:
    options = SearchOptions(limit=DEPTH, filter=chosen)
    for query in queries[:WARM_UP_QUERIES]:
        engine.search(query, options)
    return [
        measure_time(partial(engine.search, query, options))
        for query in queries[WARM_UP_QUERIES : WARM_UP_QUERIES + TIMED_QUERIES]
    ]


def _measure_recall(engine: Engine, queries: Sequence[str], chosen: Filter) -> float:
    """Measure the share of the exact nearest chunks that the dense channel finds."""
    from dowse.stores.postgres import dense_search as reading

    assert engine.embedder is not None
    shares, usual = [], reading.EXACT_CHUNKS
    with engine.store.snapshot() as snapshot:
        for query in queries[:RECALL_QUERIES]:
            vector = engine.embedder.embed_query(query)
            found = {hit.chunk for hit in snapshot.dense(vector, chosen, RECALL_DEPTH)}
            reading.EXACT_CHUNKS = 10**9
            exact = {hit.chunk for hit in snapshot.dense(vector, chosen, RECALL_DEPTH)}
            reading.EXACT_CHUNKS = usual
            shares.append(len(found & exact) / max(1, len(exact)))
    return mean(shares)


# --- endurance ---


@contextmanager
def _start_workers(commands: Sequence[Sequence[str]]) -> Iterator[list[subprocess.Popen[str]]]:
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.shared_worker", *command],
            cwd=Path(__file__).parent.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for command in commands
    ]
    try:
        yield started
    finally:
        for one in started:
            if one.poll() is None:
                one.kill()


def _measure_endurance(folder: Path, url: str, args: argparse.Namespace) -> Outcome:
    seconds = args.minutes * 60
    views = [f"view {number}" for number in range(WRITERS)]
    for view in views:
        _seed(url, view)
    answers, commits, problems = _run_together(url, views, seconds)
    kills, lost = _kill_writers(url)
    restarts, away = _restart_server(folder, url) if "DOWSE_TEST_POSTGRES" not in os.environ else (0, [])
    return Outcome(
        name="shared-endurance",
        title="PostgreSQL: many at once, killed writers, restarted server",
        figures=[
            Figure("errors and torn answers", len(problems), "", at_most(0)),
            Figure("answers", answers),
            Figure("commits", commits),
            Figure(
                "writers killed without losing a commit", kills - len(lost), f"of {kills}", at_least(kills)
            ),
            Figure(
                "restarts without losing a commit", restarts - len(away), f"of {restarts}", at_least(restarts)
            ),
        ],
        notes=(
            f"{READERS} readers and {WRITERS} writers for {args.minutes:g} minutes",
            "a restart kills the server's processes; readers and the writer go on by themselves",
            *sorted({*problems, *lost, *away}),
        ),
        official=args.minutes == ENDURANCE_MINUTES,
    )


def _seed(url: str, view: str) -> None:
    from tests.stores.building import source

    with closing(_open_store(url, view)) as store, store.writer() as writer:
        writer.apply([], [source("f0.txt", "marker"), source("g.txt", "marker")])


def _run_together(url: str, views: Sequence[str], seconds: float) -> tuple[int, int, list[str]]:
    """Run readers and writers at once; return their counts and problems."""
    writers = [("write", url, view, str(seconds)) for view in views]
    readers = [("read", url, view, str(seconds), str(READERS // WRITERS)) for view in views]
    done, problems = {"write": 0, "read": 0}, []
    with _start_workers([*writers, *readers]) as started:
        for command, process in zip([*writers, *readers], started, strict=True):
            out, err = process.communicate()
            last = (out.strip().splitlines() or ["0"])[-1]
            if process.returncode or not last.isdigit():
                problems.append(" ".join((err or out).strip().splitlines()[-1:]))
            else:
                done[command[0]] += int(last)
    return done["read"], done["write"], problems


def _kill_writers(url: str) -> tuple[int, list[str]]:
    """Kill writers at random moments; every acknowledged commit must be there."""
    chance, problems = random.Random(SEED), []
    _seed(url, "killed")
    for _ in range(KILLS):
        with _start_workers([("write", url, "killed", "600")]) as (process,):
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.uniform(0, 0.5))
            process.kill()
            acknowledged = [int(line) for line in process.stdout.read().split() if line.isdigit()]
        problems += _find_missing(url, "killed", max(acknowledged, default=0))
    return KILLS, problems


def _restart_server(folder: Path, url: str) -> tuple[int, list[str]]:
    """Restart the server under a reader and a writer; every acknowledged commit must be there, no answer torn."""
    chance, problems = random.Random(SEED), []
    _seed(url, "restarted")
    for _ in range(RESTARTS):
        commands = [("write", url, "restarted", "8"), ("read", url, "restarted", "8", "2")]
        with _start_workers(commands) as (writer, reader):
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(chance.uniform(0.5, 2))
            server.crash(folder / "server")
            out, err = writer.communicate()
            _, read_error = reader.communicate()
            acknowledged = [int(line) for line in out.split() if line.isdigit()]
            if writer.returncode or reader.returncode:
                problems.append(" ".join((err or read_error).strip().splitlines()[-1:]))
        problems += _find_missing(url, "restarted", max(acknowledged, default=0))
    return RESTARTS, problems


def _find_missing(url: str, view: str, acknowledged: int) -> list[str]:
    with closing(_open_store(url, view)) as store, store.snapshot() as snapshot:
        expected = {f"f{snapshot.generation - 1}.txt", "g.txt"}
        if snapshot.generation < acknowledged:
            return [f"{view}: told of commit {acknowledged}, found {snapshot.generation}"]
        return (
            [] if set(snapshot.manifest()) == expected else [f"{view}: other files than its generation has"]
        )
