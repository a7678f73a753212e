"""What the disk says is what an answer says, at once."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dowse import Engine
from dowse.indexing import freshness, inotify, stamps


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "zoo.py").write_text("def zebra_crossing():\n    return 1\n")
    (root / "pkg" / "farm.py").write_text("def horse_riding():\n    return 2\n")
    settle()
    return root


def settle() -> None:
    """Let the clock of the file system go on, so that what follows has another time stamp."""
    time.sleep(0.06)


def found(engine: Engine, query: str) -> list[tuple[str, str]]:
    """Paths and entities that define what is asked for, checked against the disk whatever was checked before."""
    engine.force_check()
    response = engine.search(query)
    assert all(result.fresh for result in response.results)
    return [(r.path, r.entity) for r in response.results if r.entity == query]


def test_first_search_indexes(tree: Path) -> None:
    with Engine.open(tree) as engine:
        assert found(engine, "zebra_crossing") == [("pkg/zoo.py", "zebra_crossing")]


def test_changed_file(tree: Path) -> None:
    with Engine.open(tree) as engine:
        found(engine, "zebra_crossing")
        settle()
        (tree / "pkg" / "zoo.py").write_text("def lion_taming():\n    return 1\n")
        assert found(engine, "lion_taming") == [("pkg/zoo.py", "lion_taming")]
        assert found(engine, "zebra_crossing") == []


def test_two_changes_within_one_tick_of_the_clock(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "TRUSTED_AGE_NS", 60_000_000_000)  # however slow this machine is
    path = tree / "pkg" / "zoo.py"
    with Engine.open(tree) as engine:
        found(engine, "zebra_crossing")
        now = time.time_ns()
        for name in ("aaaa_bbbb", "cccc_dddd"):  # same size, same time
            path.write_text(f"def {name}():\n    return 1\n")
            os.utime(path, ns=(now, now))
            assert found(engine, name) == [("pkg/zoo.py", name)]


def test_a_stamp_is_judged_before_the_analysis(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "TRUSTED_AGE_NS", 60_000_000_000)  # at the time of reading, all is too new

    def let_time_pass(stage: str, done: int, total: int) -> None:
        if stage == "index":
            monkeypatch.setattr(stamps, "TRUSTED_AGE_NS", 0)

    (tree / "pkg" / "farm.py").unlink()
    with Engine.open(tree) as engine:
        engine.index(let_time_pass)
        assert stamps.TRUSTED_AGE_NS == 0, "it was analyzed"
        with engine.store.snapshot() as snapshot:
            assert not snapshot.manifest()["pkg/zoo.py"].stamp.is_trusted
        assert engine.count_pending() == 0, "nothing has changed for sure"
        assert found(engine, "zebra_crossing") == [("pkg/zoo.py", "zebra_crossing")]
        with engine.store.snapshot() as snapshot:
            assert snapshot.manifest()["pkg/zoo.py"].stamp.is_trusted, "it was read again"


def test_an_ignore_file_that_is_found_to_be_gone(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inotify, "MAX_WATCHES", 0)
    monkeypatch.setattr(freshness, "CHECK_PAUSE_FACTOR", 10**9)  # only the files of an answer are compared
    (tree / "pkg" / "lake.py").write_text("def heron_fishing():\n    return 3\n")
    (tree / ".gitignore").write_text("lake.py\n")
    settle()
    with Engine.open(tree, embedder="none") as engine:
        for _ in range(3):  # until it is known that the tree cannot be watched
            assert {hit.path for hit in engine.search("lake.py").results} == {".gitignore"}
        (tree / ".gitignore").unlink()
        assert {hit.path for hit in engine.search("lake.py").results} == {"pkg/lake.py"}


def test_rules_around_the_tree_that_come_after_an_update(tree: Path) -> None:
    (tree.parent / ".git").mkdir()
    (tree.parent / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    with Engine.open(tree) as engine:
        found(engine, "zebra_crossing")
        settle()
        (tree / "pkg" / "lake.py").write_text("def heron_fishing():\n    return 3\n")
        settle()
        assert found(engine, "heron_fishing") == [("pkg/lake.py", "heron_fishing")]
        (tree.parent / ".gitignore").write_text("lake.py\n")
        assert found(engine, "heron_fishing") == []


@pytest.mark.skipif(os.name == "nt", reason="nobody notes there when a file was changed")
def test_an_edit_that_keeps_size_and_time(tree: Path) -> None:
    path = tree / "pkg" / "zoo.py"
    with Engine.open(tree) as engine:
        found(engine, "zebra_crossing")
    status = path.stat()
    settle()
    path.write_text(path.read_text().replace("zebra", "panda"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with Engine.open(tree) as engine:
        assert engine.count_pending() == 1
        assert found(engine, "panda_crossing") == [("pkg/zoo.py", "panda_crossing")]


@pytest.mark.skipif(os.name == "nt", reason="nobody notes there when a file was changed")
def test_new_permissions_change_nothing(tree: Path) -> None:
    with Engine.open(tree) as engine:
        engine.index()
        before = engine.generation()
        settle()
        (tree / "pkg" / "zoo.py").chmod(0o755)
        found(engine, "zebra_crossing")
        assert (engine.generation(), engine.count_pending()) == (before, 0)


def test_new_file_new_folder_rename_and_removal(tree: Path) -> None:
    with Engine.open(tree) as engine:
        found(engine, "zebra_crossing")
        (tree / "pkg" / "new.py").write_text("def brand_new():\n    pass\n")
        assert found(engine, "brand_new") == [("pkg/new.py", "brand_new")]
        (tree / "deep" / "er").mkdir(parents=True)
        (tree / "deep" / "er" / "x.py").write_text("def deep_down():\n    pass\n")
        assert found(engine, "deep_down") == [("deep/er/x.py", "deep_down")]
        (tree / "deep").rename(tree / "shallow")
        assert found(engine, "deep_down") == [("shallow/er/x.py", "deep_down")]
        (tree / "pkg" / "new.py").unlink()
        assert found(engine, "brand_new") == []
        settle()
        found(engine, "zebra_crossing")
        assert engine.count_pending() == 0


def test_file_added_to_a_folder_made_earlier(tree: Path) -> None:
    (tree / "empty").mkdir()
    with Engine.open(tree) as engine:
        found(engine, "zebra_crossing")
        settle()
        (tree / "empty" / "late.py").write_text("def late_comer():\n    pass\n")
        assert found(engine, "late_comer") == [("empty/late.py", "late_comer")]


def test_ignore_file_comes_and_goes(tree: Path) -> None:
    with Engine.open(tree) as engine:
        assert found(engine, "zebra_crossing")
        (tree / "pkg" / ".gitignore").write_text("zoo.py\n")
        assert found(engine, "zebra_crossing") == []
        (tree / "pkg" / ".gitignore").write_text("farm.py\n")
        assert found(engine, "zebra_crossing") == [("pkg/zoo.py", "zebra_crossing")]
        assert found(engine, "horse_riding") == []
        (tree / "pkg" / ".gitignore").unlink()
        assert found(engine, "horse_riding") == [("pkg/farm.py", "horse_riding")]


@pytest.mark.skipif(shutil.which("git") is None, reason="git makes the work tree")
def test_a_work_tree_comes_and_goes(tree: Path) -> None:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
        subprocess.run(["git", *who, *arguments], cwd=tree, check=True, capture_output=True)

    original = [("pkg/zoo.py", "zebra_crossing")]
    git("init", "-q")
    git("add", "pkg")
    git("commit", "-q", "-m", "x")
    with Engine.open(tree) as engine:
        assert found(engine, "zebra_crossing") == original
        settle()
        git("worktree", "add", "-q", "inside")
        assert found(engine, "zebra_crossing") == original
        settle()
        assert engine.count_pending() == 0
        (tree / "inside" / "pkg" / "new.py").write_text("def lion_taming():\n    return 1\n")
        assert found(engine, "lion_taming") == []
        (tree / "inside" / ".git").unlink()  # nobody's work tree any more
        assert found(engine, "lion_taming") == [("inside/pkg/new.py", "lion_taming")]
        shutil.rmtree(tree / "inside")
        assert found(engine, "zebra_crossing") == original
        git("worktree", "prune")
        git("worktree", "add", "-q", "-f", "inside", "HEAD")
        assert found(engine, "zebra_crossing") == original
        git("worktree", "remove", "inside")
        assert found(engine, "zebra_crossing") == original
        assert engine.count_pending() == 0


def test_file_that_can_no_longer_be_read_as_text(tree: Path) -> None:
    with Engine.open(tree) as engine:
        assert found(engine, "zebra_crossing")
        settle()
        (tree / "pkg" / "zoo.py").write_bytes(b"\0\1\2" * 100)
        assert found(engine, "zebra_crossing") == []


@pytest.mark.skipif(os.name == "nt", reason="nobody notes there when a file was changed")
def test_file_that_was_left_out_gets_text_under_its_old_time(tree: Path) -> None:
    path = tree / "pkg" / "__init__.py"
    path.write_bytes(b"\0\1\2\3" * 50)
    settle()
    with Engine.open(tree) as engine:
        found(engine, "zebra_crossing")
        status = path.stat()
        settle()
        path.write_text("def lion_taming():\n    return 1\n")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert engine.count_pending() == 1
        assert found(engine, "lion_taming") == [("pkg/__init__.py", "lion_taming")]


@pytest.mark.skipif(os.name == "nt", reason="nobody notes there when a folder was changed")
def test_new_permissions_of_a_folder_have_it_looked_into(tree: Path) -> None:
    with Engine.open(tree) as engine:
        engine.index()
        settle()
        (tree / "pkg").chmod(0o700)
        (tree / "pkg").chmod(0o755)
        assert engine.count_pending() == 1
        assert found(engine, "zebra_crossing") == [("pkg/zoo.py", "zebra_crossing")]
        assert engine.count_pending() == 0


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("closed", ["pkg/zoo.py", "pkg", "."], ids=["file", "folder", "names only"])
def test_what_could_not_be_read_is_found_as_soon_as_it_can(tree: Path, closed: str) -> None:
    path = tree / "animals" / closed
    (tree / "pkg").rename(tree / "pkg.away")
    (tree / "animals").mkdir()
    (tree / "pkg.away").rename(tree / "animals" / "pkg")
    opened = path.stat().st_mode
    settle()
    with Engine.open(tree) as engine:
        for first in (True, False):  # unreadable from the beginning, and later
            path.chmod(0o400 if closed == "." else 0)
            assert found(engine, "zebra_crossing") == []
            assert found(engine, "zebra_crossing") == []
            settle()
            assert engine.count_pending() == 0, first
            path.chmod(opened)
            assert found(engine, "zebra_crossing") == [("animals/pkg/zoo.py", "zebra_crossing")]
            settle()


@pytest.mark.parametrize("before", [b"", b"\0\1\2\3" * 50], ids=["empty", "binary"])
def test_file_that_was_left_out_gets_text(tree: Path, before: bytes) -> None:
    path = tree / "pkg" / "__init__.py"
    path.write_bytes(before)
    settle()
    with Engine.open(tree) as engine:
        found(engine, "zebra_crossing")
        assert engine.count_pending() == 0
        for name in ("lion_taming", "bear_feeding"):  # in place: the folder does not change
            settle()
            path.write_text(f"def {name}():\n    return 1\n")
            assert engine.count_pending() == 1
            assert found(engine, name) == [("pkg/__init__.py", name)]
            path.write_bytes(before)
            assert found(engine, name) == []
        settle()
        path.write_text("def snake_charming():\n    return 1\n")
        engine.reindex(["pkg/__init__.py"])
        with engine.store.snapshot() as snapshot:
            assert snapshot.file_at("pkg/__init__.py") is not None
        path.unlink()
        found(engine, "zebra_crossing")
        assert engine.count_pending() == 0


def test_incremental_equals_clean(tree: Path, tmp_path: Path) -> None:
    with Engine.open(tree, index_dir=str(tmp_path / "kept")) as engine:
        found(engine, "zebra_crossing")
        settle()
        (tree / "pkg" / "zoo.py").write_text("class Zoo:\n    def lion(self):\n        pass\n")
        (tree / "pkg" / "farm.py").rename(tree / "farm.py")
        (tree / "docs").mkdir()
        (tree / "docs" / "a.md").write_text("# Title\n\nText.\n")
        found(engine, "lion")
        kept = list(engine.store.dump())
    with Engine.open(tree, index_dir=str(tmp_path / "clean")) as engine:
        engine.index()
        assert list(engine.store.dump()) == kept


def test_without_refresh_stale_lines_are_marked(tree: Path) -> None:
    with Engine.open(tree) as engine:
        engine.index()
    settle()
    (tree / "pkg" / "zoo.py").write_text("def lion_taming():\n    return 1\n")
    with Engine.open(tree, refresh=False) as engine:
        (hit,) = [r for r in engine.search("zebra_crossing").results if r.path == "pkg/zoo.py"]
        assert not hit.fresh


def test_another_time_stamp_alone_makes_nothing_stale(tree: Path) -> None:
    with Engine.open(tree) as engine:
        engine.index()
    file = tree / "pkg" / "zoo.py"
    os.utime(file, ns=(10**18, 10**18))
    with Engine.open(tree, refresh=False) as engine:
        assert all(hit.fresh for hit in engine.search("zebra_crossing").results)
        assert all(hit.fresh for hit in engine.read("pkg/zoo.py"))
        file.write_bytes(file.read_bytes().replace(b"zebra", b"gebra"))
        os.utime(file, ns=(10**18 + 10**9, 10**18 + 10**9))
        (hit,) = [r for r in engine.search("zebra_crossing").results if r.path == "pkg/zoo.py"]
        assert not hit.fresh


def test_search_repairs_a_damaged_index(tree: Path) -> None:
    with Engine.open(tree) as engine:
        engine.index()
    (catalogue,) = tree.glob(".dowse/*/catalogue.db")
    catalogue.write_bytes(b"garbage" * 1000)
    with Engine.open(tree) as engine:
        response = engine.search("zebra_crossing")
        assert response.results[0].path == "pkg/zoo.py"
        assert any("repaired" in note for note in response.notes)


def test_what_comes_and_goes_between_two_processes(tree: Path) -> None:
    for change, query, expected in (
        (lambda: (tree / "pkg" / "new.py").write_text("def fox_hunt(): ...\n"), "fox_hunt", "pkg/new.py"),
        (lambda: (tree / "pkg" / "new.py").rename(tree / "pkg" / "old.py"), "fox_hunt", "pkg/old.py"),
        (lambda: shutil.copytree(tree / "pkg", tree / "zoo"), "fox_hunt", "pkg/old.py zoo/old.py"),
        (lambda: shutil.rmtree(tree / "pkg"), "fox_hunt", "zoo/old.py"),
        (lambda: (tree / ".gitignore").write_text("old.py\n"), "fox_hunt", ""),
    ):
        with Engine.open(tree) as engine:  # a process that asks once does not listen
            found(engine, "zebra_crossing")
        settle()
        change()
        with Engine.open(tree) as engine:
            assert " ".join(sorted(path for path, _ in found(engine, query))) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of changes")
def test_any_edit_is_heard_of(tree: Path) -> None:
    with Engine.open(tree) as engine:
        for _ in range(3):  # the first indexes, the second looks, the third listens
            found(engine, "zebra_crossing")
        settle()
        (tree / "pkg" / "farm.py").write_text("def mule_racing():\n    return 2\n")
        assert found(engine, "mule_racing") == [("pkg/farm.py", "mule_racing")]


LARGE_TREE_FILES = 30_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a tree of many small files, and index it."""
    root = tmp_path_factory.mktemp("large")
    for number in range(LARGE_TREE_FILES):
        if number % 100 == 0:
            (folder := root / f"part{number // 100:03}").mkdir()
        (folder / f"file{number:05}.txt").write_text("a plain note\n")  # the same: it is analyzed once
    (root / "zoo.py").write_text("def zebra_crossing():\n    return 1\n")
    settle()
    with Engine.open(root) as engine:
        assert engine.index().indexed == LARGE_TREE_FILES + 1
    return root


def test_an_edit_in_place_in_a_large_tree(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "CHECK_SECONDS", 10**6)  # however busy this machine is
    monkeypatch.setattr(freshness, "DOUBT_SECONDS", 10**6)
    path = large / "part123" / "file12345.txt"
    path.write_text("a rare okapi was here\n")
    with Engine.open(large) as engine:
        assert engine.count_pending() == 1
        response = engine.search("okapi")
        assert response.results[0].path == "part123/file12345.txt"
        assert not response.notes


def test_the_answer_names_what_was_not_compared_in_time(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = large / "part123" / "file12345.txt"
    with Engine.open(large) as engine:
        engine.refresh()
    settle()
    path.write_text("a rare tapir was here\n")
    monkeypatch.setattr(freshness, "CHECK_SECONDS", -1.0)
    with Engine.open(large) as engine:
        response = engine.search("zebra_crossing")  # has a good hit
        assert response.results[0].path == "zoo.py"
        assert any("part000/file00000.txt on" in note for note in response.notes)
        assert all(path.name != hit.path for hit in response.results)
    monkeypatch.setattr(freshness, "DOUBT_SECONDS", -1.0)
    with Engine.open(large) as engine:
        assert engine.count_pending() is None
        response = engine.search("tapir")
        assert any("part000/file00000.txt on" in note for note in response.notes)
    monkeypatch.setattr(freshness, "DOUBT_SECONDS", 10**6)
    with Engine.open(large) as engine:  # nothing good was found: all is compared first
        response = engine.search("tapir")
        assert response.results[0].path == "part123/file12345.txt"
        assert not response.notes


def test_a_pause_between_checks_does_not_hide_what_was_not_compared(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inotify, "MAX_WATCHES", 0)
    monkeypatch.setattr(freshness, "CHECK_PAUSE_FACTOR", 10**9)
    with Engine.open(tree) as engine:
        engine.index()
        monkeypatch.setattr(freshness, "CHECK_SECONDS", -1.0)
        for _ in range(4):
            assert any("pkg/farm.py on" in note for note in engine.search("zebra_crossing").notes)


def test_a_pause_between_checks_hides_nothing_that_is_looked_for(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inotify, "MAX_WATCHES", 0)
    monkeypatch.setattr(freshness, "CHECK_PAUSE_FACTOR", 10**9)
    with Engine.open(tree) as engine:
        for _ in range(3):  # until it is known that the tree cannot be watched
            engine.search("zebra_crossing")
        settle()
        (tree / "pkg" / "farm.py").write_text("def mule_racing():\n    return 2\n")
        assert engine.search("mule_racing").results[0].entity == "mule_racing"
        (tree / "pkg" / "yard.py").write_text("def goose_herding():\n    return 2\n")
        assert engine.search("goose_herding").results[0].path == "pkg/yard.py"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of changes")
def test_an_edit_that_no_event_tells_of(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "CHECK_PAUSE_FACTOR", 0)
    other = tree.parent / "other-name.py"
    os.link(tree / "pkg" / "farm.py", other)
    settle()
    with Engine.open(tree) as engine:
        for _ in range(3):  # the first indexes, the second looks, the third listens
            found(engine, "zebra_crossing")
        settle()
        other.write_text("def mule_racing():\n    return 2\n")
        assert found(engine, "mule_racing") == [("pkg/farm.py", "mule_racing")]


def test_the_graph_says_what_was_not_compared_in_time(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "CHECK_SECONDS", -1.0)
    with Engine.open(tree) as engine:
        engine.index()
        (tree / "pkg" / "zoo.py").write_text(
            "def zebra_crossing():\n    return lion_taming()\n\n\ndef lion_taming():\n    return 2\n"
        )
        answer = engine.graph.callees("zebra_crossing")
        assert any(node.endswith("lion_taming") for node in answer.nodes), "all was compared first"
        assert not answer.notes
    monkeypatch.setattr(freshness, "DOUBT_SECONDS", -1.0)
    with Engine.open(tree) as engine:
        assert any("pkg/farm.py on" in note for note in engine.graph.callees("zebra_crossing").notes)
