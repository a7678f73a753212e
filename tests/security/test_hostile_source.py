"""A file that was made to take all time or memory is searchable by its text, and does no harm to the others."""

import subprocess
import sys
from pathlib import Path

import pytest

from dowse.code import languages
from dowse.code.bracket_depth import SUSPICIOUS_DEPTH, nests_deeply
from dowse.engine import Engine
from dowse.indexing.analyze_file import Task, Understanding
from dowse.indexing.workers import PARALLEL_BYTES, understand_all
from dowse.types import ParseHealth

HOW = Understanding(languages.builtin(), 1000, 0)
STUCK = {"stuck": {"extensions": [".stuck"], "links": ["(?P<target>(x+x+)+y)"]}}
"""A pattern of a tree's settings that takes forever."""

SHAPES = {
    "calls.js": ("x", ".a()", 16_000),
    "lines.js": ("x", "\n  .a(1)", 8_000),
    "calls.c": ("x", ".a()", 16_000),
    "calls.go": ("package a\nvar x = y", ".a()", 16_000),
    "open.c": ("x = ", "(", 60_000),
    "templates.cpp": ("", "template<", 20_000),
    "variables.mk": ("x = ", "$(", 20_000),
    "tags.html": ("", "<div>", 60_000),
    "generics.cs": ("", "A<", 20_000),
    "angles.dart": ("x = ", "a<", 10_000),
    "namespaces.cpp": ("", "namespace a { ", 10_000),
    "definitions.c": ("/* " + "word " * 400 + "*/\n", "int a(){} ", 20_000),
}
"""A beginning, what follows it, and how often: each took minutes or gigabytes, and many still do in the grammar."""

MEASURE = """
import resource, sys
from dowse.code import languages
from dowse.indexing.analyze_file import Task, Understanding
from dowse.indexing.workers import understand_all
name, processes, total, content = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.stdin.buffer.read()
tasks = [Task(name, content, None), Task("good.py", b"def good():\\n    pass\\n", None)]
pairs = understand_all(Understanding(languages.builtin(), 1000, 0), tasks, total, processes)
hostile, good = (analyzed for _, analyzed in pairs)
assert not hostile.error, hostile.error
assert hostile.parsed.chunks and hostile.terms
assert [entity.name for entity in good.parsed.entities] == ["good"]
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(one.ru_utime + one.ru_stime for one in used), max(one.ru_maxrss for one in used))
"""


def measure(name: str, content: bytes, processes: int = 1, total: int = 0) -> tuple[float, int]:
    """Take a file apart in a process of its own; return the CPU seconds and the most kilobytes of any process."""
    command = [sys.executable, "-c", MEASURE, name, str(processes), str(total)]
    out = subprocess.run(command, input=content, capture_output=True, check=False)
    assert out.returncode == 0, out.stderr.decode()
    seconds, kilobytes = out.stdout.split()
    return float(seconds), int(kilobytes)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory has no limit, or is counted otherwise")
@pytest.mark.parametrize("processes", [1, 2], ids=["here", "worker"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_hostile_file_takes_little(name: str, processes: int) -> None:
    head, unit, count = SHAPES[name]
    seconds, kilobytes = measure(name, (head + unit * count).encode(), processes, PARALLEL_BYTES)
    assert seconds < 25, "a budget of four seconds, twice, and a machine that is not fast"
    assert kilobytes < 700_000


@pytest.mark.skipif(sys.platform == "win32", reason="CPU time is not told of")
@pytest.mark.parametrize("name", ["calls.js", "lines.js", "calls.c", "calls.go", "open.c", "definitions.c"])
def test_twice_the_size_takes_no_more_than_twice_the_time(name: str) -> None:
    head, unit, count = SHAPES[name]
    idle, _ = measure("idle.py", b"x = 1\n")
    once, twice = (measure(name, (head + unit * n * count).encode())[0] - idle for n in (1, 2))
    assert twice < 3 * max(once, 0.3), (
        "four times is by the square; what is below a third of a second is noise"
    )


@pytest.mark.parametrize("total", [0, PARALLEL_BYTES], ids=["small tree", "large tree"])
def test_a_file_that_is_stuck_is_cut_by_lines(total: int) -> None:
    how = Understanding(languages.extended(STUCK), 1000, 0)
    code = b"def good():\n    pass\n"
    tasks = [Task("a.py", code, None), Task("b.stuck", b"x" * 5000, None), Task("c.py", code, None)]
    first, stuck, last = (analyzed for _, analyzed in understand_all(how, tasks, total, 2))
    assert stuck.parsed.health is ParseHealth.OVER_BUDGET
    assert (stuck.error, stuck.parsed.entities) == ("", ())
    assert stuck.parsed.chunks
    assert first.parsed == last.parsed
    assert first.parsed.health is ParseHealth.OK


def test_it_is_found_by_text_and_status_says_why(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "bad.stuck").write_text("needle in a haystack\n" + "x" * 5000 + "\n")
    (tmp_path / "tree" / "good.py").write_text("def thread():\n    return 1\n")
    (tmp_path / "tree" / "dowse.toml").write_text(
        "[languages.stuck]\nextensions = ['.stuck']\nlinks = ['(?P<target>(x+x+)+y)']\n"
    )
    (tmp_path / "tree" / ".dowseignore").write_text("dowse.toml\n.dowseignore\n")
    with Engine.open(tmp_path / "tree", index_dir=str(tmp_path / "index"), embedder="hashing") as engine:
        report = engine.index()
        assert (report.indexed, report.failures) == (2, ())
        assert engine.search("needle haystack").results[0].path == "bad.stuck"
        assert engine.search("thread").results[0].path == "good.py"
        assert engine.status().health == {"over budget": 1, "ok": 1}


def test_brackets_are_counted_wherever_they_stand() -> None:
    deep = b"(" * (SUSPICIOUS_DEPTH + 1)
    assert nests_deeply(deep)
    assert nests_deeply(b")" * 1000 + deep), "what is closed before hides nothing"
    assert nests_deeply(b"A<" * 1000)
    assert not nests_deeply(b"()" * 1000)
    assert not nests_deeply(b"a->b << c; x => y;" * 1000)
