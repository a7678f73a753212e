"""The diff between the disk and the index."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from dowse.indexing.decode import stamp_of
from dowse.indexing.tree_diff import (
    COARSE_TRUSTED_AGE_NS,
    TRUSTED_AGE_NS,
    TreeDiff,
    count_changes,
    diff_tree,
    is_same_stamp,
    plan_run,
    trusted_stamp,
)
from dowse.types.discovered import FileStamp, Folder, FoundFile, Skipped, SkipReason


@dataclass(frozen=True)
class Known:
    stamp: FileStamp
    content_hash: bytes = b"x"


def stamp(path: Path) -> FileStamp:
    return stamp_of(path.lstat())


# --- after a walk ----------------------------------------------------------------------------------


def test_new_changed_gone_and_unchanged() -> None:
    manifest = {
        path: Known(FileStamp(1, 1)) for path in ("same.py", "size.py", "time.py", "gone.py", "left.py")
    }
    plan = plan_run(
        [
            Folder("", 5),
            FoundFile("new.py", FileStamp(1, 1)),
            FoundFile("same.py", FileStamp(1, 1)),
            FoundFile("size.py", FileStamp(2, 1)),
            FoundFile("time.py", FileStamp(1, 2)),
            Skipped("left.py", SkipReason.TOO_LARGE, ""),
            Skipped("build/", SkipReason.DEFAULT_EXCLUDED, "build/"),
            Folder("src", 6),
        ],
        manifest,
    )
    assert {candidate.path for candidate in plan.read} == {"new.py", "size.py", "time.py"}
    assert plan.removed == ("gone.py", "left.py")
    assert plan.unchanged == 1
    assert plan.folders == {"": 5, "src": 6}, "both old enough to trust"
    assert len(plan.skipped) == 2
    assert plan.seen == 5, "folders skipped whole are not files"


def test_nothing_on_disk_removes_everything() -> None:
    plan = plan_run([], {"b": Known(FileStamp(1, 1)), "a": Known(FileStamp(1, 1))})
    assert (plan.read, plan.removed, plan.unchanged, plan.seen) == ((), ("a", "b"), 0, 0)


def test_nothing_known_reads_everything() -> None:
    plan = plan_run([FoundFile("a", FileStamp(1, 1))], {})
    assert plan.read == (FoundFile("a", FileStamp(1, 1)),)


def test_a_stamp_that_was_not_trusted_is_read_again() -> None:
    plan = plan_run([FoundFile("a", FileStamp(1, 7))], {"a": Known(FileStamp(1, -1))})
    assert [candidate.path for candidate in plan.read] == ["a"]


# --- at a glance -----------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    for path in ("a.py", "src/b.py", "src/größe.py", ".gitignore"):
        (tmp_path / path).write_text("x = 1\n", encoding="utf-8")
    return tmp_path


def look(tree: Path, known: dict[str, Known], folders: dict[str, int]) -> TreeDiff:
    return diff_tree(tree, known, folders)


def as_it_is(tree: Path) -> tuple[dict[str, Known], dict[str, int]]:
    """Manifest and folders that say what the disk says."""
    files = [path for path in tree.rglob("*") if path.is_file()]
    folders = {folder: stamp(tree / folder).changed_ns for folder in ("", "src")}
    return {path.relative_to(tree).as_posix(): Known(stamp(path)) for path in files}, folders


def test_no_difference(tree: Path) -> None:
    found = look(tree, *as_it_is(tree))
    assert not found
    assert found == TreeDiff((), (), {}, rules_changed=False)


def test_a_changed_file_is_seen_without_a_walk(tree: Path) -> None:
    manifest, folders = as_it_is(tree)
    (tree / "src" / "größe.py").write_text("x = 22\n", encoding="utf-8")
    found = look(tree, manifest, folders)
    assert found
    assert found.changed == (FoundFile("src/größe.py", stamp(tree / "src" / "größe.py")),)
    assert not found.missing
    assert not found.folders, "no name came or went"


def test_a_new_time_alone_is_a_change(tree: Path) -> None:
    manifest, folders = as_it_is(tree)
    os.utime(tree / "a.py", ns=(1, 1))
    assert [candidate.path for candidate in look(tree, manifest, folders).changed] == ["a.py"]


def test_what_is_only_looked_at_again_does_not_count_as_changed(tree: Path) -> None:
    manifest, folders = as_it_is(tree)
    manifest["a.py"] = Known(manifest["a.py"].stamp._replace(mtime_ns=-manifest["a.py"].stamp.mtime_ns))
    folders[""] = -folders[""]
    (tree / "src" / "b.py").write_text("x = 333\n", encoding="utf-8")
    found = look(tree, manifest, folders)
    assert {candidate.path for candidate in found.changed} == {"a.py", "src/b.py"}
    assert set(found.folders) == {""}
    assert count_changes(found, manifest, folders) == 1


def test_a_missing_file_is_seen(tree: Path) -> None:
    manifest, folders = as_it_is(tree)
    (tree / "a.py").unlink()
    found = look(tree, manifest, folders)
    assert found.missing == ("a.py",)
    assert found.folders == {"": stamp(tree).changed_ns}


def test_a_new_file_shows_in_its_folder(tree: Path) -> None:
    manifest, folders = as_it_is(tree)
    (tree / "src" / "new.py").write_text("y = 1\n")
    os.utime(tree / "src", ns=(5, 5))
    found = look(tree, manifest, folders)
    assert found.folders == {"src": stamp(tree / "src").changed_ns}
    assert not found.changed


def test_a_folder_that_is_gone_is_seen(tree: Path) -> None:
    manifest, folders = as_it_is(tree)
    assert look(tree, manifest, folders | {"old": 3}).folders == {"old": -1}


@pytest.mark.parametrize("gone", [True, False])
def test_an_ignore_file_that_changed_or_went_changes_the_rules(tree: Path, gone: bool) -> None:
    manifest, folders = as_it_is(tree)
    if gone:
        (tree / ".gitignore").unlink()
    else:
        (tree / ".gitignore").write_text("*.log\n")
    assert look(tree, manifest, folders).rules_changed


# --- stamps that can be trusted --------------------------------------------------------------------


def test_a_stamp_taken_right_after_a_change_is_not_trusted() -> None:
    now = time.time_ns()
    fresh = FileStamp(10, (now - 1_000_000) | 1)
    assert trusted_stamp(fresh).mtime_ns < 0
    assert trusted_stamp(fresh) != fresh
    assert is_same_stamp(trusted_stamp(fresh), fresh), "but it is known which moment it was"
    old = FileStamp(10, (now - TRUSTED_AGE_NS - 1_000_000) | 1)
    assert trusted_stamp(old) == old


def test_a_stamp_of_a_file_written_just_now_under_an_older_time_is_not_trusted() -> None:
    now = time.time_ns()
    dated_back = FileStamp(10, now - 10**15 | 1, now - 1_000_000 | 1)
    assert trusted_stamp(dated_back) == dated_back._replace(mtime_ns=-dated_back.mtime_ns)
    assert is_same_stamp(trusted_stamp(dated_back), dated_back)


def test_a_file_system_that_counts_in_seconds_settles_later() -> None:
    second = time.time_ns() // 1_000_000_000 * 1_000_000_000
    assert trusted_stamp(FileStamp(10, second)).mtime_ns < 0
    past = FileStamp(10, second - COARSE_TRUSTED_AGE_NS - 1_000_000_000)
    assert trusted_stamp(past) == past


def test_another_time_or_size_is_another_moment() -> None:
    stamp = FileStamp(10, 1_000)
    assert is_same_stamp(stamp, stamp)
    assert is_same_stamp(FileStamp(10, -1_000), stamp)
    assert not is_same_stamp(FileStamp(11, 1_000), stamp)
    assert not is_same_stamp(FileStamp(10, 1_001), stamp)


def test_a_folder_that_just_changed_is_looked_at_again() -> None:
    now = time.time_ns() | 1
    assert plan_run([Folder("", now)], {}).folders[""] != now


def test_a_time_in_the_future_is_taken_as_it_is() -> None:
    future = FileStamp(10, time.time_ns() + 10**12)
    assert trusted_stamp(future) == future
