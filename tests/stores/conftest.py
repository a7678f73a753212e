"""Every store of the table: empty for a test that writes, filled once for those that only read."""

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


Create = Callable[..., Store]


@pytest.fixture(scope="session")
def create(request: pytest.FixtureRequest) -> Create:
    """Makes an empty store of a kind; those on a server are of a repository each."""

    def made(kind: str, folder: Path, fingerprint: str = "one") -> Store:
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
            build(opened, tree)
            context = opened.snapshot()
            made[id(tree)] = (opened, context, context.__enter__())
        return made[id(tree)][2]

    yield read
    for opened, context, _ in made.values():
        context.__exit__(None, None, None)  # type: ignore[attr-defined]
        opened.close()
