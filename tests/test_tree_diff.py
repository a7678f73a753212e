"""The diff between the disk and the index."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from dowse.indexing.stamps import (
    COARSE_TRUSTED_AGE_NS,
    TRUSTED_AGE_NS,
    is_same_stamp,
    judge_stamp,
    judge_time,
    stamp_of,
)
from dowse.indexing.tree_diff import TreeDiff, count_changes, diff_tree, find_watched_around, plan_run
from dowse.types.discovered import (
    FileStamp,
    FoundFile,
    Skipped,
    SkipReason,
    Watched,
    WatchedPath,
    WatchedTime,
    WatchKind,
)


@dataclass(frozen=True)
class Known:
    stamp: FileStamp
    content_hash: bytes = b"x"


def stamp(path: Path) -> FileStamp:
    return stamp_of(path.lstat())


def folder(path: str) -> WatchedPath:
    return WatchedPath(WatchKind.FOLDER, path)


def skipped_file(path: str) -> WatchedPath:
    return WatchedPath(WatchKind.SKIPPED_FILE, path)


def outer_rules(path: Path) -> WatchedPath:
    return WatchedPath(WatchKind.OUTER_RULES, str(path))


def time_of(path: Path) -> WatchedTime:
    return WatchedTime(stamp(path).changed_ns)


# --- after a walk ----------------------------------------------------------------------------------


def test_new_changed_gone_and_unchanged() -> None:
    manifest = {
        path: Known(FileStamp(1, 1)) for path in ("same.py", "size.py", "time.py", "gone.py", "left.py")
    }
    plan = plan_run(
        [
            Watched(folder(""), WatchedTime(5)),
            FoundFile("new.py", FileStamp(1, 1)),
            FoundFile("same.py", FileStamp(1, 1)),
            FoundFile("size.py", FileStamp(2, 1)),
            FoundFile("time.py", FileStamp(1, 2)),
            Skipped("left.py", SkipReason.TOO_LARGE, ""),
            Skipped("build/", SkipReason.DEFAULT_EXCLUDED, "build/"),
            Watched(folder("src"), WatchedTime(6, is_trusted=False)),
        ],
        manifest,
    )
    assert {candidate.path for candidate in plan.read} == {"new.py", "size.py", "time.py"}
    assert plan.removed == ("gone.py", "left.py")
    assert plan.unchanged == 1
    assert plan.watched == {folder(""): WatchedTime(5), folder("src"): WatchedTime(6, is_trusted=False)}
    assert len(plan.skipped) == 2
    assert plan.seen == 5, "folders skipped whole are not files"


def test_nothing_on_disk_removes_everything() -> None:
    plan = plan_run([], {"b": Known(FileStamp(1, 1)), "a": Known(FileStamp(1, 1))})
    assert (plan.read, plan.removed, plan.unchanged, plan.seen) == ((), ("a", "b"), 0, 0)


def test_nothing_known_reads_everything() -> None:
    plan = plan_run([FoundFile("a", FileStamp(1, 1))], {})
    assert plan.read == (FoundFile("a", FileStamp(1, 1)),)


def test_a_stamp_that_was_not_trusted_is_read_again() -> None:
    plan = plan_run([FoundFile("a", FileStamp(1, 7))], {"a": Known(FileStamp(1, 7, is_trusted=False))})
    assert [candidate.path for candidate in plan.read] == ["a"]


# --- at a glance -----------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    for path in ("a.py", "src/b.py", "src/größe.py", ".gitignore"):
        (tmp_path / path).write_text("x = 1\n", encoding="utf-8")
    return tmp_path


def look(tree: Path, known: dict[str, Known], watched: dict[WatchedPath, WatchedTime]) -> TreeDiff:
    return diff_tree(tree, ((path, *file.stamp) for path, file in known.items()), watched)


def as_it_is(tree: Path) -> tuple[dict[str, Known], dict[WatchedPath, WatchedTime]]:
    """Manifest and watched folders that say what the disk says."""
    files = [path for path in tree.rglob("*") if path.is_file()]
    watched = {folder(path): time_of(tree / path) for path in ("", "src")}
    return {path.relative_to(tree).as_posix(): Known(stamp(path)) for path in files}, watched


def test_no_difference(tree: Path) -> None:
    found = look(tree, *as_it_is(tree))
    assert not found
    assert found == TreeDiff()


def test_a_changed_file_is_seen_without_a_walk(tree: Path) -> None:
    manifest, watched = as_it_is(tree)
    (tree / "src" / "größe.py").write_text("x = 22\n", encoding="utf-8")
    found = look(tree, manifest, watched)
    assert found
    assert found.changed == (FoundFile("src/größe.py", stamp(tree / "src" / "größe.py")),)
    assert not found.missing
    assert not found.folders, "no name came or went"


def test_a_new_time_alone_is_a_change(tree: Path) -> None:
    manifest, watched = as_it_is(tree)
    os.utime(tree / "a.py", ns=(1, 1))
    assert [candidate.path for candidate in look(tree, manifest, watched).changed] == ["a.py"]


def test_what_is_only_looked_at_again_does_not_count_as_changed(tree: Path) -> None:
    manifest, watched = as_it_is(tree)
    (tree / "large.bin").write_bytes(b"\0")
    watched |= {folder(""): time_of(tree), skipped_file("large.bin"): time_of(tree / "large.bin")}
    manifest["a.py"] = Known(manifest["a.py"].stamp._replace(is_trusted=False))
    for path in (folder(""), skipped_file("large.bin")):
        watched[path] = watched[path]._replace(is_trusted=False)
    (tree / "src" / "b.py").write_text("x = 333\n", encoding="utf-8")
    found = look(tree, manifest, watched)
    assert {candidate.path for candidate in found.changed} == {"a.py", "src/b.py", "large.bin"}
    assert found.folders == {""}
    assert count_changes(found, manifest.get, watched) == 1


def test_a_missing_file_is_seen(tree: Path) -> None:
    manifest, watched = as_it_is(tree)
    (tree / "a.py").unlink()
    found = look(tree, manifest, watched)
    assert found.missing == ("a.py",)
    assert found.watched == {folder(""): time_of(tree)}
    assert not found.unwatched


def test_a_new_file_shows_in_its_folder(tree: Path) -> None:
    manifest, watched = as_it_is(tree)
    (tree / "src" / "new.py").write_text("y = 1\n")
    os.utime(tree / "src", ns=(5, 5))
    found = look(tree, manifest, watched)
    assert found.watched == {folder("src"): time_of(tree / "src")}
    assert not found.changed


def test_a_folder_that_is_gone_is_seen(tree: Path) -> None:
    manifest, watched = as_it_is(tree)
    watched[folder("old")] = WatchedTime(3)
    found = look(tree, manifest, watched)
    assert found == TreeDiff(unwatched=frozenset({folder("old")}))
    assert found.folders == {"old"}
    assert count_changes(found, manifest.get, watched) == 1


def test_a_skipped_file_that_changed_is_judged_again(tree: Path) -> None:
    manifest, watched = as_it_is(tree)
    del manifest["a.py"]
    watched |= {skipped_file("a.py"): WatchedTime(3), skipped_file("gone.bin"): WatchedTime(3)}
    found = look(tree, manifest, watched)
    assert found.changed == (FoundFile("a.py", stamp(tree / "a.py")),)
    assert found.unwatched == {skipped_file("a.py"), skipped_file("gone.bin")}
    assert not found.watched
    assert count_changes(found, manifest.get, watched) == 1, "the folder tells of the one that is gone"


@pytest.mark.parametrize("is_there", [True, False])
def test_rules_outside_of_the_tree_that_came_or_went_change_the_rules(tree: Path, is_there: bool) -> None:
    manifest, watched = as_it_is(tree)
    present, absent = outer_rules(tree / ".gitignore"), outer_rules(tree / "none")
    times = {present: time_of(tree / ".gitignore"), absent: WatchedTime(None)}
    assert not look(tree, manifest, watched | times), "as they were"
    changed = {present: WatchedTime(None)} if is_there else {absent: WatchedTime(3)}
    found = look(tree, manifest, watched | times | changed)
    assert found.rules_changed
    assert found.watched == {path: times[path] for path in changed}
    assert not found.unwatched, "it is still to be looked for"


def test_what_is_watched_around_a_path() -> None:
    known = {folder(""), folder("src"), skipped_file("src/a.bin"), folder("src/a.bin")}
    assert list(find_watched_around("src/new/x.py", known)) == [folder("src")]
    assert list(find_watched_around("src/a.bin", known)) == [
        folder("src/a.bin"),
        skipped_file("src/a.bin"),
        folder("src"),
    ]
    assert list(find_watched_around("", known)) == [folder("")]


@pytest.mark.parametrize("gone", [True, False])
def test_an_ignore_file_that_changed_or_went_changes_the_rules(tree: Path, gone: bool) -> None:
    manifest, watched = as_it_is(tree)
    if gone:
        (tree / ".gitignore").unlink()
    else:
        (tree / ".gitignore").write_text("*.log\n")
    assert look(tree, manifest, watched).rules_changed


# --- stamps that can be trusted --------------------------------------------------------------------


def test_a_stamp_taken_right_after_a_change_is_not_trusted() -> None:
    now = time.time_ns()
    fresh = FileStamp(10, (now - 1_000_000) | 1)
    assert judge_stamp(fresh) == fresh._replace(is_trusted=False)
    assert judge_stamp(fresh) != fresh
    assert is_same_stamp(judge_stamp(fresh), fresh), "but it is known which moment it was"
    old = FileStamp(10, (now - TRUSTED_AGE_NS - 1_000_000) | 1)
    assert judge_stamp(old) == old


def test_a_stamp_of_a_file_written_just_now_under_an_older_time_is_not_trusted() -> None:
    now = time.time_ns()
    dated_back = FileStamp(10, now - 10**15 | 1, now - 1_000_000 | 1)
    assert judge_stamp(dated_back) == dated_back._replace(is_trusted=False)
    assert is_same_stamp(judge_stamp(dated_back), dated_back)


def test_a_file_system_that_counts_in_seconds_settles_later() -> None:
    second = time.time_ns() // 1_000_000_000 * 1_000_000_000
    assert not judge_stamp(FileStamp(10, second)).is_trusted
    past = FileStamp(10, second - COARSE_TRUSTED_AGE_NS - 1_000_000_000)
    assert judge_stamp(past) == past


def test_another_time_or_size_is_another_moment() -> None:
    stamp = FileStamp(10, 1_000)
    assert is_same_stamp(stamp, stamp)
    assert is_same_stamp(FileStamp(10, 1_000, is_trusted=False), stamp)
    assert not is_same_stamp(FileStamp(11, 1_000), stamp)
    assert not is_same_stamp(FileStamp(10, 1_001), stamp)


def test_a_time_before_1970_is_a_time() -> None:
    stamp = FileStamp(10, -1_000)
    assert judge_stamp(stamp) == stamp
    assert is_same_stamp(stamp, stamp)
    assert not is_same_stamp(stamp, FileStamp(10, 1_000))


def test_the_time_of_a_folder_that_just_changed_is_not_trusted() -> None:
    now = time.time_ns() | 1
    assert judge_time(now) == WatchedTime(now, is_trusted=False)
    assert judge_time(now) != WatchedTime(now), "which is what a look at the disk says"
    assert judge_time(now - TRUSTED_AGE_NS - 1_000_000 | 1).is_trusted
    assert judge_time(None) == WatchedTime(None)


def test_a_time_in_the_future_is_taken_as_it_is() -> None:
    future = FileStamp(10, time.time_ns() + 10**12)
    assert judge_stamp(future) == future
