"""A catalogue and channels joined to one store: what is seen when a writer ends between the two."""

from contextlib import suppress

import pytest

from dowse.errors import IndexLocked
from dowse.stores.channels_protocol import PlannedCommit, VisibleGeneration
from dowse.stores.composed import ComposedStore
from dowse.stores.memory import MemoryCatalogue
from dowse.stores.memory_channels import RETAINED_GENERATIONS, MemoryChannels
from dowse.types.stored import NameTier

from .building import ANY, REPORT, build, dense, lexical, names, source, sources, write


class Killed(BaseException):
    """The writer is gone."""


class MortalChannels(MemoryChannels):
    """Channels whose writer ends at some step of a commit."""

    dies_at = ""

    def put(self, commit: PlannedCommit) -> None:
        if self.dies_at == "put":
            half = commit.added[: len(commit.added) // 2]
            super().put(commit._replace(added=half))
            raise Killed
        super().put(commit)

    def drop(self, commit: PlannedCommit) -> None:
        super().drop(commit)
        if self.dies_at == "drop":
            raise Killed


@pytest.fixture
def channels() -> MortalChannels:
    return MortalChannels()


@pytest.fixture
def store(channels: MortalChannels) -> ComposedStore:
    return ComposedStore(MemoryCatalogue("one"), channels)


OLD = {"a.py": "def alpha(): return marker\n", "b.py": "def beta(): return marker\n"}
NEW = {"a.py": "def gamma(): return marker\n", "c.py": "def delta(): return marker\n"}


def check_shows(store: ComposedStore, paths: set[str], name: str) -> None:
    """Every channel has the chunks of these files and no others."""
    with store.snapshot() as snapshot:
        assert set(snapshot.manifest()) == paths
        assert set(lexical(snapshot, "marker")) == paths
        assert set(dense(snapshot, "marker")) == paths
        assert names(snapshot, name, NameTier.EXACT) == [name]
        assert snapshot.chunk_count() == len(paths)


@pytest.mark.parametrize("step", ["put", "drop"])
def test_a_commit_that_was_broken_off_shows_nowhere(
    store: ComposedStore, channels: MortalChannels, step: str
) -> None:
    build(store, OLD)
    for _ in range(2):
        channels.dies_at = step
        with suppress(Killed):
            write(store, NEW, removed=["b.py"])
        check_shows(store, {"a.py", "b.py"}, "alpha")
    channels.dies_at = ""
    assert write(store, {"d.py": "def last(): return marker\n"}) > 1
    check_shows(store, {"a.py", "b.py", "d.py"}, "beta")
    write(store, {}, removed=["a.py"])
    check_shows(store, {"b.py", "d.py"}, "beta")


def test_what_a_broken_commit_left_is_swept(store: ComposedStore, channels: MortalChannels) -> None:
    build(store, OLD)
    channels.dies_at = "drop"
    with suppress(Killed):
        write(store, NEW, removed=["b.py"])
    channels.dies_at = ""
    with store.writer() as writer:
        for i in range(RETAINED_GENERATIONS + 1):
            writer.apply([], [source("d.py", f"def last(): return marker{i}\n")])
        writer.finish(REPORT, {})
    left = [row.source.path for row in vars(channels)["_rows"].values()]
    assert sorted(left) == ["a.py", "b.py", *["d.py"] * (RETAINED_GENERATIONS + 1)], "no c.py, no second a.py"
    with store.snapshot() as snapshot:
        assert set(lexical(snapshot, "marker")) == {"a.py", "b.py", "d.py"}


def test_a_snapshot_that_is_open_keeps_its_generation_through_a_sweep(store: ComposedStore) -> None:
    build(store, OLD)
    with store.snapshot() as old:
        for i in range(RETAINED_GENERATIONS + 2):
            write(store, {"a.py": f"def alpha(): return marker{i}\n"})
        build(store, {"b.py": "def other(): pass\n"})
        assert set(lexical(old, "marker")) == {"a.py", "b.py"}


def test_a_commit_on_an_older_generation_is_refused(store: ComposedStore) -> None:
    build(store, OLD)
    with store.catalogue.writer() as writer:
        late = writer.plan([], sources(NEW))
        writer.publish(writer.plan([], sources({"d.py": "d = 1\n"})))
        with pytest.raises(IndexLocked):
            writer.publish(late)


def test_what_is_visible_of_a_generation() -> None:
    visible = VisibleGeneration("index", "", 5, frozenset({3}))
    assert visible.shows(5, None) and visible.shows(1, 6) and visible.shows(1, 3)
    assert not visible.shows(6, None) and not visible.shows(1, 5) and not visible.shows(3, None)


def test_two_indexes_in_one_place_are_apart() -> None:
    channels = MemoryChannels()
    one, two = (ComposedStore(MemoryCatalogue("one"), channels) for _ in range(2))
    build(one, OLD)
    build(two, NEW)
    with one.snapshot() as snapshot:
        assert set(lexical(snapshot, "marker")) == set(OLD)
        assert len(snapshot.names("gamma", NameTier.EXACT, ANY, 10)) == 0
    one.clear()
    check_shows(two, set(NEW), "gamma")
