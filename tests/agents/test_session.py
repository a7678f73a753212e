"""What a session remembers of what it was sent."""

from __future__ import annotations

import sys

from dowse.interfaces.mcp import session
from dowse.interfaces.mcp.responses import MIN_PAGE_HITS, ResponseOptions, count_page_hits
from dowse.interfaces.mcp.session import SentLines, Sessions
from dowse.search.output.budget import pack
from dowse.types.answers import Match, SearchResult
from dowse.types.source import Kind

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


def shown(sent: SentLines, hit: SearchResult, budget: int = 1000) -> None:
    for packed in pack([hit], budget).hits:
        sent.add(packed)


def numbered(number: int, lines: int) -> SearchResult:
    """A file of lines that no other has."""
    text = "\n".join(f"{number} {line}" for line in range(lines))
    return HIT._replace(path=f"{number}.py", start_line=1, end_line=lines, text=text)


def held(sent: SentLines) -> int:
    """Bytes that Python says are held, of files and their lines."""
    files = sent._files
    return sys.getsizeof(files) + sum(sys.getsizeof(key) + sys.getsizeof(files[key]) for key in files)


def test_only_what_was_shown_counts() -> None:
    sent = SentLines()
    assert not sent.has(HIT)
    shown(sent, HIT._replace(text=""))
    assert not sent.has(HIT)
    shown(sent, HIT)
    assert sent.has(HIT)
    assert sent.has(HIT._replace(start_line=11, end_line=13, text="    x\n\n    return 2"))


def test_other_places_and_changed_lines_are_new() -> None:
    sent = SentLines()
    shown(sent, HIT)
    assert not sent.has(HIT._replace(text="def f():\n    y\n\n    return 2"))
    assert not sent.has(HIT._replace(start_line=11, end_line=14))
    assert not sent.has(HIT._replace(path="src/b.py"))
    assert not sent.has(HIT._replace(repository="other"))


def test_parts_that_were_cut_were_not_sent() -> None:
    sent = SentLines()
    long = HIT._replace(end_line=109, text="\n".join(f"line {n} of a long function" for n in range(100)))
    shown(sent, long, budget=120)
    assert not sent.has(long)


def test_memory_has_an_end() -> None:
    sent = SentLines()
    for number in range(session.MAX_SENT_BYTES // (session.FILE_BYTES + 100 * session.LINE_BYTES) + 20):
        shown(sent, numbered(number, 100), budget=10_000)
    assert not sent.has(numbered(0, 1)._replace(path="0.py"))
    assert sent.has(numbered(number, 1)._replace(path=f"{number}.py"))
    assert held(sent) < 1.2 * session.MAX_SENT_BYTES
    assert len(sent) * 12 > session.MAX_SENT_BYTES  # and is of use until then


def test_memory_has_an_end_for_files_of_a_line_and_for_one_that_changes_all_the_time() -> None:
    short, long = SentLines(), SentLines()
    for number in range(session.MAX_SENT_BYTES // session.FILE_BYTES + 200):
        shown(short, numbered(number, 1))
    for number in range(session.MAX_SENT_BYTES // (200 * session.LINE_BYTES) + 20):
        shown(long, numbered(number, 200)._replace(path="log.py"), budget=10_000)
    assert held(short) < 1.2 * session.MAX_SENT_BYTES
    assert held(long) < 1.2 * session.MAX_SENT_BYTES
    assert long.has(numbered(number, 200)._replace(path="log.py"))


def test_clients_that_left_or_are_silent_are_forgotten() -> None:
    now = [0.0]
    sessions = Sessions(clock=lambda: now[0])
    gone, kept = sessions.get("gone"), sessions.get("kept")
    assert sessions.get("gone") is gone
    sessions.forget("gone")
    sessions.forget("nobody")
    assert sessions.get("gone") is not gone
    now[0] = session.IDLE_SECONDS - 1
    assert sessions.get("kept") is kept
    now[0] = session.IDLE_SECONDS + 1
    assert sessions.get("kept") is kept
    assert len(sessions) == 1
    for number in range(session.MAX_SESSIONS):
        sessions.get(str(number))
    assert len(sessions) == session.MAX_SESSIONS
    assert sessions.get("kept") is not kept


def test_a_page_has_the_hits_whose_code_has_room() -> None:
    hits = [HIT._replace(path=f"src/{i}.py", text="    call(argument)\n" * 40) for i in range(10)]
    sent = SentLines()
    few, more = (
        count_page_hits(hits, ResponseOptions(1000), sent),
        count_page_hits(hits, ResponseOptions(2000), sent),
    )
    assert MIN_PAGE_HITS <= few < more < 10
    assert count_page_hits(hits, ResponseOptions(10), sent) == MIN_PAGE_HITS
    assert count_page_hits([hit._replace(text="x") for hit in hits], ResponseOptions(1000), sent) == 10
    for hit in hits:
        shown(sent, hit)
    assert count_page_hits(hits, ResponseOptions(1000), sent) == 10  # only named: the client has their code
    assert count_page_hits(hits, ResponseOptions(1000, repeat=True), sent) == few
