"""The store on a cluster: what readers see when writers end in mid-commit, failures by name, nodes that are lost."""

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count
from pathlib import Path

import pytest

from dowse import stores
from dowse.errors import (
    IndexForeign,
    IndexMissing,
    IndexTooNew,
    IndexUnreachable,
    IndexUnwritable,
    UsageError,
)
from dowse.stores import copy_store
from dowse.stores.protocol import FORMAT, Store
from dowse.types.stored import IndexState, NameTier

from .building import REPORT, TREE, build, dense, embedded, lexical, names, source, sources, write
from .conftest import create_on_cluster

opensearch = pytest.importorskip("dowse.stores.opensearch")

NUMBERS = count()

Cluster = tuple[str, str]

OLD = {"a.py": "def alpha(): return marker\n", "b.py": "def beta(): return marker\n"}
NEW = {"a.py": "def gamma(): return marker\n", "c.py": "def delta(): return marker\n"}


def create(cluster: Cluster, repository: str = "", fingerprint: str = "one") -> Store:
    url, catalogue = cluster
    return create_on_cluster(url, catalogue, repository or f"faults {next(NUMBERS)}", fingerprint)


@pytest.fixture
def store(cluster: Cluster) -> Iterator[Store]:
    opened = create(cluster)
    yield opened
    opened.close()


def check_shows(store: Store, paths: set[str], name: str) -> None:
    """Every channel has the chunks of these files and no others."""
    with store.snapshot() as snapshot:
        assert set(snapshot.manifest()) == paths
        assert set(lexical(snapshot, "marker")) == paths
        assert set(dense(snapshot, "marker")) == paths
        assert names(snapshot, name, NameTier.EXACT) == [name]
        assert snapshot.chunk_count() == len(paths)


# --- commits that are broken off -------------------------------------------------------------------


def test_a_commit_that_was_broken_off_shows_nowhere_and_is_swept(store: Store) -> None:
    build(store, OLD)
    catalogue, channels = store.catalogue, store.channels  # type: ignore[attr-defined]
    for _ in range(2):
        with catalogue.writer() as writer:
            broken = writer.plan(["b.py"], sources(NEW))
            channels.put(broken)
            channels.drop(broken)
        check_shows(store, {"a.py", "b.py"}, "alpha")
    assert write(store, {"d.py": "def last(): return marker\n"}) > 2
    check_shows(store, {"a.py", "b.py", "d.py"}, "beta")
    with store.writer() as writer:
        assert writer.apply(["a.py"], []) > 3
        writer.finish(REPORT, {})
    check_shows(store, {"b.py", "d.py"}, "beta")


def test_a_writer_that_lost_its_lock_changes_nothing(store: Store) -> None:
    """Its documents arrive after another writer has committed: what that one removed stays removed."""
    build(store, OLD)
    catalogue, channels = store.catalogue, store.channels  # type: ignore[attr-defined]
    with catalogue.writer() as writer:
        late = writer.plan(["a.py"], [source("late.py", "def late(): return marker\n")])
    write(store, {"d.py": "def last(): return marker\n"}, removed=["a.py"])
    channels.put(late)
    channels.drop(late)
    check_shows(store, {"b.py", "d.py"}, "beta")


def test_what_is_forgotten_leaves_the_cluster(cluster: Cluster) -> None:
    one, two = create(cluster, "forgotten"), create(cluster)
    build(one, OLD)
    build(two, NEW)
    identity = read_identity(one)
    shared = stores.require_shared_store(two)
    assert identity in two.channels.list_identities()  # type: ignore[attr-defined]
    assert shared.collect_garbage(["forgotten"], None).views == 1
    assert identity not in two.channels.list_identities()  # type: ignore[attr-defined]
    assert one.state() is IndexState.MISSING
    check_shows(two, set(NEW), "gamma")
    one.close()
    two.close()


def read_identity(store: Store) -> str:
    with store.snapshot() as snapshot:
        return snapshot.identity


def test_an_index_is_copied_into_the_cluster_and_out_of_it(store: Store, tmp_path: Path) -> None:
    first, back = embedded(tmp_path / "one"), embedded(tmp_path / "two")
    build(first, TREE)
    assert copy_store.copy(first, store, lambda *_: None) == len(TREE)
    assert copy_store.copy(store, back, lambda *_: None) == len(TREE)
    assert list(first.dump()) == list(store.dump()) == list(back.dump())
    first.close()
    back.close()


def test_status_names_both_servers(store: Store) -> None:
    build(store, OLD)
    found = stores.require_shared_store(store).server_status()
    assert found.product == "OpenSearch" and "catalogue PostgreSQL" in found.version
    assert any(view.files == len(OLD) for view in found.views)
    assert "opensearch+http" in store.status().location


# --- failures by name ------------------------------------------------------------------------------


def test_a_catalogue_belongs_to_one_prefix(cluster: Cluster) -> None:
    url, catalogue = cluster
    other = create((f"{url}-other", catalogue))
    with pytest.raises(IndexForeign, match="another cluster or prefix"):
        stores.require_shared_store(other).init()
    with pytest.raises(IndexMissing, match="dowse store init"):
        build(other, OLD)
    other.close()


@pytest.mark.parametrize(
    ("about", "error", "words"),
    [
        ({"format": FORMAT + 1, "catalogue": ""}, IndexTooNew, "newer dowse"),
        ({"format": FORMAT - 1, "catalogue": ""}, UsageError, "older dowse"),
        ({"format": FORMAT, "catalogue": "of others"}, IndexForeign, "another catalogue"),
        (None, IndexForeign, "is not dowse's"),
    ],
)
def test_an_index_of_another_version_or_owner_is_refused(
    store: Store, about: dict[str, object] | None, error: type[Exception], words: str
) -> None:
    client = opensearch.ClusterClient(store.client.address)  # type: ignore[attr-defined]
    path = f"/{client.address.prefix}-names/_mapping"
    (mapping,) = client.send("GET", path).values()
    before = mapping["mappings"]["_meta"]
    client.send("PUT", path, {"_meta": {"dowse": about} if about else {}})
    try:
        with pytest.raises(error, match=words):
            build(store, OLD)
    finally:
        client.send("PUT", path, {"_meta": before})
        client.close()
    build(store, OLD)


@contextmanager
def answering(status: int, body: bytes = b"{}") -> Iterator[tuple[str, list[str]]]:
    """A server that gives one answer to everything, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            asked.append(f"{self.command} {self.path}")
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    for verb in ("GET", "POST", "PUT", "HEAD"):
        setattr(Handler, f"do_{verb}", Handler.answer)
    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"opensearch+http://ada:s3cret@127.0.0.1:{server.server_address[1]}/a", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "error", "words", "is_repeated"),
    [
        (401, b"Unauthorized", IndexUnreachable, "refuses the login", False),
        (403, b'{"error": {"type": "security_exception"}}', IndexUnwritable, "lacks a right", False),
        (404, b'{"error": {"type": "index_not_found_exception"}}', IndexMissing, "dowse store init", False),
        (
            429,
            b'{"error": {"type": "rejected_execution_exception"}}',
            IndexUnreachable,
            "too much to do",
            True,
        ),
        (
            429,
            b'{"error": {"type": "circuit_breaking_exception", "reason": "circuit_breaking"}}',
            IndexUnreachable,
            "out of memory",
            True,
        ),
        (
            503,
            b'{"error": {"type": "search_phase_execution_exception"}}',
            IndexUnreachable,
            "has no node",
            True,
        ),
    ],
)
def test_what_a_cluster_refuses_has_a_name(
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    body: bytes,
    error: type[Exception],
    words: str,
    is_repeated: bool,
) -> None:
    monkeypatch.setattr("dowse.stores.opensearch.cluster_client.FIRST_PAUSE_SECONDS", 0.001)
    with answering(status, body) as (url, asked):
        client = opensearch.ClusterClient(opensearch.parse_address(url, 5.0))
        with pytest.raises(error, match=words) as raised:
            client.search("a-chunks", {})
        client.close()
    assert "s3cret" not in str(raised.value)
    assert (len(asked) > 1) is is_repeated


def test_a_shard_that_does_not_answer_is_an_error() -> None:
    partial = b'{"timed_out": false, "_shards": {"total": 3, "failed": 1}, "hits": {"hits": []}}'
    with answering(200, partial) as (url, _):
        client = opensearch.ClusterClient(opensearch.parse_address(url, 5.0))
        with pytest.raises(IndexUnreachable, match="1 of 3 shards did not answer"):
            client.search("a-chunks", {})
        client.close()


def test_a_cluster_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dowse.stores.opensearch.cluster_client.FIRST_PAUSE_SECONDS", 0.001)
    for url, words in (
        ("opensearch+http://ada:s3cret@127.0.0.1:1/a", "cannot be reached"),
        ("opensearch+https://ada:s3cret@127.0.0.1:1/a?ca=/nowhere.pem", "nowhere.pem|cannot be reached"),
    ):
        with pytest.raises((IndexUnreachable, UsageError), match=words) as raised:
            opensearch.ClusterClient(opensearch.parse_address(url, 1.0)).send("GET", "/")
        assert "s3cret" not in str(raised.value)


def test_a_server_without_encryption_is_no_trusted_one() -> None:
    with answering(200) as (url, _):
        secure = url.replace("opensearch+http", "opensearch+https")
        with pytest.raises(IndexUnreachable) as raised:
            opensearch.ClusterClient(opensearch.parse_address(secure, 2.0)).send("GET", "/")
    assert "s3cret" not in str(raised.value)


# --- nodes that are lost ---------------------------------------------------------------------------


@pytest.mark.skipif("DOWSE_TEST_OPENSEARCH" in os.environ, reason="the nodes of others are not killed")
def test_searches_and_commits_go_on_while_a_node_is_lost(cluster: Cluster, testrun_uid: str) -> None:
    from .cluster_nodes import NODES, VERSION, ClusterNodes

    nodes = ClusterNodes(Path(tempfile.gettempdir()) / f"dowse-opensearch-{testrun_uid[:12]}")
    assert nodes.home.name.endswith(VERSION)
    store = create(cluster)
    build(store, OLD)
    nodes.kill(NODES - 1)
    check_shows(store, set(OLD), "alpha")
    write(store, {"d.py": "def last(): return marker\n"})
    check_shows(store, {*OLD, "d.py"}, "last")
    nodes.start(NODES - 1)
    nodes.wait()
    check_shows(store, {*OLD, "d.py"}, "last")
    store.close()
