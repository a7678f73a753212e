"""The index on an OpenSearch cluster beside the embedded one: the same answers, loading, and what a query takes.

Three nodes are started here, as the tests do, or DOWSE_TEST_OPENSEARCH names a cluster; the catalogue is on a
PostgreSQL server in a temporary folder. Every tree is indexed once and copied to the cluster, where all of them are in
one index.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.stores import server
from tests.stores.cluster_nodes import Unavailable, lend_cluster

from benchmarks.bench_types import Figure, Hit, Outcome, Row, Tree, at_least, at_most
from benchmarks.data import MissingDataError
from benchmarks.metrics import mean, percentile
from benchmarks.sets import repositories
from benchmarks.shared import DEPTH, EMBEDDER, mean_ndcg, measure_overlap, to_hits
from dowse import Engine, SearchOptions, stores

PREFIX = "dowse-benchmark"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("cluster")
    group.add_argument("--cluster-trees", type=int, help="only so many trees, the smallest [default: all]")


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Copy the trees to a cluster and ask both stores the same."""
    with tempfile.TemporaryDirectory(prefix="dowse-benchmark-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        catalogue = server.database(server.start(place / "server", durable=True), "dowse_benchmark")
        try:
            with lend_cluster(f"benchmark-{os.getpid()}") as url:
                yield _measure(place, f"{url}/{PREFIX}", catalogue, args.cluster_trees)
        except Unavailable as error:
            raise MissingDataError(str(error)) from None


def _measure(folder: Path, url: str, catalogue: str, limit: int | None) -> Outcome:
    shared = stores.SharedIndexOptions("none", "none", catalogue=catalogue)
    with closing(stores.create(url, None, "", "", shared)) as store:
        stores.require_shared_store(store).init(rebuild=True)
    trees = sorted(repositories.trees(), key=lambda tree: sum(1 for _ in tree.path.rglob("*")))[:limit]
    overlaps: list[float] = []
    rows: dict[str, list[Row]] = {"embedded": [], "cluster": []}
    times: dict[str, list[float]] = {"embedded": [], "cluster": []}
    seconds, chunks = 0.0, 0
    for number, tree in enumerate(trees):
        print(f"cluster: {tree.name}", file=sys.stderr)
        own: dict[str, Any] = {
            "index_dir": str(folder / f"index-{number}"),
            "store_catalogue": catalogue,
        }
        with Engine.open(tree.path, embedder=EMBEDDER, refresh=False, **own) as engine:
            engine.index()
            chunks += engine.status().chunks
            began = time.perf_counter()
            engine.copy_index("embedded", url)
            seconds += time.perf_counter() - began
        answers = {
            name: _search_all(tree, own | settings, times[name])
            for name, settings in (("embedded", {}), ("cluster", {"store": url}))
        }
        for name, found in answers.items():
            rows[name] += repositories.rows(tree, found)
        overlaps += [measure_overlap(one, two) for one, two in zip(*answers.values(), strict=True)]
    with closing(stores.create(url, None, "", "", shared)) as store:
        size = stores.require_shared_store(store).server_status().size_bytes
        nodes = store.client.send("GET", "/_cluster/health")["number_of_nodes"]  # type: ignore[attr-defined]
    quality = {name: mean_ndcg(found) for name, found in rows.items()}
    p50, p95 = ([percentile(times[name], part) for name in ("cluster", "embedded")] for part in (0.5, 0.95))
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return Outcome(
        name="cluster",
        title="An OpenSearch cluster beside the embedded store",
        figures=[
            Figure("overlap@10, mean", mean(overlaps), target=at_least(0.95)),
            Figure("questions with the same ten places", mean(float(o == 1) for o in overlaps)),
            Figure("NDCG@10, cluster", quality["cluster"], beside=f"embedded: {quality['embedded']:.4f}"),
            Figure(
                "NDCG@10, difference", abs(quality["cluster"] - quality["embedded"]), target=at_most(0.005)
            ),
            Figure("query in one repository, p50", p50[0], "ms", beside=f"embedded: {p50[1]:.0f} ms"),
            Figure("query in one repository, p95", p95[0], "ms", at_most(150), f"embedded: {p95[1]:.0f} ms"),
            Figure("loading, chunks a second", chunks / max(seconds, 1e-9)),
            Figure("disk of cluster and catalogue, per chunk", size / max(chunks, 1), "bytes"),
        ],
        notes=(
            f"nodes on this machine: {nodes}",
            f"{len(overlaps)} queries about {len(trees)} trees, {chunks:,} chunks in one index; embedder {EMBEDDER}",
            f"load average of the machine at the end: {load:.1f}",
        ),
        official=limit is None,
    )


def _search_all(tree: Tree, settings: dict[str, Any], times: list[float]) -> list[list[Hit]]:
    found: list[list[Hit]] = []
    with Engine.open(tree.path, embedder=EMBEDDER, refresh=False, cache="off", **settings) as engine:
        for query in tree.queries:
            began = time.perf_counter()
            response = engine.search(query.text, SearchOptions(limit=DEPTH))
            times.append((time.perf_counter() - began) * 1e3)
            found.append(to_hits(response))
    return found
