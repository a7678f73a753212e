"""What a session remembers of what it was sent."""

from __future__ import annotations

from dataclasses import replace

from dowse.interfaces.mcp import session
from dowse.interfaces.mcp.answers import LEAST_HITS, Wish, filling
from dowse.interfaces.mcp.session import Sent
from dowse.search.pack import pack
from dowse.types import Kind, Match, SearchResult

HIT = SearchResult(
    "src/a.py",
    10,
    13,
    "f",
    Kind.FUNCTION,
    "python",
    1.0,
    1.0,
    Match.NAME,
    (),
    "def f():\n    x\n\n    return 2",
    "def f()",
)


def shown(sent: Sent, hit: SearchResult, budget: int = 1000) -> None:
    for packed in pack([hit], budget).hits:
        sent.note(packed)


def test_only_what_was_shown_counts() -> None:
    sent = Sent()
    assert not sent.has(HIT)
    shown(sent, replace(HIT, text=""))
    assert not sent.has(HIT)
    shown(sent, HIT)
    assert sent.has(HIT)
    assert sent.has(replace(HIT, start_line=11, end_line=13, text="    x\n\n    return 2"))


def test_other_places_and_changed_lines_are_new() -> None:
    sent = Sent()
    shown(sent, HIT)
    assert not sent.has(replace(HIT, text="def f():\n    y\n\n    return 2"))
    assert not sent.has(replace(HIT, start_line=11, end_line=14))
    assert not sent.has(replace(HIT, path="src/b.py"))
    assert not sent.has(replace(HIT, repository="other"))


def test_parts_that_were_cut_were_not_sent() -> None:
    sent = Sent()
    long = replace(HIT, end_line=109, text="\n".join(f"line {n} of a long function" for n in range(100)))
    shown(sent, long, budget=120)
    assert not sent.has(long)


def test_memory_has_an_end() -> None:
    sent = Sent()
    for number in range(session.REMEMBERED // 100 + 20):
        text = "\n".join(f"{number} {line}" for line in range(100))
        shown(sent, replace(HIT, path=f"{number}.py", start_line=1, end_line=100, text=text), budget=10_000)
    first = replace(HIT, path="0.py", start_line=1, end_line=1, text="0 0")
    assert not sent.has(first)
    assert sent.has(replace(first, path=f"{number}.py", text=f"{number} 0"))


def test_a_page_has_the_hits_whose_code_has_room() -> None:
    hits = [replace(HIT, path=f"src/{i}.py", text="    call(argument)\n" * 40) for i in range(10)]
    sent = Sent()
    few, more = filling(hits, Wish(1000), sent), filling(hits, Wish(2000), sent)
    assert LEAST_HITS <= few < more < 10
    assert filling(hits, Wish(10), sent) == LEAST_HITS
    assert filling([replace(hit, text="x") for hit in hits], Wish(1000), sent) == 10
    for hit in hits:
        shown(sent, hit)
    assert filling(hits, Wish(1000), sent) == 10  # only named: the client has their code
    assert filling(hits, Wish(1000, repeat=True), sent) == few
