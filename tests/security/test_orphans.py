"""No process outlives the one that started it, even if that is killed while the other is busy in C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes cannot be listed here"
)

INDEXING = """
import sys
from dowse.code import languages
from dowse.indexing.analyze_file import PendingFile, ParserConfig
from dowse.indexing.workers import PARALLEL_BYTES, analyze_all
table = {"stuck": {"extensions": [".stuck"], "links": ["(?P<target>(x+x+)+y)"]}}
tasks = [PendingFile("a.stuck", b"x" * 5000, None)]
list(analyze_all(ParserConfig(languages.extend_builtin(table), 1000, 0), tasks, PARALLEL_BYTES, 2))
"""
"""A worker that is stuck in a regular expression, which lets no thread of it run."""

SEARCHING = """
from dowse.search.channels import regex_worker
list(regex_worker.search([(b"(x+x+)+y", 0)], [(1, b"x" * 5000)], 10))
"""


@pytest.mark.parametrize("script", [INDEXING, SEARCHING], ids=["indexing", "searching"])
def test_a_helper_that_is_stuck_ends_with_its_parent(script: str) -> None:
    parent = subprocess.Popen([sys.executable, "-c", script])
    try:
        child = wait_for_busy_child(parent.pid)
    finally:
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    assert ends_within(child, 3.0)


def wait_for_busy_child(parent: int) -> int:
    """Wait for a process that the parent started to be at work, and return its id."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        children = Path(f"/proc/{parent}/task").glob("*/children")
        for pid in [int(pid) for path in children for pid in path.read_text().split()]:
            if cpu_seconds(pid) > 1.5:  # more than it takes to start
                return pid
        time.sleep(0.02)
    raise AssertionError("no process was started")


def cpu_seconds(pid: int) -> float:
    """Read how much time a process has taken; none if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ends_within(pid: int, seconds: float) -> bool:
    """Wait for a process to be gone, or to be no more than an entry that nobody has read."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z"):
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


STUCK = """
import re
from dowse import lifeline
lifeline.limit_time(10)
lifeline.limit_time(0.2)
print("stuck", flush=True)
re.search("(x+x+)+y", "x" * 5000)
"""
"""A process that no thread of Python can end, and that nobody looks after."""


def test_a_time_limit_ends_what_is_stuck() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (1, "stuck\n")


def test_a_lifted_time_limit_ends_nothing() -> None:
    script = "import time\nfrom dowse import lifeline\nlifeline.limit_time(0.2)\nlifeline.lift_time_limit()\n"
    done = subprocess.run([sys.executable, "-c", f"{script}time.sleep(0.5)"], timeout=120, check=False)
    assert done.returncode == 0
