"""Changes are noticed alike by comparing everything and by what the operating system tells."""

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from dowse import Engine
from dowse.indexing import change_tracker, freshness, inotify
from dowse.indexing.discover import Rules, discover
from dowse.indexing.inotify import Unwatchable, Watch
from dowse.types.discovered import FoundFile

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "above" / "tree"
    (root / "pkg" / "inner").mkdir(parents=True)
    write(root / "pkg" / "zoo.py", "zebra_crossing")
    write(root / "pkg" / "inner" / "farm.py", "horse_riding")
    return root


@pytest.fixture(params=["compared", "heard"])
def engine(request: pytest.FixtureRequest, tree: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine that has been asked before, once with each means."""
    if request.param == "compared":
        monkeypatch.setattr(inotify, "MAX_WATCHES", 0)
    elif not listens(tree):
        pytest.skip("cannot listen here")
    time.sleep(0.06)  # so that time stamps are settled
    with Engine.open(tree, index_dir=str(tree.parent.parent / "index")) as engine:
        asked_before(engine)
        yield engine


def listens(tree: Path) -> bool:
    try:
        Watch(tree).close()
    except Unwatchable:
        return False
    return True


def asked_before(engine: Engine) -> None:
    asked_before_in(engine, "pkg/zoo.py")


def asked_before_in(engine: Engine, path: str) -> None:
    for _ in range(3):
        assert found(engine, "zebra_crossing") == [path]


def write(path: Path, name: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"def {name}():\n    return 1\n")


def found(engine: Engine, name: str) -> list[str]:
    """Where a search finds a definition."""
    engine.force_check()
    results = engine.search(name).results
    assert all(result.fresh for result in results)
    return [result.path for result in results if result.entity == name]


def git(root: Path, *args: str) -> None:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *identity, *args], check=True, capture_output=True)


# --- the same with both means ----------------------------------------------------------------------


def test_edit(engine: Engine, tree: Path) -> None:
    for name in ("lion_taming", "bear_feeding", "wolf_howling"):
        write(tree / "pkg" / "zoo.py", name)
        assert found(engine, name) == ["pkg/zoo.py"]
    assert found(engine, "zebra_crossing") == []


def test_edit_in_place_through_an_open_file(engine: Engine, tree: Path) -> None:
    with (tree / "pkg" / "zoo.py").open("r+b", buffering=0) as file:
        file.write(b"def zzzzz")
        assert found(engine, "zzzzz_crossing") == ["pkg/zoo.py"]
        file.seek(0)
        file.write(b"def yyyyy")
        os.utime(tree / "pkg" / "zoo.py", (1, 1))
        assert found(engine, "yyyyy_crossing") == ["pkg/zoo.py"]


def test_write_to_mapped_memory(engine: Engine, tree: Path) -> None:
    import mmap

    time.sleep(0.06)
    with (tree / "pkg" / "zoo.py").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[4:9] = b"zzzzz"
    assert found(engine, "zzzzz_crossing") == ["pkg/zoo.py"]


def test_delete_and_rename(engine: Engine, tree: Path) -> None:
    (tree / "pkg" / "zoo.py").rename(tree / "pkg" / "park.py")
    assert found(engine, "zebra_crossing") == ["pkg/park.py"]
    (tree / "pkg" / "park.py").replace(tree / "pkg" / "inner" / "farm.py")
    assert found(engine, "zebra_crossing") == ["pkg/inner/farm.py"]
    assert found(engine, "horse_riding") == []
    (tree / "pkg" / "inner" / "farm.py").unlink()
    assert found(engine, "zebra_crossing") == []


@needs_git
@pytest.mark.parametrize("watches", [0, inotify.MAX_WATCHES], ids=["compared", "heard"])
def test_ignore_files_outside_of_the_tree(
    tree: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, watches: int
) -> None:
    monkeypatch.setattr(inotify, "MAX_WATCHES", watches)
    own = tmp_path_factory.mktemp("user") / "ignore"
    monkeypatch.setattr("dowse.settings.global_git_ignore", lambda: own)
    git(tree, "init", "-q")
    with Engine.open(tree / "pkg") as engine:
        asked_before_in(engine, "zoo.py")
        for file in (tree / ".git" / "info" / "exclude", tree / ".gitignore", tree / ".dowseignore", own):
            file.write_text("zoo.py\n")
            assert found(engine, "zebra_crossing") == [], file
            assert engine.count_pending() == 0
            file.write_text("")
            assert found(engine, "zebra_crossing") == ["zoo.py"], file
            file.unlink()
            assert found(engine, "zebra_crossing") == ["zoo.py"], file


@pytest.mark.parametrize("watches", [0, inotify.MAX_WATCHES], ids=["compared", "heard"])
def test_an_ignore_file_that_ignores_itself(
    tree: Path, monkeypatch: pytest.MonkeyPatch, watches: int
) -> None:
    monkeypatch.setattr(inotify, "MAX_WATCHES", watches)
    with Engine.open(tree) as engine:
        asked_before_in(engine, "pkg/zoo.py")
        for file in (tree / ".gitignore", tree / "pkg" / ".dowseignore"):
            file.write_text(".*\nzoo.py\n")
            assert found(engine, "zebra_crossing") == [], file
            file.write_text(".*\n")
            assert found(engine, "zebra_crossing") == ["pkg/zoo.py"], file
            file.write_text(".*\ninner\n")
            assert found(engine, "horse_riding") == [], "also what is below a folder that did not change"
            file.unlink()
            assert found(engine, "horse_riding") == ["pkg/inner/farm.py"], file
            assert engine.count_pending() == 0


def test_a_whole_tree_of_new_folders(engine: Engine, tree: Path) -> None:
    write(tree / "a" / "b" / "c" / "deep.py", "deep_down")
    assert found(engine, "deep_down") == ["a/b/c/deep.py"]
    write(tree / "a" / "b" / "c" / "deep.py", "deeper_down")  # the folder is new to whoever listens
    assert found(engine, "deeper_down") == ["a/b/c/deep.py"]
    write(tree / "a" / "b" / "c" / "d" / "more.py", "more_down")
    assert found(engine, "more_down") == ["a/b/c/d/more.py"]


def test_an_empty_folder_that_is_filled_later(engine: Engine, tree: Path) -> None:
    (tree / "empty").mkdir()
    found(engine, "zebra_crossing")
    write(tree / "empty" / "late.py", "late_comer")
    assert found(engine, "late_comer") == ["empty/late.py"]


def test_folders_moved_within_out_of_and_into_the_tree(engine: Engine, tree: Path, tmp_path: Path) -> None:
    (tree / "pkg" / "inner").rename(tree / "outer")
    assert found(engine, "horse_riding") == ["outer/farm.py"]
    write(tree / "outer" / "farm.py", "cow_milking")
    assert found(engine, "cow_milking") == ["outer/farm.py"]
    (tree / "outer").rename(tmp_path / "away")
    assert found(engine, "cow_milking") == []
    write(tmp_path / "away" / "farm.py", "goat_herding")
    assert found(engine, "goat_herding") == []
    (tmp_path / "away").rename(tree / "back")
    assert found(engine, "goat_herding") == ["back/farm.py"]


def test_a_folder_replaced_by_another_of_its_name(engine: Engine, tree: Path) -> None:
    shutil.rmtree(tree / "pkg" / "inner")
    write(tree / "pkg" / "inner" / "farm.py", "cow_milking")
    assert found(engine, "cow_milking") == ["pkg/inner/farm.py"]
    write(tree / "pkg" / "inner" / "farm.py", "goat_herding")
    assert found(engine, "goat_herding") == ["pkg/inner/farm.py"]


def test_file_and_folder_change_places(engine: Engine, tree: Path) -> None:
    (tree / "pkg" / "zoo.py").unlink()
    write(tree / "pkg" / "zoo.py" / "inside.py", "inside_out")
    assert found(engine, "inside_out") == ["pkg/zoo.py/inside.py"]
    shutil.rmtree(tree / "pkg" / "zoo.py")
    write(tree / "pkg" / "zoo.py", "zebra_crossing")
    assert found(engine, "zebra_crossing") == ["pkg/zoo.py"]


def test_ignore_files(engine: Engine, tree: Path) -> None:
    (tree / "pkg" / ".gitignore").write_text("inner/\n")
    assert found(engine, "horse_riding") == []
    write(tree / "pkg" / "inner" / "farm.py", "cow_milking")
    assert found(engine, "cow_milking") == []
    (tree / "pkg" / ".gitignore").write_text("zoo.py\n")
    assert found(engine, "cow_milking") == ["pkg/inner/farm.py"]
    assert found(engine, "zebra_crossing") == []
    write(tree / "pkg" / "inner" / "farm.py", "goat_herding")
    assert found(engine, "goat_herding") == ["pkg/inner/farm.py"]


@needs_git
def test_branch_switch(engine: Engine, tree: Path) -> None:
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "first")
    git(tree, "checkout", "-q", "-b", "side")
    shutil.rmtree(tree / "pkg" / "inner")
    write(tree / "pkg" / "zoo.py", "lion_taming")
    write(tree / "side" / "by" / "side.py", "side_by_side")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "second")
    for _ in range(2):
        git(tree, "checkout", "-q", "main")
        assert found(engine, "zebra_crossing") == ["pkg/zoo.py"]
        assert found(engine, "horse_riding") == ["pkg/inner/farm.py"]
        assert found(engine, "side_by_side") == []
        git(tree, "checkout", "-q", "side")
        assert found(engine, "side_by_side") == ["side/by/side.py"]
        assert found(engine, "lion_taming") == ["pkg/zoo.py"]
        assert found(engine, "horse_riding") == []


def test_the_folder_above_is_another_one(engine: Engine, tree: Path) -> None:
    above = tree.parent
    above.rename(above.with_name("moved"))
    write(tree / "other.py", "other_tree")
    assert found(engine, "other_tree") == ["other.py"]
    assert found(engine, "zebra_crossing") == []


def test_more_changes_than_are_kept(engine: Engine, tree: Path) -> None:
    known, other = tree / "pkg" / "zoo.py", tree / "pkg" / "inner" / "farm.py"
    for moment in range(20_000):  # the kernel keeps 16,384
        os.utime((known, other)[moment % 2], (moment, moment))
    write(tree / "pkg" / "new.py", "brand_new")
    assert found(engine, "brand_new") == ["pkg/new.py"]
    write(known, "lion_taming")
    assert found(engine, "lion_taming") == ["pkg/zoo.py"]


def test_another_writer(engine: Engine, tree: Path) -> None:
    with Engine.open(tree, index_dir=engine.settings.index_dir) as other:
        write(tree / "new" / "x.py", "brand_new")
        assert found(other, "brand_new") == ["new/x.py"]
        assert found(engine, "brand_new") == ["new/x.py"]
        (tree / "none").mkdir()
        found(other, "brand_new")
        found(engine, "brand_new")
        write(tree / "none" / "late.py", "late_comer")
        assert found(engine, "late_comer") == ["none/late.py"]
        other.clear()
        assert found(engine, "late_comer") == ["none/late.py"]


def test_what_could_not_be_written_is_not_forgotten(engine: Engine, tree: Path) -> None:
    write(tree / "pkg" / "zoo.py", "lion_taming")
    with Engine.open(tree, index_dir=engine.settings.index_dir) as other, other.store.writer():
        engine.force_check()
        assert any("as it was" in note for note in engine.search("lion_taming").notes)
    assert found(engine, "lion_taming") == ["pkg/zoo.py"]


def test_closed_and_asked_again(engine: Engine, tree: Path) -> None:
    engine.close()
    write(tree / "pkg" / "zoo.py", "lion_taming")
    assert found(engine, "lion_taming") == ["pkg/zoo.py"]


@pytest.mark.parametrize("seed", range(2))
def test_anything_at_all(engine: Engine, tree: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    for step in range(20):
        for number in range(chance.randrange(1, 5)):
            something(chance, tree, tmp_path, f"name_{step}_{number}")
        engine.force_check()
        assert engine.refresh() == []
        assert indexed(engine) == on_disk(tree), f"step {step}"


def something(chance: random.Random, tree: Path, away: Path, name: str) -> None:
    """One change of a tree as people, editors and git make them."""
    entries = sorted(path for path in tree.rglob("*"))
    files = [path for path in entries if path.is_file() and path.suffix == ".py"]
    folders = [tree, *(path for path in entries if path.is_dir())]
    target = chance.choice(folders) / f"{name}.py"
    old = chance.choice(files) if files else target
    folder = chance.choice(folders[1:]) if len(folders) > 1 else target.with_suffix("")
    choices: list[Callable[[], object]] = [
        lambda: write(old, name),
        lambda: write(target, name),
        lambda: write(target.with_suffix("") / "sub" / "x.py", name),
        lambda: old.unlink(missing_ok=True),
        lambda: old.exists() and old.replace(target),
        lambda: folder.exists() and folder.rename(tree / name),
        lambda: folder.exists() and folder.rename(away / name),
        lambda: shutil.rmtree(folder, ignore_errors=True),
        lambda: target.with_suffix("").mkdir(),
        lambda: (target.parent / ".gitignore").write_text(f"{old.name}\n"),
        lambda: (target.parent / ".gitignore").unlink(missing_ok=True),
    ]
    chance.choice(choices)()


def indexed(engine: Engine) -> dict[str, bytes]:
    with engine.store.snapshot() as snapshot:
        return {
            path: snapshot.content(file.id)
            for path in snapshot.manifest()
            if (file := snapshot.file_at(path))
        }


def on_disk(tree: Path) -> dict[str, bytes]:
    found = (item for item in discover(tree, Rules()) if isinstance(item, FoundFile))
    return {item.path: (tree / item.path).read_bytes() for item in found}


# --- listening alone -------------------------------------------------------------------------------


@on_linux
def test_it_is_heard_not_compared(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that the kernel does not tell of is found as late as the documentation says."""
    monkeypatch.setattr(freshness, "CHECK_PAUSE_FACTOR", 10**9)  # nothing is compared when in doubt
    if not listens(tree):
        pytest.skip("cannot listen here")
    time.sleep(0.06)
    (tmp_path / "linked.py").hardlink_to(tree / "pkg" / "zoo.py")
    with Engine.open(tree, embedder="none") as engine:  # which finds by words alone
        asked_before(engine)
        write(tmp_path / "linked.py", "lion_taming")
        assert found(engine, "lion_taming") == []
        assert found(engine, "zebra_crossing") == [], "the files of an answer are always looked at"
        write(tmp_path / "linked.py", "bear_feeding")
        monkeypatch.setattr(time, "monotonic", later(change_tracker.MAX_WATCH_SECONDS))
        assert found(engine, "bear_feeding") == ["pkg/zoo.py"]


def later(seconds: float) -> Callable[[], float]:
    now = time.monotonic
    return lambda: now() + seconds


def open_watches() -> int:
    """How many descriptors of watches the process has."""
    links = (f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd"))
    return sum(os.path.lexists(link) and "inotify" in os.readlink(link) for link in links)


@on_linux
def test_nothing_is_left_open(tree: Path) -> None:
    before = open_watches()
    with Engine.open(tree) as engine:
        engine.search("zebra_crossing")
        assert open_watches() == before, "a process that asks once does not listen"
        asked_before(engine)
        assert open_watches() == before + listens(tree)
    assert open_watches() == before


@on_linux
def test_a_process_watches_few_trees(tmp_path: Path) -> None:
    if not listens(tmp_path):
        pytest.skip("cannot listen here")
    watches = []
    with ExitStack() as stack, pytest.raises(Unwatchable):
        for _ in range(inotify.MAX_WATCHES + 1):
            watches.append(Watch(tmp_path))
            stack.callback(watches[-1].close)
    assert len(watches) == inotify.MAX_WATCHES


@on_linux
def test_limits_of_the_system(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    time.sleep(0.06)
    with Engine.open(tree) as engine:
        engine.search("zebra_crossing")
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        before = open_watches()
        with pytest.raises(Unwatchable):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(map(int, os.listdir("/proc/self/fd"))), hard))
            try:
                Watch(tree)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert open_watches() == before
        monkeypatch.setattr(Watch, "_add", no_space_left)
        asked_before(engine)
        assert open_watches() == before
        write(tree / "pkg" / "zoo.py", "lion_taming")
        assert found(engine, "lion_taming") == ["pkg/zoo.py"]


def no_space_left(watch: Watch, folder: str) -> None:
    raise OSError(28, os.strerror(28))


@on_linux
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_file_systems_that_others_may_change() -> None:
    with ExitStack() as stack, pytest.raises(Unwatchable):
        watch = Watch(Path("/proc/self"))
        stack.callback(watch.close)
        watch.add({""})


@on_linux
def test_a_forked_process_does_not_listen_to_what_is_not_its_own(tree: Path) -> None:
    if not listens(tree):
        pytest.skip("cannot listen here")
    with ExitStack() as stack:
        watch = Watch(tree)
        stack.callback(watch.close)
        watch.add({"", "pkg"})
        (tree / "pkg" / "zoo.py").touch()
        child = os.fork()
        if child == 0:
            os._exit(0 if watch.drain_events() is None else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert watch.drain_events() == {"pkg/zoo.py"}
        assert watch.drain_events() == set()
