"""Every store of the table: empty for a test that writes, filled once for those that only read."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from dowse import stores
from dowse.stores.base import Snapshot, Store

from .building import build


@pytest.fixture(params=stores.NAMES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    opened = stores.create(request.param, tmp_path / "index", "/tree", "one")
    yield opened
    opened.close()


Reader = Callable[[Mapping[str, str]], Snapshot]


@pytest.fixture(scope="module", params=stores.NAMES)
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """For a tree, a snapshot of an index of it, made once per kind of store."""
    made: dict[int, tuple[Store, object, Snapshot]] = {}

    def read(tree: Mapping[str, str]) -> Snapshot:
        if id(tree) not in made:
            opened = stores.create(request.param, tmp_path_factory.mktemp("index"), "/tree", "one")
            build(opened, tree)
            context = opened.snapshot()
            made[id(tree)] = (opened, context, context.__enter__())
        return made[id(tree)][2]

    yield read
    for opened, context, _ in made.values():
        context.__exit__(None, None, None)  # type: ignore[attr-defined]
        opened.close()
