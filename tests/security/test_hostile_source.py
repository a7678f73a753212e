"""A file that was made to take all time or memory is searchable by its text, and does no harm to the others."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks import hostile_shapes

from dowse.code import languages, parsing, references, secrets
from dowse.code.bracket_depth import SUSPICIOUS_DEPTH, nests_deeply
from dowse.code.languages.spec import Language
from dowse.engine import Engine
from dowse.indexing import guard
from dowse.indexing.analyze_file import ParserConfig, PendingFile
from dowse.indexing.workers import ALONE_BYTES, GROUP_BYTES, PARALLEL_BYTES, analyze_all, group_by_size
from dowse.types.source import ParseHealth

HOW = ParserConfig(languages.load_builtin(), 1000, 0)
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
    "definitions.java": ("", "int a(){} ", 100_000),
    "comment.cpp": ("/* ", "a b\n", 25_000),
    "generics.java": ("", "A<", 20_000),
    "blank.yaml": ("a: b", "\n", 100_000),
}
"""A beginning, what follows it, and how often: each took minutes or gigabytes, and many still do in the grammar."""

MEASURE = """
import resource, sys
from dowse.code import languages
from dowse.indexing.analyze_file import PendingFile, ParserConfig
from dowse.indexing.workers import analyze_all
name, processes, total, content = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.stdin.buffer.read()
tasks = [PendingFile(name, content, None), PendingFile("good.py", b"def good():\\n    pass\\n", None)]
pairs = analyze_all(ParserConfig(languages.load_builtin(), 1000, 0), tasks, total, processes)
hostile, good = (analyzed for _, analyzed in pairs)
assert not hostile.error, hostile.error
assert hostile.parsed.chunks and hostile.terms
assert [entity.name for entity in good.parsed.entities] == ["good"]
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
own_peak = used[0].ru_maxrss
if sys.platform == "linux":  # there, ru_maxrss begins at the memory of the process that started this one
    status = open("/proc/self/status").read()
    own_peak = int(status.partition("VmHWM:")[2].split()[0])
print(sum(one.ru_utime + one.ru_stime for one in used), max(own_peak, used[1].ru_maxrss))
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
    assert seconds < 20, "ten seconds for the file, and a machine that is not fast"
    assert kilobytes < 450_000, "300 MB for the file, and what a process has that does nothing"


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
    how = ParserConfig(languages.extend_builtin(STUCK), 1000, 0)
    code = b"def good():\n    pass\n"
    tasks = [
        PendingFile("a.py", code, None),
        PendingFile("b.stuck", b"x" * 5000, None),
        PendingFile("c.py", code, None),
    ]
    first, stuck, last = (analyzed for _, analyzed in analyze_all(how, tasks, total, 2))
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


def test_a_file_that_did_not_change_costs_its_budget_once(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    bad = tmp_path / "tree" / "bad.stuck"
    bad.write_text("x" * 5000)
    (tmp_path / "tree" / "dowse.toml").write_text(
        "[languages.stuck]\nextensions = ['.stuck']\nlinks = ['(?P<target>(x+x+)+y)']\n"
    )
    with Engine.open(tmp_path / "tree", index_dir=str(tmp_path / "index"), embedder="hashing") as engine:
        first = spend(engine.index)
        os.utime(bad, (1, 1))
        again = spend(engine.index)
        bad.rename(bad.with_name("other.stuck"))
        renamed = spend(engine.index)
        assert engine.status().health["over budget"] == 1
    assert first >= guard.CPU_SECONDS
    assert again < guard.CPU_SECONDS / 2, "its content is known"
    assert renamed < guard.CPU_SECONDS / 2, "by whatever name"


def spend(work: Callable[[], object]) -> float:
    """Do something; return the CPU seconds of this process and of those that it waited for."""
    before = os.times()[:4]
    work()
    return sum(os.times()[:4]) - sum(before)


@pytest.mark.parametrize("size", [1_000, 10_000, ALONE_BYTES - 1, ALONE_BYTES, 1_000_000])
def test_all_that_a_file_may_take_is_less_than_ten_seconds(size: int) -> None:
    task, others = PendingFile("a.c", b"x" * size, None), PendingFile("b.c", b"x" * GROUP_BYTES, None)
    (group, *_) = group_by_size([task, others], GROUP_BYTES, ALONE_BYTES)
    assert group == [task], "nothing large shares its fate"
    small = PendingFile("c.c", b"x" * (ALONE_BYTES - 1), None)
    (group, *_) = group_by_size([small, small, task], GROUP_BYTES, ALONE_BYTES)
    together = guard.cpu_seconds_for(group) if task in group else 0.0
    here = parsing.QUICK_LIMITS.seconds + parsing.QUICK_LIMITS.seconds_per_mb * size / 1e6
    alone = guard.cpu_seconds_for([task]) + 1  # the kernel counts whole seconds
    assert max(here, together + 1) + alone < 8, "what remains is for tokens and secrets"
    assert parsing.MAX_SECONDS + parsing.MAX_SECONDS_PER_MB * size / 1e6 < alone - 1, (
        "the parser stops by itself"
    )


TOKEN = b"aB3dE5gH7jK9mN1pQ3sT5"
AWS_KEY, AWS_SECRET = b"AKIA" + b"A1B2C3D4E5F6G7H8 ", b"aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5fG7h "
SECRETS = {
    "blanks": b"pwd:" + b" " * 90 + b'"' + TOKEN + b'" \n',
    "types": b"pwd :" + b" " * 40 + b"a" + b" " * 40 + b'"' + TOKEN + b'" \n',
    "names": b"pwd" * 30 + b' "' + TOKEN + b'"\n',
    "keys": AWS_KEY,
    "keys and secrets": AWS_KEY + AWS_SECRET,
    "addresses": b"://" + b"a" * 99 + b":" + b"b" * 199,
    "private keys": b"-----BEGIN RSA PRIVATE KEY-----\n-a-a-a",
    "web tokens": b"eyJ" + b"a" * 20 + b".",
    "one value": b"password=" + b"aB3x" * 250_000,
    "images": b"ENV " + b"pwd" * 25 + b" " * 10 + TOKEN + b" \n",
}
"""What is repeated in texts that look for as much work as there may be for who looks for secrets."""


@pytest.mark.parametrize("path", ["a.py", ".env", "Dockerfile"])
@pytest.mark.parametrize("name", SECRETS)
def test_masking_takes_little(name: str, path: str) -> None:
    unit = SECRETS[name]
    assert spend(lambda: secrets.mask(unit * (1_000_000 // len(unit)), path)) < 5


UNITS = [
    "\n", " ", "a\n", "a/", "a-", "a.", "- ", "-\n", "- a/", "a: ", "a:a/", "../", "[", "[\n", "[a", "[a]: ", "](",
    "COPY\n", "COPY --$\n", "[lib]\n", "name\n", '"', '"@', '"a/*":["', 'source="./', 'file( "', "module \n",
    "class A\n", "class AAA ", "class AAA(", "enum AAA a<", "a: b ", "\t", "\r\n", "- a:b:",
]  # fmt: skip
PATTERNS = [one for one in languages.load_builtin().by_name.values() if one.links or one.blanks or one.claims]


@pytest.mark.parametrize("language", PATTERNS, ids=lambda language: language.name)
def test_patterns_of_a_language_take_little(language: Language) -> None:
    path = f"a{language.extensions[0]}" if language.extensions else language.filenames[0]
    for unit in UNITS:
        text = (unit * (references.MAX_LINKED_BYTES // len(unit))).encode()
        for claimed in (path, *(f"a{extension}" for extension, _ in language.claims)):
            assert spend(lambda: HOW.languages.detect(claimed, text)) < 2, unit  # noqa: B023
        assert spend(lambda: references.find(language, [], text)) < 4, unit  # noqa: B023
        assert spend(lambda: parsing._blank_unreadable(language.blanks, text)) < 2, unit  # noqa: B023


def test_every_grammar_has_shapes_even_without_keywords() -> None:
    json = HOW.languages.by_name["json"]
    assert "keywords" not in hostile_shapes.texts(json, 1_000)
    assert "keywords" in hostile_shapes.texts(HOW.languages.by_name["go"], 1_000)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_a_worker_leaves_no_core_file() -> None:
    code = "import resource; from dowse import lifeline; lifeline.leave_no_core()"
    shown = "; print(resource.getrlimit(resource.RLIMIT_CORE)[0])"
    out = subprocess.run([sys.executable, "-c", code + shown], capture_output=True, check=True)
    assert out.stdout.strip() == b"0"


def test_brackets_are_counted_wherever_they_stand() -> None:
    deep = b"(" * (SUSPICIOUS_DEPTH + 1)
    assert nests_deeply(deep)
    assert nests_deeply(b")" * 1000 + deep), "what is closed before hides nothing"
    assert nests_deeply(b"A<" * 1000)
    assert not nests_deeply(b"()" * 1000)
    assert not nests_deeply(b"a->b << c; x => y;" * 1000)
