"""How a name can match: tiers, typos, and the ends of paths."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.stores.name_match import (
    FUZZY_MIN_LENGTH,
    edit_distance,
    is_within_typos,
    matches,
    max_typos,
    path_ends_with,
)
from dowse.types.stored import NameTier

NAME = st.text("abcdXY_é日", max_size=8)


def test_tiers_from_strict_to_loose() -> None:
    for tier, pattern, name, expected in [
        (NameTier.EXACT, "getUser", "getUser", True),
        (NameTier.EXACT, "getUser", "getuser", False),
        (NameTier.CASE, "getUser", "GETUSER", True),
        (NameTier.CASE, "getUser", "getUsers", False),
        (NameTier.CASE, "İ", "i̇", True),
        (NameTier.PREFIX, "GET", "getUser", True),
        (NameTier.PREFIX, "get", "forget", False),
        (NameTier.PREFIX, "", "anything", True),
        (NameTier.GLOB, "get*er", "getUser", True),
        (NameTier.GLOB, "get*er", "getUsers", False),
        (NameTier.GLOB, "g.t*", "getUser", False),
        (NameTier.FUZZY, "getUsr", "getUser", True),
        (NameTier.FUZZY, "GETUSER", "getuser", True),
        (NameTier.FUZZY, "setUsrs", "getUser", False),
    ]:
        assert matches(tier, pattern, name) is expected, (tier, pattern, name)


@given(NAME)
def test_a_name_matches_itself_in_every_tier(name: str) -> None:
    assert all(matches(tier, name, name) for tier in NameTier)


@given(NAME, NAME)
def test_what_matches_strictly_matches_loosely(pattern: str, name: str) -> None:
    if matches(NameTier.EXACT, pattern, name):
        assert matches(NameTier.CASE, pattern, name)
    if matches(NameTier.CASE, pattern, name):
        assert matches(NameTier.PREFIX, pattern, name)
        assert matches(NameTier.FUZZY, pattern, name)
    assert matches(NameTier.PREFIX, pattern, name) == matches(NameTier.GLOB, f"{pattern}*", name)


@pytest.mark.parametrize(
    ("a", "b", "edits"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "abc", 0),
        ("abc", "abd", 1),
        ("abc", "acb", 1),
        ("abc", "ab", 1),
        ("abc", "cba", 2),
        ("ca", "abc", 3),
        ("größe", "grösse", 2),
        ("receive", "recieve", 1),
        ("kitten", "sitting", 3),
    ],
)
def test_distance(a: str, b: str, edits: int) -> None:
    assert edit_distance(a, b) == edit_distance(b, a) == edits


def spelled_out(a: str, b: str) -> int:
    """The distance by its definition: the least over every way to end."""

    @cache
    def d(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        ways = [d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + (a[i - 1] != b[j - 1])]
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            ways.append(d(i - 2, j - 2) + 1)
        return min(ways)

    return d(len(a), len(b))


@given(NAME, NAME)
def test_distance_is_what_its_definition_says(a: str, b: str) -> None:
    assert edit_distance(a, b) == spelled_out(a, b)
    for most in range(3):
        assert (edit_distance(a, b, most) <= most) == (spelled_out(a, b) <= most)


def test_typos_are_allowed_by_length() -> None:
    assert [max_typos("x" * n) for n in (0, 3, 4, 8, 9, 50)] == [0, 0, 1, 1, 2, 2]
    assert FUZZY_MIN_LENGTH == 4
    assert not is_within_typos("get", "set")
    assert is_within_typos("gett", "sett")
    assert not is_within_typos("gett", "setts")
    assert is_within_typos("authenticate", "autentikate")


@pytest.mark.parametrize(
    ("path", "tail", "expected"),
    [
        ("src/server.py", "server.py", True),
        ("src/server.py", "server", True),
        ("src/Server.py", "src/server", True),
        ("src/server.py", "src/server.py", True),
        ("src/server.py", "a/src/server.py", False),
        ("src/server.py", "rc/server.py", False),
        ("src/server.py", "erver.py", False),
        ("src/server.py", "src", False),
        ("src/server.py", "py", False),
        ("src/server.test.js", "server", True),
        ("src/server.test.js", "server.test", False),
        (".eslintrc.json", "eslintrc", True),
        (".eslintrc.json", ".eslintrc", False),
        ("Makefile", "makefile", True),
        ("src/server.py", "", False),
    ],
)
def test_the_end_of_a_path(path: str, tail: str, expected: bool) -> None:
    assert path_ends_with(path, tail) is expected
