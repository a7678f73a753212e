"""Answers that fit a budget: hard, never empty, and never fewer hits for more room."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.errors import UsageError
from dowse.search.output.budget import pack, truncate_hit
from dowse.search.output.hit_view import MAX_LINE_CHARS, PREVIEW_LINES, format_location, render_hit
from dowse.search.output.token_estimate import estimate_tokens
from dowse.types.answers import Detail, Match, Packed, SearchResult
from dowse.types.source import Kind

SEND = """\
def send(self, request, timeout=None):
    \"\"\"Send a request and return the response.\"\"\"
    adapter = self.get_adapter(request.url)
    start = clock()
    response = adapter.send(request, timeout)
    elapsed = clock() - start
    if response.is_redirect:
        for hop in self.resolve_redirects(response, request):
            self.history.append(hop)
    response.elapsed = elapsed
    return response"""


def hit(
    path: str = "src/client.py",
    text: str = SEND,
    signature: str = "def send(self, request, timeout=None)",
    entity: str = "Client.send",
    relevance: float = 0.5,
    start: int = 10,
    fresh: bool = True,
) -> SearchResult:
    return SearchResult(
        path=path,
        start_line=start,
        end_line=start + text.count("\n"),
        entity=entity,
        kind=Kind.METHOD if entity else Kind.FILE,
        language="python",
        relevance=relevance,
        score=relevance,
        match=Match.BOTH,
        reasons=(),
        text=text,
        signature=signature,
        fresh=fresh,
    )


# --- counting ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("return", 1),
        ("getUserName", 3),
        ("registration", 2),
        ("HTTP", 2),
        ("123", 3),
        ("x = 1", 4),
        ("):", 1),
        ("    x\n", 3),
        ("\n\n", 2),
        ("日本", 2),
        ("é", 1),
        ("😀", 3),
    ],
)
def test_the_rule(text: str, expected: int) -> None:
    assert estimate_tokens(text) == expected


@given(st.lists(st.text(st.characters(exclude_characters="\n")), max_size=8))
def test_an_estimate_adds_up_over_lines(lines: list[str]) -> None:
    text = "".join(line + "\n" for line in lines)
    assert estimate_tokens(text) == sum(estimate_tokens(line + "\n") for line in lines)


REAL = {
    "SEND": (SEND, 97),
    "go": (
        'func (s *Server) Run(ctx context.Context) error {\n\treturn s.http.ListenAndServe(":8080", nil)\n}\n',
        33,
    ),
    "prose": (
        "Retries are off by default; pass `retries=3` to turn them on. See the guide for what counts.\n",
        26,
    ),
}
"""Texts with what the most verbose of four tokenizers (cl100k, o200k, Claude's of 2023, Qwen's) counts."""


@pytest.mark.parametrize("name", REAL)
def test_an_estimate_is_near_a_real_count_and_not_below(name: str) -> None:
    text, real = REAL[name]
    assert 0.95 * real <= estimate_tokens(text) <= 1.4 * real


# --- levels of detail ---


def test_levels_of_detail() -> None:
    assert render_hit(hit(), Detail.IDS) == ("src/client.py:10-20",)
    assert render_hit(hit(), Detail.SIGNATURE) == (
        "src/client.py:10-20 Client.send (method): def send(self, request, timeout=None)",
    )
    assert render_hit(hit(), Detail.FULL) == ("src/client.py:10-20 Client.send (method)", *SEND.split("\n"))
    preview = render_hit(hit(), Detail.PREVIEW, words=["redirect"])
    assert preview[1] == "def send(self, request, timeout=None):"
    assert "    if response.is_redirect:" in preview
    assert "        for hop in self.resolve_redirects(response, request):" in preview
    assert "... 2 lines (12-13)" in preview
    assert len([line for line in preview[1:] if not line.startswith("...")]) == PREVIEW_LINES


def test_a_header_keeps_the_signature_that_the_text_does_not_say() -> None:
    body = hit(text="    return 1\n    # end", start=30)
    assert render_hit(body, Detail.FULL)[0].endswith(": def send(self, request, timeout=None)")


def test_a_header_without_a_definition_has_the_first_line() -> None:
    assert render_hit(hit(entity="", signature="", text="\n# Usage\nRun it."), Detail.SIGNATURE) == (
        "src/client.py:10-12: # Usage",
    )
    assert render_hit(hit(fresh=False), Detail.SIGNATURE)[0].startswith(
        "src/client.py:10-20 Client.send (method) [changed since it was indexed]: "
    )


def test_odd_names_stay_on_one_line() -> None:
    odd = hit(path="a\nb.py", entity="x\ny", signature="def f(\n    a,\n)")
    assert render_hit(odd, Detail.SIGNATURE) == ("a?b.py:10-20 x y (method): def f( a, )",)


# --- packing ---


def test_everything_fits() -> None:
    packed = pack([hit(), hit("src/other.py", "x = 1", "", "")], 1000)
    assert [h.detail for h in packed.hits] == [Detail.FULL, Detail.FULL]
    assert packed.omitted == packed.cut == ()
    assert packed.text == f"src/client.py:10-20 Client.send (method)\n{SEND}\n\nsrc/other.py:10-10\nx = 1"
    assert packed.tokens == estimate_tokens(packed.text) <= packed.budget == 1000


def test_headers_first_then_text_by_rank() -> None:
    hits = [hit(f"src/file{i}.py", relevance=0.9 - i / 10) for i in range(5)]
    headers = sum(estimate_tokens(render_hit(h, Detail.SIGNATURE)[0] + "\n") for h in hits)
    assert [h.detail for h in pack(hits, headers).hits] == [Detail.SIGNATURE] * 5
    some = pack(hits, headers + 150)
    assert len(some.hits) == 5
    assert some.hits[0].detail is Detail.FULL
    assert some.hits[-1].detail is Detail.SIGNATURE
    assert "src/file4.py:10-20" in some.cut


def test_a_long_text_is_cut_to_its_best_lines() -> None:
    lines = [f"    step_{i}()" for i in range(200)]
    lines[120] = "    redirect(response)"
    packed = pack(
        [hit(text="def run():\n" + "\n".join(lines), signature="def run()", start=1)], 120, words=["redirect"]
    )
    assert packed.hits[0].detail is Detail.PREVIEW
    assert "    redirect(response)" in packed.hits[0].lines
    assert "    step_119()" in packed.hits[0].lines
    assert packed.hits[0].lines[1] == "def run():"
    first, last = packed.hits[0].cut[0]
    assert f"... {last - first + 1} lines ({first}-{last})" in packed.text
    assert f"src/client.py:{first}-{last}" in packed.cut


def test_a_long_line_is_cut() -> None:
    packed = pack([hit(text="x" * 1000, signature="", entity="")], 5000)
    assert f"x ... {1000 - MAX_LINE_CHARS} characters" in packed.text
    assert packed.hits[0].detail is Detail.PREVIEW
    assert packed.cut == ("src/client.py:10-10",)


def test_what_is_left_out_is_told() -> None:
    hits = [hit(f"src/file{i}.py") for i in range(20)]
    packed = pack(hits, 100)
    assert 0 < len(packed.hits) < 20
    assert packed.omitted == tuple(format_location(h) for h in hits[len(packed.hits) :])
    header = estimate_tokens(render_hit(hits[0], Detail.SIGNATURE)[0] + "\n")
    roomy = pack(hits, 4 * header - 1)
    assert roomy.text.endswith("... 17 more hits: src/file3.py:10-20")


@pytest.mark.parametrize(
    ("budget", "text"),
    [(1, "?"), (7, "?"), (8, "src/client.py:10"), (10, "src/client.py:10"), (11, "src/client.py:10-20")],
)
def test_a_tiny_budget_names_the_first_place_or_nothing(budget: int, text: str) -> None:
    packed = pack([hit(), hit("other.py")], budget)
    assert packed.text == text
    assert packed.tokens <= budget
    assert [h.detail for h in packed.hits] == [Detail.IDS]
    assert packed.omitted == ("other.py:10-20",)
    assert packed.cut == ("src/client.py:10-20",)


def test_something_is_shown_of_a_name_that_costs_much() -> None:
    assert pack([hit("😀.py")], 1).text == "?"


def test_no_hits_and_no_budget() -> None:
    assert pack([], 10) == Packed((), (), (), "", 0, 10)
    with pytest.raises(UsageError, match="at least 1"):
        pack([hit()], 0)


def test_another_way_of_counting_is_a_hard_limit_too() -> None:
    def count(text: str) -> int:
        return len(text) // 3 + text.count("send") * 5 + 7  # does not add up over lines

    hits = [hit(f"src/file{i}.py") for i in range(8)]
    for budget in range(1, 1200, 37):
        packed = pack(hits, budget, count)
        assert count(packed.text) == packed.tokens
        assert packed.tokens <= budget or not packed.text


def test_packing_many_long_hits_is_fast_enough_to_ask_for() -> None:
    calls = 0

    def count(text: str) -> int:
        nonlocal calls
        calls += 1
        return estimate_tokens(text)

    long = "\n".join(f"    value_{i} = compute(value_{i}, {i})" for i in range(300))
    pack([hit(f"src/file{i}.py", long) for i in range(50)], 4000, count, words=["value"])
    assert calls <= 50 * (300 + 10)  # each line once


LINES = st.lists(st.text(st.characters(exclude_characters="\n"), max_size=40), max_size=30).map("\n".join)
HITS = st.lists(
    st.builds(
        hit,
        path=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
        text=st.one_of(LINES, st.just(SEND), st.just(SEND.replace("\n", " ") * 5)),
        signature=st.one_of(
            st.just(""), st.just("def send(self, request, timeout=None)"), st.text(max_size=300)
        ),
        entity=st.text(max_size=20),
        relevance=st.floats(0, 1),
        start=st.integers(1, 100_000),
        fresh=st.booleans(),
    ),
    max_size=12,
)
BUDGETS = st.one_of(st.integers(1, 60), st.integers(1, 3000))
WORDS = st.sets(st.sampled_from(["redirect", "elaps", "send", "x"]))


@settings(deadline=None)
@given(HITS, BUDGETS, WORDS)
def test_never_over_budget_and_never_empty(hits: list[SearchResult], budget: int, words: set[str]) -> None:
    packed = pack(hits, budget, words=words)
    assert packed.tokens == estimate_tokens(packed.text) <= budget
    assert [h.result for h in packed.hits] == hits[: len(packed.hits)]
    assert packed.omitted == tuple(format_location(h) for h in hits[len(packed.hits) :])
    if hits:
        assert packed.hits
        assert packed.text


@settings(deadline=None)
@given(HITS, BUDGETS, st.integers(1, 200), WORDS)
def test_more_room_never_shows_fewer_hits(
    hits: list[SearchResult], budget: int, more: int, words: set[str]
) -> None:
    assert len(pack(hits, budget, words=words).hits) <= len(pack(hits, budget + more, words=words).hits)


@settings(deadline=None)
@given(HITS, BUDGETS)
def test_every_line_is_shown_or_told_to_be_cut(hits: list[SearchResult], budget: int) -> None:
    for packed in pack(hits, budget).hits:
        lines = packed.result.text.split("\n") if packed.result.text else []
        hidden = {number for first, last in packed.cut for number in range(first, last + 1)}
        for number, line in enumerate(lines, packed.result.start_line):
            assert number in hidden or line in packed.lines
        assert packed.detail is not Detail.FULL or not hidden


# --- cutting down what is packed ---


@pytest.mark.parametrize("budget", [90, 120, 1000])
@pytest.mark.parametrize("rows", range(13))
def test_a_packed_hit_is_cut_down_to_its_first_rows(budget: int, rows: int) -> None:
    (whole,) = pack([hit()], budget, words=["redirect"]).hits
    rows = min(rows, len(whole.lines) - 2)
    less = truncate_hit(whole, rows)
    lines = dict(enumerate(SEND.split("\n"), 10))
    shown_here = [line for line in less.lines[1:] if not line.startswith("... ")]
    missing = {number for first, last in less.cut for number in range(first, last + 1)}
    assert shown_here == [line for number, line in lines.items() if number not in missing]
    assert less.lines[: len(shown_here)] == whole.lines[: len(shown_here)] and len(shown_here) <= rows
    assert less.lines[-1].startswith("... ") == bool(shown_here)
    assert less.tokens == estimate_tokens("".join(f"{line}\n" for line in less.lines)) + bool(shown_here)
