"""Parsing takes a bounded time, and a look at the clock changes nothing of what is found."""

import time
from pathlib import Path

import pytest

from dowse.code import languages, parsing
from dowse.indexing.analyze_file import ParserConfig, analyze, parse
from dowse.types.source import ParseHealth

HOW = ParserConfig(languages.load_builtin(), 1000, 0)
SAMPLES = sorted(
    path for path in (Path(__file__).parent / "languages" / "samples").rglob("*") if path.is_file()
)

JUNK = {"a.c": b"@a " * 20_000, "a.html": b"<div>" * 100_000}
"""What takes 13 and 70 seconds without a limit."""


@pytest.mark.parametrize("name", JUNK)
def test_junk_is_cut_by_lines_when_the_time_is_up(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "MAX_SECONDS", 0.2)
    monkeypatch.setattr(parsing, "MAX_SECONDS_PER_MB", 0.0)
    monkeypatch.setattr(parsing, "READ_BYTES", 1024)
    started = time.thread_time()
    understood = analyze(HOW, name, JUNK[name])
    assert time.thread_time() - started < 5
    assert understood.parsed.health is ParseHealth.FAILED
    assert understood.parsed.chunks


def test_the_parser_is_as_before_after_junk(monkeypatch: pytest.MonkeyPatch) -> None:
    code = b"int twice(int n) { return 2 * n; }\n"
    before = parse(HOW, "a.c", code)
    monkeypatch.setattr(parsing, "MAX_SECONDS", 0.0)
    assert parse(HOW, "a.c", JUNK["a.c"])[0].health is ParseHealth.FAILED
    assert parse(HOW, "a.c", code) == before


@pytest.mark.parametrize("step", [7, parsing.READ_BYTES])
def test_the_clock_changes_nothing(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = [(path.name, path.read_bytes()) for path in SAMPLES]
    untimed = [parse(HOW, name, content) for name, content in contents]
    monkeypatch.setattr(parsing, "TIMED_BYTES", 0)
    monkeypatch.setattr(parsing, "READ_BYTES", step)
    assert [parse(HOW, name, content) for name, content in contents] == untimed
