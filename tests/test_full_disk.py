"""A disk that fills up while an index is written: said clearly, nothing lost, and the next run goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

from dowse import Engine
from dowse.errors import IndexUnwritable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are another thing there")

FUNCTION = '''
def {name}_{n}(value):
    """Takes a {name} of kind {n} and gives back what {name} number {n} is worth."""
    return value * {n} + len("{name}")
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for name in ("apple", "banana", "cherry", "damson"):
        write(root, name, 60)
    return root


def write(root: Path, name: str, count: int) -> None:
    (root / f"{name}.py").write_text("".join(FUNCTION.format(name=name, n=n) for n in range(count)))


def dowse(tree: Path, *args: str, largest: int | None = None) -> subprocess.CompletedProcess[str]:
    """What the command does where no file can become larger than so many bytes."""

    def limit() -> None:
        import resource

        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    return subprocess.run(
        [sys.executable, "-B", "-m", "dowse", *args],
        cwd=tree,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )


def dumped(tree: Path, folder: Path) -> list[tuple[object, ...]]:
    with Engine.open(tree, index_dir=str(folder)) as engine:
        engine.index()
        return list(engine.store.dump())


@pytest.mark.parametrize("largest", [2_000, 20_000, 70_000])
def test_the_first_index(tree: Path, tmp_path: Path, largest: int) -> None:
    done = dowse(tree, "index", largest=largest)
    assert done.returncode == 3, done.stderr
    assert "cannot be written" in done.stderr and "free some space" in done.stderr
    assert "Traceback" not in done.stderr
    done = dowse(tree, "search", "cherry_7")
    assert done.returncode == 0 and "cherry.py" in done.stdout
    assert dumped(tree, tree / ".dowse") == dumped(tree, tmp_path / "clean")


@pytest.mark.parametrize("largest", [40_000, 70_000])
def test_an_update(tree: Path, tmp_path: Path, largest: int) -> None:
    assert dowse(tree, "index").returncode == 0
    for name in ("cherry", "elder", "fig", "grape"):
        write(tree, name, 70)
    done = dowse(tree, "search", "banana_7", largest=largest)
    assert done.returncode == 0 and "banana.py" in done.stdout, "what there was can still be found"
    assert "as it was" in done.stderr and "free some space" in done.stderr
    done = dowse(tree, "search", "grape_69")
    assert done.returncode == 0 and "grape.py" in done.stdout
    assert dumped(tree, tree / ".dowse") == dumped(tree, tmp_path / "clean")


def test_every_part_says_what_to_do() -> None:
    said = str(IndexUnwritable.because("the index at /x", OSError(28, "No space left on device")))
    assert said == (
        "the index at /x cannot be written ([Errno 28] No space left on device): "
        "free some space, or set index_dir to another place"
    )
    said = str(IndexUnwritable.because("the index at /x", PermissionError(13, "Permission denied")))
    assert "space" not in said
    assert said.endswith("make it writable, or set index_dir to another place")


def test_an_index_that_is_up_to_date(tree: Path) -> None:
    assert dowse(tree, "index").returncode == 0
    done = dowse(tree, "search", "banana_7", largest=0)
    assert done.returncode == 0 and "banana.py" in done.stdout
    assert "Traceback" not in done.stderr and "corrupt" not in done.stderr
    done = dowse(tree, "status", largest=0)
    assert done.returncode == 0 and "4 files" in done.stdout


def test_where_no_file_can_be_made_the_index_is_not_called_damaged(tree: Path) -> None:
    assert dowse(tree, "index").returncode == 0
    (lock,) = tree.glob(".dowse/*/views/*/lexical/.tantivy-meta.lock")
    lock.unlink()
    lock.mkdir()  # as on a disk that is only read
    done = dowse(tree, "status")
    assert done.returncode == 3 and "no file can be made" in done.stderr and "corrupt" not in done.stderr
