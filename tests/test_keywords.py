"""What is left of a long text: the terms that tell places apart."""

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.search.query.keywords import (
    MAX_SURE_TERMS,
    MAX_TERMS,
    NOISE_WORDS,
    PLAIN_TERM_SHARE,
    SURE_WORTH,
    TITLE_WORTH,
    QueryWord,
    choose_keywords,
    inverse_frequency,
    is_long,
    list_words,
)

ISSUE = """\
Redirect loses the Authorization header on the second hop

Hi everyone, thanks for the great library! I think there is an issue, e.g. when I call `session.send` with a custom
adapter. Please help. The retry logic in src/requests/adapters.py seems to rebuild the headers, i.e. it goes through
resolve_redirects and rebuild_auth, and the async function of my class gets a response without them. I looked at the
documentation and the documentation says that headers are kept if the host stays the same. In my case the host is the
same, but the port is not, because our proxy listens on another one. It would be good if the documentation said so, or
if the header were kept. I do not know whether this worked before, somebody on GitHub said it did. We use version 2.31
on Linux. Cheers!
"""

FREQUENCY = {
    "redirect": 40, "author": 25, "header": 300, "second": 30, "hop": 2, "session": 200, "send": 80, "retri": 30,
    "adapt": 60, "resolve_redirects": 6, "rebuild_auth": 4, "resolv": 30, "rebuild": 10, "auth": 90,
    "document": 20, "host": 90, "port": 40, "proxi": 70, "async": 8, "function": 300, "class": 500, "respons": 400,
    "custom": 20, "version": 60, "say": 60, "kept": 3, "request": 900, "src": 900, "same": 60, "librari": 9, "call": 90,
}  # fmt: skip
CHUNKS = 1000


def weights(text: str, limit: int = MAX_TERMS) -> dict[str, float]:
    return {
        term.text: term.weight for term in choose_keywords(list_words(text), FREQUENCY, CHUNKS, limit).terms
    }


def test_an_issue_becomes_the_terms_it_is_about() -> None:
    found = weights(ISSUE, limit=20)
    assert len(found) == 20
    assert {
        "redirect",
        "author",
        "hop",
        "adapt",
        "resolve_redirects",
        "rebuild_auth",
        "session",
    } <= found.keys()
    assert found.keys().isdisjoint({"src", "say", "linux", "great"})


def test_words_of_conversation_are_noise_and_technical_words_are_not() -> None:
    tokens = {word.token for word in list_words(ISSUE)}
    assert tokens.isdisjoint(
        {"thank", "thanks", "pleas", "help", "github", "issu", "g", "cheer", "hi", "somebodi", "the"}
    )
    assert {"async", "function", "class", "document"} <= tokens
    assert NOISE_WORDS.isdisjoint(
        {"async", "function", "class", "return", "test", "error", "type", "get", "set", "new"}
    )


def test_noise_in_quotes_is_meant() -> None:
    assert {word.token: word.sure for word in list_words("the `help` command and help")} == {
        "help": True,
        "command": False,
    }


def test_what_the_index_does_not_know_is_dropped_and_told() -> None:
    result = choose_keywords(
        [QueryWord("known", 1), QueryWord("unknown", 9, sure=True)], {"known": 1}, CHUNKS
    )
    assert [term.text for term in result.terms] == ["known"]
    assert result.unseen == ("unknown",)
    assert result.dropped == ()


def test_identifiers_quoted_code_and_files_are_sure() -> None:
    words = {
        word.token: word
        for word in list_words('call getUser or `open` in lib/cart_total.py, "strict mode", maybe')
    }
    assert {token for token, word in words.items() if word.sure} == {
        "getuser", "open", "cart_total", "strict", "mode",
    }  # fmt: skip
    assert words["getuser"].worth == SURE_WORTH
    assert words["user"].worth == 0.5
    assert words["mayb"].worth == 1.0


def test_the_title_counts_more() -> None:
    words = {
        word.token: word for word in list_words("Redirect drops getUser\n\nThe redirect and the header drop")
    }
    assert words["redirect"].worth == TITLE_WORTH
    assert words["getuser"].worth == SURE_WORTH * TITLE_WORTH
    assert words["header"].worth == 1.0
    assert {word.worth for word in list_words("one line that is all there is")} == {1.0}


def test_the_formula() -> None:
    rare, common = QueryWord("rare", 1), QueryWord("common", 3)
    result = choose_keywords([common, rare], {"rare": 2, "common": 400}, CHUNKS)
    rare_score = 1 * math.log(1 + (1000 - 2 + 0.5) / 2.5)
    common_score = (1 + math.log(3)) * math.log(1 + (1000 - 400 + 0.5) / 400.5)
    assert rare_score > common_score
    assert [term.text for term in result.terms] == ["rare", "common"]
    assert result.terms[1].weight == 1.0
    assert result.terms[0].weight == pytest.approx(1 / (1 + math.log(3)))


def test_frequencies_may_be_a_function() -> None:
    words = [QueryWord("a", 1), QueryWord("b", 1)]
    assert choose_keywords(words, {"a": 3, "b": 4}.__getitem__, 10) == choose_keywords(
        words, {"a": 3, "b": 4}, 10
    )


def test_sure_terms_are_kept_beyond_the_limit_and_leave_room_for_words() -> None:
    sure = [QueryWord(f"name_{i}", 1, 1.0, sure=True) for i in range(100)]
    plain = [QueryWord(f"word{i}", 1) for i in range(100)]
    result = choose_keywords(
        [*plain, *sure], lambda token: 500 if token.startswith("name") else 5, CHUNKS, 30
    )
    names = [term for term in result.terms if term.text.startswith("name")]
    assert len(names) == MAX_SURE_TERMS
    assert len(result.terms) - len(names) == 30 // PLAIN_TERM_SHARE
    assert len(result.dropped) == 200 - len(result.terms)


def test_a_long_text_is_told_from_a_question() -> None:
    assert is_long(ISSUE)
    assert not is_long("where is the Authorization header dropped on redirect?")


@pytest.mark.parametrize("seen", [1, 10, 999, 1000, 2000])
def test_inverse_frequency_is_never_negative(seen: int) -> None:
    assert inverse_frequency(seen, CHUNKS) > 0


WORDS = st.lists(
    st.builds(
        QueryWord, st.text("abc", min_size=1, max_size=3), st.integers(1, 50), st.just(1.0), st.booleans()
    ),
    unique_by=lambda word: word.token,
    max_size=40,
)


@given(
    WORDS, st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(0, 100)), st.integers(1, 40)
)
def test_every_word_is_a_term_or_its_absence_is_told(
    words: list[QueryWord], seen: dict[str, int], limit: int
) -> None:
    result = choose_keywords(words, seen, 100, limit)
    told = [*(term.text for term in result.terms), *result.unseen, *result.dropped]
    assert sorted(told) == sorted(word.token for word in words)
    assert all(0 < term.weight <= 1 for term in result.terms)
    assert choose_keywords(words, seen, 100, limit) == result


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert all(word.token and word.times > 0 and word.worth > 0 for word in list_words(text))


def test_much_of_anything_is_read_in_seconds() -> None:
    for piece in ("a", "a-", "a/", "a.", "`", '"', "e.g", "word "):
        started = time.perf_counter()
        list_words(piece * (200_000 // len(piece)))
        assert time.perf_counter() - started < 20  # a slow, busy machine; a quadratic pattern takes hours
