"""Names that a query has by a pattern, a part or with a typo are found as the index writes them, and come first.

Among enough other code that a wrong order would show, and that an answer may say that nothing good was found.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dowse import Engine
from dowse.types.answers import Match, SearchOptions, SearchResponse

FILES = {
    "src/pool.py": "class SessionPool:\n    def borrow(self):\n        return self.free.pop()\n",
    "src/session.py": "class Session:\n    def renew(self):\n        return self.token\n",
    "src/errors.py": "class ErrorHandler:\n    pass\n",
    "src/retries.py": "class RetryHandler:\n    pass\n",
    "src/auth.py": "def authenticate_user(name):\n    return name\n",
    "docs/guide.md": "# A guide\n\nIt has a shibboleth in its text, certificates, and a normalization.\n",
}
WORDS = "river stone meadow lantern harbor copper willow falcon ember thistle".split()
OTHERS = {
    f"src/{one}_{other}.py": f"def {one}_{other}(error, session_id):\n    return {other} + error + session_id\n"
    for one in WORDS
    for other in WORDS
    if one != other
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("tree")
    for path, text in (FILES | OTHERS).items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(root) as opened:
        opened.index()
        yield opened


def entities(response: SearchResponse) -> list[str]:
    return [hit.entity for hit in response.results]


def notes(response: SearchResponse) -> str:
    return "\n".join(response.notes)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Ses*ion", {"Session"}),
        ("ses*", {"Session", "SessionPool"}),
        ("*Handler", {"ErrorHandler", "RetryHandler"}),
        ("*rror*and*", {"ErrorHandler"}),
        ("auth*user", {"authenticate_user"}),
    ],
)
def test_a_pattern_finds_the_names_that_it_matches_and_nothing_else(
    engine: Engine, query: str, found: set[str]
) -> None:
    response = engine.search(query)
    assert set(entities(response)) == found
    assert all(hit.match is Match.NAME and hit.relevance > 0.5 for hit in response.results)
    assert not notes(response)


def test_a_pattern_counts_beside_words(engine: Engine) -> None:
    assert set(entities(engine.search("*Handler retry"))[:2]) == {"RetryHandler", "ErrorHandler"}


def test_stars_around_a_word_of_a_text_are_for_emphasis(engine: Engine) -> None:
    assert "meadow*" not in engine.search("how does the *meadow* river work").query.names


@pytest.mark.parametrize(
    ("query", "entity", "how"),
    [
        ("sesion", "Session", "are nearly so"),
        ("SesionPool", "SessionPool", "are nearly so"),
        ("sessionpol", "SessionPool", "are nearly so"),
        ("SessionPo", "SessionPool", "begin so"),
        ("sionpoo", "SessionPool", "contain it"),
        ("rrorHandl", "ErrorHandler", "contain it"),
        ("authenticate_usr", "authenticate_user", "are nearly so"),
    ],
)
def test_a_name_that_is_not_quite_so_is_found_first_and_the_answer_says_how(
    engine: Engine, query: str, entity: str, how: str
) -> None:
    response = engine.search(query)
    assert entities(response)[0] == entity
    assert response.results[0].match is Match.NAME
    assert not response.low_confidence
    assert f"nothing is called '{query}'; names that {how}" in notes(response)
    assert entity in notes(response)


@pytest.mark.parametrize(
    ("part", "word"),
    [
        ("hibbolet", "shibboleth"),
        ("ertificate", "certif"),
        ("ertificat", "certif"),
        ("normalizatio", "normal"),
        ("ormaliza", "normal"),
    ],
)
def test_a_part_of_a_word_that_only_texts_have_is_found_and_the_answer_says_so(
    engine: Engine, part: str, word: str
) -> None:
    response = engine.search(part)
    assert response.results[0].path == "docs/guide.md"
    assert not response.low_confidence
    assert f"no word is '{part}'; words that contain it: {word}" in notes(response)


def test_a_longer_query_of_which_nothing_has_a_word_is_tried_by_parts_too(engine: Engine) -> None:
    response = engine.search("xqzzy hibbolet wvvut qqpzz kkjjh")
    assert response.results[0].path == "docs/guide.md"
    assert "no word is 'hibbolet'" in notes(response)


@pytest.mark.parametrize("query", ["pool", "shibboleth", "Session", "session_id", "ibb", "xqzzyk"])
def test_what_is_written_so_or_short_or_nowhere_is_not_looked_for_by_parts(
    engine: Engine, query: str
) -> None:
    response = engine.search(query, SearchOptions(show_low_confidence=True))
    assert "contain it" not in notes(response)
    assert not any(spelling.found == () for spelling in response.query.spellings)


def test_a_plain_word_with_a_typo_among_others_may_mean_something_else(engine: Engine) -> None:
    assert "nearly so" not in notes(engine.search("sesion river"))


def test_a_filter_limits_what_a_name_is_found_by(engine: Engine) -> None:
    response = engine.search("sionpoo path:src/auth.py")
    assert response.relaxed, "nothing is found within the filter"
    assert entities(engine.search("sionpoo path:src/pool.py")) == ["SessionPool"]


def test_the_pattern_of_a_filter_is_no_misspelt_name(engine: Engine) -> None:
    response = engine.search("name:Ses*ion")
    assert entities(response) == ["Session"] and not response.query.spellings
