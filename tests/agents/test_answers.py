"""Answers keep their budget twice: as text and as values."""

import json

from hypothesis import given
from hypothesis import strategies as st

from dowse.interfaces.mcp.responses import Answer, ResponseOptions, answer_hits
from dowse.interfaces.mcp.session import SentLines
from dowse.search.output.budget import list_cut_ranges
from dowse.search.output.token_estimate import estimate_tokens
from dowse.types.answers import Detail, Match, PackedHit, SearchResult
from dowse.types.source import Kind

LINES = st.sampled_from(
    [
        "",
        "    return {'a': \"b\"}",
        '\t\t"""Say \\"hello\\"."""',
        "\x00\x1b[0m",
        "naïve = 漢字 + 🙂",
        "}" * 9,
        "x" * 400,
    ]
)


def hit(number: int, lines: list[str], signature: str = "def f()") -> SearchResult:
    return SearchResult(
        path=f"src/file{number}.py",
        start_line=10,
        end_line=9 + len(lines),
        entity=f"name_{number}",
        kind=Kind.FUNCTION,
        language="python",
        relevance=0.5,
        score=0.5,
        match=Match.BOTH,
        reasons=(),
        text="\n".join(lines),
        signature=signature,
    )


def footer(shown: object, omitted: object) -> tuple[list[str], dict[str, object]]:
    assert isinstance(shown, list | tuple) and isinstance(omitted, list | tuple)
    packed: list[PackedHit] = list(shown)
    return [f"hits 1-{len(packed)}"], {"cut": list_cut_ranges(packed), "omitted": list(omitted)}


def answered(hits: list[SearchResult], budget: int, detail: Detail | None = None) -> Answer:
    return answer_hits(hits, ResponseOptions(budget, detail), SentLines(), footer)


@given(
    st.lists(st.lists(LINES, min_size=1, max_size=40), min_size=1, max_size=8),
    st.integers(20, 2000),
    st.sampled_from([None, Detail.FULL, Detail.PREVIEW, Detail.SIGNATURE]),
)
def test_text_and_values_each_keep_the_budget(
    codes: list[list[str]], budget: int, detail: Detail | None
) -> None:
    answer = answered([hit(n, code, "x" * 500) for n, code in enumerate(codes)], budget, detail)
    assert estimate_tokens(answer.text) <= budget
    assert estimate_tokens(json.dumps(answer.values, ensure_ascii=False, separators=(",", ":"))) <= budget


def test_values_are_what_the_text_shows_and_say_what_they_leave_out() -> None:
    code = [f'    print("line {number}", end="")' for number in range(60)]
    for budget in (300, 600, 900, 5000):
        answer = answered([hit(0, code), hit(1, code)], budget)
        for found in answer.values["hits"]:
            rows = found.get("text", "").split("\n")
            assert all(row in answer.text for row in rows if not row.startswith("... "))
        whole = all(found.get("text", "").count("\n") == 59 for found in answer.values["hits"])
        assert whole == (budget == 5000) == (not answer.values["cut"])
        assert "line 0" in answer.values["hits"][0]["text"]
