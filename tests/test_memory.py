"""A process that indexes again and again does not grow."""

import subprocess
import sys
from pathlib import Path

import pytest

RUNS = 16

MEASURE = """
import ctypes, gc, sys
from dowse import Engine

for run in range(int(sys.argv[3])):
    with Engine.open(sys.argv[1], index_dir=sys.argv[2]) as engine:
        assert engine.index(rebuild=True).added
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/smaps_rollup") as status:
        print(next(line.split()[1] for line in status if line.startswith("Anonymous:")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says about a process")
def test_indexing_again_and_again_takes_no_more_memory(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(50):
        lines = (f"def handle_{number}_{n}(request):\n    return request.part({n})\n" for n in range(400))
        (tree / f"views{number}.py").write_text("\n".join(lines))
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tree), str(tmp_path / "index"), str(RUNS)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    kilobytes = [int(line) for line in ran.stdout.split()]
    early = max(kilobytes[2:7])  # what threads hold is a step, not growth
    assert min(kilobytes[-4:]) < 1.05 * early, kilobytes
