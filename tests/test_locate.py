"""Pasted output: from standard input, files and arguments; nothing in it is a filter, a phrase or a pattern."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from dowse import Engine, SearchOptions
from dowse.code import tokens
from dowse.interfaces.cli.locate import locate
from dowse.search.query.parse import parse_pasted

QUEUE = '''def pick(heap):
    """Take the next job."""
    if not heap:
        raise LookupError('queue "%s" path:%s is:empty' % (heap, 1))
    return heap[0]
'''
CLOCK = '''def tick(count):
    """Go on by one."""
    raise ValueError("the clock stands still")
'''
TRACE = """Traceback (most recent call last):
  File "/srv/app/shop/clock.py", line 3, in tick
    raise ValueError("the clock stands still")
ValueError: the clock stands still
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "shop").mkdir(parents=True)
    (root / "shop" / "queue.py").write_text(QUEUE)
    (root / "shop" / "clock.py").write_text(CLOCK)
    return root


@pytest.fixture
def first_path(tree: Path) -> Callable[..., str]:
    def run(*given: str, stdin: str = "") -> str:
        done = CliRunner().invoke(
            locate, [*given, "--root", str(tree), "--embedder", "none", "--json"], input=stdin
        )
        return str(json.loads(done.stdout)["results"][0]["path"])

    return run


def test_output_comes_from_standard_input_a_file_or_an_argument(
    first_path: Callable[..., str], tmp_path: Path
) -> None:
    log = tmp_path / "build.log"
    log.write_text(TRACE)
    assert first_path(stdin=TRACE) == "shop/clock.py"
    assert first_path("-", stdin=TRACE) == "shop/clock.py"
    assert first_path(str(log)) == "shop/clock.py"
    assert first_path(TRACE) == "shop/clock.py"
    assert first_path("the", "clock", "stands", "still") == "shop/clock.py"
    assert first_path(str(log), str(log)) == "shop/clock.py"


def test_of_a_long_log_the_end_is_read(first_path: Callable[..., str], tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text("a line of the log\n" * 100_000 + TRACE)
    assert first_path(str(log)) == "shop/clock.py"


@pytest.mark.parametrize(
    "message",
    [
        'LookupError: queue "mail" path:7 is:empty',
        'queue "mail" is:empty',
        'error in file:queue type:x: queue "7" path:/var/run is:empty',
    ],
)
def test_nothing_in_a_pasted_message_is_query_language(tree: Path, message: str) -> None:
    with Engine.open(tree, embedder="none") as engine:
        response = engine.search(message, SearchOptions(pasted=True))
    assert response.results[0].path == "shop/queue.py"
    assert not response.relaxed
    assert response.query.text == message


def test_lines_that_a_log_escaped_are_lines() -> None:
    logged = json.dumps({"level": "error", "stack": TRACE})
    assert parse_pasted(logged).text.splitlines()[1:4] == TRACE.splitlines()[1:]
    assert parse_pasted(json.dumps(TRACE)).text == TRACE
    for other in (r"C:\new\nodes\x.py:3 is missing", r'print("a\nb")', "one\ntwo", '""'):
        assert parse_pasted(other).text == other


def test_an_escaped_trace_is_located(tree: Path) -> None:
    with Engine.open(tree, embedder="none") as engine:
        logged = json.dumps({"level": "error", "stack": TRACE})
        first = engine.search(logged, SearchOptions(pasted=True)).results[0]
    assert (first.path, first.start_line <= 3 <= first.end_line) == ("shop/clock.py", True)


def test_words_that_give_tokens_are_found_with_all_that_they_give() -> None:
    words = [b"retryUsers", b"used", b"USING", b"unrelated", "größe".encode()]
    wanted = frozenset({"retri", "user", "use", "größe", "absent"})
    found = tokens.find_words(words, wanted)
    assert found == {
        word: given for word in words if (given := wanted & set(tokens.tokenize(word.decode()).split()))
    }
    assert len(found) == 4
