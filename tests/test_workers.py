"""Many files on all cores: in order, complete, and gone when they are no longer needed."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dowse.code import languages
from dowse.errors import DowseError
from dowse.indexing import workers
from dowse.indexing.analyze_file import AnalyzedFile, ParserConfig, PendingFile
from dowse.indexing.workers import GROUP_BYTES, PARALLEL_BYTES, analyze_all, attempt

HOW = ParserConfig(
    languages.extend_builtin(
        {"broken": {"extensions": [".broken"], "grammar": "tree_sitter_no_such:language"}}
    ),
    1000,
    0,
)
ALWAYS = PARALLEL_BYTES
"""Said to be this much, any work is given to workers."""

needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children cannot be listed here")


def tasks(count: int, size: int = 20_000) -> list[PendingFile]:
    line = "    value = compute(1, 2, 3)\n"
    body = line * (size // len(line))
    return [PendingFile(f"f{i}.py", f"def name{i}():\n{body}".encode(), None) for i in range(count)]


def children() -> set[int]:
    """Processes that this one has started and that are not gone."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that has ended meanwhile
            found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


def analyze(how: ParserConfig, work: Iterable[PendingFile], total: int, processes: int) -> list[AnalyzedFile]:
    """Analyze files, and check that each result comes with its file."""
    pairs = list(analyze_all(how, work, total, processes))
    if isinstance(work, list):
        assert [file for file, _ in pairs] == work
    return [analyzed for _, analyzed in pairs]


def eventually(holds: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def test_little_work_is_done_here() -> None:
    work = tasks(3)
    assert analyze(HOW, work, PARALLEL_BYTES - 1, 8) == attempt(HOW, work)
    assert analyze(HOW, work, ALWAYS, 1) == attempt(HOW, work)
    assert analyze(HOW, [], ALWAYS, 4) == []


def test_workers_give_the_same_in_the_same_order() -> None:
    work = [
        *tasks(20),
        PendingFile("ünï.md", "# Größe\n\nText.\n".encode(), None),
        *tasks(20, 3 * GROUP_BYTES // 20),
    ]
    here = attempt(HOW, work)
    assert analyze(HOW, work, ALWAYS, 2) == here
    assert sum(len(task.content) for task in work) > 4 * GROUP_BYTES, "several groups"


def test_what_is_known_is_not_parsed_again() -> None:
    (task,) = tasks(1)
    parsed = attempt(HOW, [task])[0].parsed
    nonsense = PendingFile(task.path, task.content, parsed)
    assert analyze(HOW, [nonsense], ALWAYS, 2)[0].parsed == parsed


def test_one_bad_file_does_not_stop_the_others() -> None:
    work = [*tasks(2), PendingFile("a.broken", b"x", None), *tasks(2)]
    for processes in (1, 2):
        results = analyze(HOW, work, ALWAYS, processes)
        assert [bool(result.error) for result in results] == [False, False, True, False, False]
        assert results[2].error.startswith(
            "SettingsError: grammar 'tree_sitter_no_such:language' cannot be loaded"
        )
        assert results[2].terms == ()


def test_tasks_are_read_as_they_are_needed() -> None:
    taken = 0

    def endless() -> Iterator[PendingFile]:
        nonlocal taken
        for task in tasks(1, GROUP_BYTES) * 1000:
            taken += 1
            yield task

    results = analyze_all(HOW, endless(), ALWAYS, 2)
    next(iter(results))
    assert taken < 20
    results.close()  # type: ignore[attr-defined]


@needs_proc
def test_stopping_early_leaves_no_process() -> None:
    before = children()
    results = analyze_all(HOW, tasks(40, GROUP_BYTES), ALWAYS, 2)
    next(iter(results))
    assert children() - before
    results.close()  # type: ignore[attr-defined]
    assert children() <= before


@needs_proc
def test_finishing_leaves_no_process() -> None:
    before = children()
    assert len(analyze(HOW, tasks(10, GROUP_BYTES // 2), ALWAYS, 2)) == 10
    assert children() <= before


@needs_proc
def test_an_error_of_the_caller_leaves_no_process() -> None:
    def failing() -> Iterator[PendingFile]:
        yield from tasks(8, GROUP_BYTES)
        raise OSError("disk gone")

    before = children()
    with pytest.raises(OSError, match="disk gone"):
        analyze(HOW, failing(), ALWAYS, 2)
    assert children() <= before


@needs_proc
def test_a_worker_that_was_killed_is_named() -> None:
    before = children()
    results = iter(analyze_all(HOW, tasks(200, GROUP_BYTES), ALWAYS, 2))
    next(results)
    for pid in children() - before:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(DowseError, match="a worker process ended unexpectedly: try again with 'workers = 1'"):
        list(results)
    assert eventually(lambda: children() <= before)


def test_a_worker_that_cannot_start_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    with pytest.raises(DowseError, match="a worker process ended unexpectedly"):
        analyze(HOW, tasks(4, GROUP_BYTES), ALWAYS, 2)


def test_modules_in_the_working_directory_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pickle", "subprocess", "dowse", "tree_sitter"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the tree')\n")
    monkeypatch.chdir(tmp_path)
    results = analyze(HOW, tasks(2), ALWAYS, 2)
    assert [result.error for result in results] == ["", ""]


def test_what_a_worker_prints_does_not_come_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A grammar, or anything else that is imported, may write to the standard output."""
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "tree_sitter_chatty.py").write_text(
        "print('hello')\nfrom tree_sitter_python import language\n", encoding="utf-8"
    )
    monkeypatch.setenv("PYTHONPATH", str(packages))
    monkeypatch.setattr(sys, "path", [str(packages), *sys.path])
    table = {"chatty": {"extensions": [".chatty"], "grammar": "tree_sitter_chatty:language"}}
    how = ParserConfig(languages.extend_builtin(table), 1000, 0)
    (result,) = analyze(how, [PendingFile("a.chatty", b"x = 1\n", None)], ALWAYS, 2)
    assert result.error == ""
    assert result.parsed.language == "chatty"


@pytest.mark.skipif(sys.platform == "win32", reason="a crash is told by its signal")
def test_a_file_that_crashes_a_worker_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "tree_sitter_crashing.py").write_text("import os\nos.abort()\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(packages), os.environ.get("PYTHONPATH", "")]))
    table = {"crashing": {"extensions": [".crash"], "grammar": "tree_sitter_crashing:language"}}
    how = ParserConfig(languages.extend_builtin(table), 1000, 0)
    good = tasks(6, GROUP_BYTES // 3)
    results = analyze(how, [*good[:4], PendingFile("a.crash", b"x", None), *good[4:]], ALWAYS, 2)
    assert results[4].error == "it crashes the parser of its language"
    assert [*results[:4], *results[5:]] == attempt(HOW, good)


def test_the_module_can_be_run() -> None:
    assert workers.__name__ == "dowse.indexing.workers", "what the command line of a worker names"
