"""A process that indexes again and again does not grow."""

import subprocess
import sys
from pathlib import Path

import pytest

RUNS = 16
TREES = 24

MEASURE = """
import ctypes, gc, sys
from dowse import Engine

for tree in sys.argv[2:]:
    with Engine.open(tree, index_dir=sys.argv[1]) as engine:
        assert engine.index(rebuild=True).added
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/smaps_rollup") as status:
        print(next(line.split()[1] for line in status if line.startswith("Anonymous:")))
"""

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says about a process")


@only_linux
def test_indexing_again_and_again_takes_no_more_memory(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", files=50, functions=400)
    kilobytes = measure_memory(tmp_path / "index", [tree] * RUNS)
    early = max(kilobytes[2:7])  # what threads hold is a step, not growth
    assert min(kilobytes[-4:]) < 1.05 * early, kilobytes


@only_linux
def test_indexing_many_trees_in_turn_takes_no_more_memory(tmp_path: Path) -> None:
    trees = [make_tree(tmp_path / f"tree{number}", files=20, functions=100) for number in range(TREES)]
    kilobytes = measure_memory(tmp_path / "index", trees)
    early = max(kilobytes[2:9])
    assert min(kilobytes[-6:]) < 1.05 * early, kilobytes


def make_tree(root: Path, files: int, functions: int) -> Path:
    """Make a tree with texts of its own, but the words of any other: caches of words are full after the first."""
    root.mkdir()
    for number in range(files):
        lines = (
            f"def handle_{number}_{n}(request):\n    return request.part({n})  # {root.name}\n"
            for n in range(functions)
        )
        (root / f"views{number}.py").write_text("\n".join(lines))
    return root


def measure_memory(index: Path, trees: list[Path]) -> list[int]:
    """Index trees one after the other in one process; return the kilobytes that it has after each."""
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE, str(index), *map(str, trees)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [int(line) for line in ran.stdout.split()]
