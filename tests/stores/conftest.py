"""Every store of the table: empty for a test that writes, filled once for those that only read."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from dowse import stores
from dowse.index_folder import IndexFolder
from dowse.stores.protocol import Snapshot, Store

from . import server
from .building import build

NUMBERS = count()

HOT_CACHE = "postgresql, hot cache"
"""A server's store that reads lists of everything at once, as it does after some queries."""

KINDS = (*stores.NAMES, HOT_CACHE)


@pytest.fixture(scope="session")
def admin_url(testrun_uid: str) -> str:
    """The address of a server, an administrator's; one for all processes of the run."""
    return server.start(Path(tempfile.gettempdir()) / f"dowse-postgres-{testrun_uid[:12]}")


@pytest.fixture(scope="session")
def postgres_url(admin_url: str, worker_id: str) -> str:
    """A database with an empty schema, for this process."""
    from dowse.stores.postgres import schema
    from dowse.stores.postgres.connection import Connections, Server

    url = server.database(admin_url, f"dowse_test_{worker_id}")
    schema.init(Connections(Server(url)))
    return url


@pytest.fixture(scope="session")
def cluster_url(testrun_uid: str, worker_id: str) -> Iterator[str]:
    """The address of a cluster with a prefix for this process; without one, its tests are skipped and say why."""
    if os.name != "posix":
        pytest.skip("no cluster: nodes are started on POSIX only")
    from .cluster_nodes import Unavailable, lend_cluster

    try:
        with lend_cluster(testrun_uid[:12]) as url:
            yield f"{url}/dowse-{testrun_uid[:8]}-{worker_id}"
    except Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def catalogue_url(admin_url: str, worker_id: str) -> str:
    """An empty database for the catalogue of the cluster, for this process."""
    return server.database(admin_url, f"dowse_catalogue_{worker_id}")


@pytest.fixture(scope="session")
def cluster(cluster_url: str, catalogue_url: str) -> tuple[str, str]:
    """A cluster and its catalogue, ready to be used."""
    store = create_on_cluster(cluster_url, catalogue_url, "nobody's", "one")
    stores.require_shared_store(store).init()
    store.close()
    return cluster_url, catalogue_url


def create_on_cluster(url: str, catalogue: str, repository: str, fingerprint: str) -> Store:
    """A store on a cluster."""
    shared = stores.SharedIndexOptions(repository, "/tree", catalogue=catalogue)
    return stores.create(url, None, "/tree", fingerprint, shared)


Create = Callable[..., Store]


@pytest.fixture(scope="session")
def create(request: pytest.FixtureRequest) -> Create:
    """Makes an empty store of a kind; those on a server are of a repository each."""

    def made(kind: str, folder: Path, fingerprint: str = "one") -> Store:
        if kind.startswith("opensearch"):
            url, catalogue = request.getfixturevalue("cluster")
            return create_on_cluster(url, catalogue, f"repository {next(NUMBERS)}", fingerprint)
        if not kind.startswith("postgresql"):
            return stores.create(
                kind.partition(",")[0], IndexFolder.from_data_folder(folder), "/tree", fingerprint
            )
        url = request.getfixturevalue("postgres_url")
        shared = stores.SharedIndexOptions(f"repository {next(NUMBERS)}", "/tree")
        store = stores.create(url, None, "/tree", fingerprint, shared)
        if kind == HOT_CACHE:
            vars(store)["_cache"].hot_after = 0
        return store

    return made


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, create: Create, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    opened = create(request.param, tmp_path / "index")
    yield opened
    opened.close()


Reader = Callable[[Mapping[str, str]], Snapshot]


@pytest.fixture(scope="module", params=KINDS)
def reader(
    request: pytest.FixtureRequest, create: Create, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    """For a tree, a snapshot of an index of it, made once per kind of store."""
    made: dict[int, tuple[Store, object, Snapshot]] = {}

    def read(tree: Mapping[str, str]) -> Snapshot:
        if id(tree) not in made:
            opened = create(request.param, tmp_path_factory.mktemp("index"))
            if request.param.startswith("opensearch"):
                opened.channels.hot_after = 0  # type: ignore[attr-defined]  # the list of names is read at once
            build(opened, tree)
            context = opened.snapshot()
            made[id(tree)] = (opened, context, context.__enter__())
        return made[id(tree)][2]

    yield read
    for opened, context, _ in made.values():
        context.__exit__(None, None, None)  # type: ignore[attr-defined]
        opened.close()
