"""Hits on a terminal: which lines of them, how wide, how many, and what opens them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine
from dowse.errors import UsageError
from dowse.interfaces import hit_lines, render, theme
from dowse.interfaces.last_answer import find_hit, save_hits
from dowse.interfaces.render import View
from dowse.interfaces.terminal_hits import terminal_text
from dowse.types.answers import Match, SearchResult, Strength
from dowse.types.queries import Query
from dowse.types.source import Kind
from tests.test_cli import Shell, make_tree, needs_terminal, on_terminal, without_colour

LONG = "\n".join(
    [
        "@decorate(",
        "    'x')",
        "def open_door(",
        "    house: House, *, slowly: bool = False,",
        ") -> Door:",
        '    """Open a door."""',
        *(f"    step_{n}()" for n in range(30)),
        "\treturn house.lock.release()",
    ]
)


def hit(text: str, signature: str = "", relevance: float = 0.9, **given: str) -> SearchResult:
    return SearchResult(
        path=given.get("path", "src/house.py"),
        start_line=10,
        end_line=10 + text.count("\n"),
        entity=given.get("entity", "House.open_door"),
        kind=Kind.METHOD,
        language="python",
        relevance=relevance,
        score=1.0,
        match=Match.KEYWORD,
        reasons=(),
        text=text,
        signature=signature,
    )


SIGNATURE = "def open_door( house: House, *, slowly: bool = False, ) -> Door"


def test_the_signature_and_the_lines_that_match_are_chosen() -> None:
    shown = hit_lines.choose_lines(hit(LONG, SIGNATURE), ["lock", "releas"], 3)
    assert shown.signature == "def open_door(house: House, *, slowly: bool = False,) -> Door"
    assert shown.signature_index == 2
    assert len(shown.lines) == 2 and 36 in shown.lines
    assert not {2, 3, 4} & set(shown.lines), "the lines of the signature are shown once"


def test_a_hit_within_its_definition_begins_with_the_signature() -> None:
    shown = hit_lines.choose_lines(hit("    a = 1\n    b = 2\n    c = lock", SIGNATURE), ["lock"], 2)
    assert shown == hit_lines.ShownLines([2], "def open_door(house: House, *, slowly: bool = False,) -> Door")


def test_a_short_hit_is_shown_as_it_is() -> None:
    assert hit_lines.choose_lines(hit("def f():\n\n    pass", "def f()"), [], 4).lines == [0, 2]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("漢字漢字", 7, "漢字漢…"),
        ("漢字漢字", 6, "漢字…"),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
        ("abc", 0, "abc"),
        ("\x1b[1mabcdef\x1b[0mgh", 4, "\x1b[1mabc…\x1b[0m"),
    ],
)
def test_lines_are_cut_to_columns(text: str, width: int, shown: str) -> None:
    assert hit_lines.cut_text(text, width) == shown


def test_tabs_and_common_indentation_do_not_waste_columns() -> None:
    assert hit_lines.lay_out("\t\tif x:\n\t\t\treturn", [0, 1]) == ["if x:", "    return"]
    assert hit_lines.lay_out("\tx\x1b[2J", [0]) == ["x\\x1b[2J"]


def test_the_first_hit_is_the_largest_and_weak_ones_are_small() -> None:
    hits = [hit(LONG), hit(LONG), hit(LONG, relevance=0.4), hit(LONG, relevance=0.1)]
    for height in (10, 30, 100):
        first, *others = hit_lines.limit_lines(hits, height, are_guesses=False)
        assert first > max(others) and others == sorted(others, reverse=True)
    assert hit_lines.limit_lines(hits, 100, are_guesses=False) > hit_lines.limit_lines(
        hits, 10, are_guesses=False
    )
    assert hit_lines.limit_lines(hits, 100, are_guesses=True) == [1, 1, 1, 1]


def test_strength_is_a_word_for_relevance() -> None:
    strengths = [hit("x", relevance=value).strength for value in (1.0, 0.6, 0.59, 0.3, 0.29, 0.0)]
    s, k, w = Strength
    assert strengths == [s, s, k, k, w, w]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    tree = make_tree(tmp_path_factory.mktemp("wide") / "tree")
    deep = tree / "a_folder_with_a_long_name" / "another_folder_with_a_long_name"
    deep.mkdir(parents=True)
    (deep / "retry_policies.py").write_text(
        "class ExponentialRetryPolicyWithJitter:\n"
        f"    def retry_with_exponential_backoff(self, {', '.join(f'argument_{n}' for n in range(20))}):\n"
        f"\t\treturn '{'retry ' * 60}'\n"
    )
    with Engine.open(tree, embedder="none") as engine:
        yield engine


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("coloured", [False, True])
def test_no_line_is_wider_than_the_terminal(engine: Engine, width: int, coloured: bool) -> None:
    paint = theme.colour if coloured else theme.plain
    view = View(str(engine.root), paint, terminal=True, whole=False, width=width, height=24)
    text = terminal_text(engine.search("retry with backoff"), view)
    widths = [hit_lines.measure_width(without_colour(line)) for line in text.split("\n")]
    assert max(widths) <= max(width, 60), "a header has its path and strength, however narrow"
    if width >= 80:
        assert max(widths) <= width
        assert "retry_policies.py:" in without_colour(text) and "…" in text


def test_numbers_are_for_explanations(engine: Engine) -> None:
    response = engine.search("retry with backoff")
    for explain in (False, True):
        view = View(str(engine.root), terminal=True, explain=explain, whole=False, width=100, height=40)
        first = next(line for line in terminal_text(response, view).split("\n") if line.startswith(" 1  "))
        assert bool(re.search(r"[01]\.\d\d$", first)) == explain


def test_stems_are_highlighted_to_their_end() -> None:
    query = Query("permissions checked", (), (), (), ("permiss", "check"), (), "words")
    pattern = render.query_pattern(query)
    assert pattern
    found = pattern.findall("SkipPermissions PERMISSION_CHECKS checks if")
    assert found == ["Permissions", "PERMISSION", "CHECKS", "checks"]


def test_hits_are_found_again_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOWSE_STATE_DIR", str(tmp_path / "state"))
    tree, other = tmp_path / "tree", tmp_path / "other"
    with pytest.raises(UsageError, match="no answer about"):
        find_hit(tree, 1)
    save_hits(tree, [("/x/a.py", 3), ("/x/b.py", 4)], 11)
    assert find_hit(tree, 12) == ("/x/b.py", 4)
    for number in (1, 10, 13):
        with pytest.raises(UsageError, match="has 11 to 12"):
            find_hit(tree, number)
    with pytest.raises(UsageError, match="no answer about"):
        find_hit(other, 11)
    (file,) = (tmp_path / "state" / "answers").iterdir()
    file.write_bytes(b'{"first": 1, "hits": [7]}')
    with pytest.raises(UsageError, match="no answer about"):
        find_hit(tree, 1)


@needs_terminal
def test_pages_opening_and_the_pager(tmp_path: Path) -> None:
    shell = Shell(make_tree(tmp_path / "tree"), tmp_path)
    _, text = on_terminal(shell, "search", "retry", "-n", "2")
    second = re.search(r"^ 2  (\S+):(\d+)-", without_colour(text), re.M)
    assert second
    code, opened = on_terminal(shell, "open", "2", VISUAL="echo")
    assert code == 0 and opened.endswith(f"+{second[2]} {shell.folder.resolve() / second[1]}\n")
    _, opened = on_terminal(shell, "search", "retry", "-o", "2", VISUAL="echo")
    assert opened.endswith(f"+{second[2]} {shell.folder.resolve() / second[1]}\n")
    _, page = on_terminal(shell, "search", "retry", "-n", "1", "--offset", "1")
    assert without_colour(page).startswith(f" 2  {second[1]}:{second[2]}-")
    code, text = on_terminal(shell, "open", "99", VISUAL="echo")
    assert code == 2 and "there is no hit 99" in text
    marked = {"DOWSE_PAGER": "sed s/^/paged/"}
    _, paged = on_terminal(shell, "search", "retry", "--full", "--pager", "always", **marked)
    assert without_colour(paged).startswith("paged")
    for args in (["--pager", "never", "--full"], ["-n", "1"]):
        assert "paged" not in on_terminal(shell, "search", "retry", *args, **marked)[1]
