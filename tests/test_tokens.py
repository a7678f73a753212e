"""The tokenizer: examples of every convention, and what holds for any text."""

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.code.tokens import (
    MAX_WORD_CHARS,
    split_identifier,
    split_path_words,
    split_words,
    stem,
    tokenize,
    tokenize_path,
    tokenize_word,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserById", "getuserbyid get user by id"),
        ("HTTPServer", "httpserver http server"),
        ("parseHTTPResponse2", "parsehttpresponse2 pars http respons"),
        ("XMLHttpRequest", "xmlhttprequest xml http request"),
        ("snake_case_name", "snake_case_name snake case name"),
        ("__init__", "init"),
        ("_private", "privat"),
        ("MAX_RETRY_COUNT", "max_retry_count max retri count"),
        ("kebab-case-name", "kebab-case-name kebab case name"),
        ("utf8", "utf8 utf"),
        ("sha256sum", "sha256sum sha 256 sum"),
        ("v2", "v2"),
        ("x", "x"),
        ("a_b", "a_b"),
        ("os.path.join", "os path join"),
        ("std::vector<int>", "std vector int"),
        ("self->name", "self name"),
        ("registered registering", "regist regist"),
        ("i-1", ""),
        ("a - b", "a b"),
        ("--verbose", "verbos"),
        ("größe", "größe"),
        ("GrößeÄndern", "größeändern größe ändern"),
        ("имяПользователя", "имяпользователя имя пользователя"),
        ("日本語", "日本語 日本 本語"),
        ("日本", "日本"),
        ("get日本語Name", "get日本語name get 日本 本語 name"),
        ("한국어", "한국어 한국 국어"),
        ("😀", ""),
        ("party🎉time", "parti time"),
        ("it's", "it s"),
        ('"quoted"', "quot"),
        ("C++", "c"),
        ("", ""),
        ("  \t\n ", ""),
        ("!?.,;:", ""),
        ("___", ""),
        ("\0null\0", "null"),
        ("１２", "１２"),
        ("123", "123"),
        ("0xFF", "0xff ff"),
    ],
)
def test_examples(text: str, expected: str) -> None:
    assert tokenize(text) == expected


def test_a_long_run_of_letters_is_data() -> None:
    assert tokenize("a" * MAX_WORD_CHARS) != ""
    assert tokenize("a" * (MAX_WORD_CHARS + 1)) == ""
    assert tokenize(f"key = '{'QUJD' * 100}'") == "key"


def test_a_stem_is_what_a_query_word_becomes() -> None:
    assert stem("registering") == stem("registered") == "regist"
    assert stem("get") == "get"


def test_bytes_that_are_no_utf8_do_no_harm() -> None:
    assert tokenize(b"caf\xe9 ol\xc3\xa9") == "caf olé"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/userService.ts", ("src", "user", "service")),
        ("src/auth/__init__.py", ("src", "auth", "init")),
        (".eslintrc.json", ("eslintrc",)),
        (".github/workflows/ci-build.yml", ("github", "workflows", "ci", "build")),
        ("a\\b\\HTTPServer.cs", ("a", "b", "http", "server")),
        ("größe.py", ("größe",)),
        ("Makefile", ("makefile",)),
        ("", ()),
        ("...", ()),
    ],
)
def test_words_of_a_path(path: str, expected: tuple[str, ...]) -> None:
    assert split_path_words(path) == expected


def test_the_file_name_counts_twice_in_a_path() -> None:
    found = tokenize_path("src/auth/token_store.py").split()
    assert found.count("token") == 2
    assert found.count("store") == 2
    assert found.count("auth") == 1
    assert "py" in found
    assert tokenize_path("Makefile").split() == ["makefil"]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
IDENTIFIER = st.from_regex(r"\A[^\W\d][\w]{0,60}\Z") | st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,60}\Z")


@given(TEXT)
def test_a_text_and_its_bytes_give_the_same(text: str) -> None:
    assert tokenize(text) == tokenize(text.encode())


@given(st.text(max_size=200))
def test_tokens_are_lower_case_and_separated_by_single_spaces(text: str) -> None:
    found = tokenize(text)
    assert found == " ".join(found.split())
    assert found == found.lower()
    assert all(token.strip(string.punctuation) for token in found.split())


@given(st.text(max_size=100), st.text(max_size=100))
def test_a_text_is_cut_word_by_word(one: str, two: str) -> None:
    assert tokenize(f"{one}\n{two}") == " ".join(filter(None, [tokenize(one), tokenize(two)]))


@given(IDENTIFIER)
def test_index_and_query_agree_on_identifiers(identifier: str) -> None:
    """Wherever a name stands, looking for it asks for tokens that are there."""
    indexed = set(tokenize(f"x {identifier}()").split())
    for word in split_words(identifier):
        assert set(tokenize_word(word)) <= indexed
    assert set(tokenize(f"[{identifier}]").split()) <= indexed


@given(st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,60}\Z"))
def test_an_identifier_of_several_parts_is_a_token_as_a_whole(identifier: str) -> None:
    if len(split_identifier(identifier)) > 1:
        assert tokenize_word(identifier)[0] == identifier.strip("_").lower()


@given(st.text(string.ascii_letters + string.digits + "_-", max_size=MAX_WORD_CHARS))
def test_no_letter_of_an_ascii_word_is_lost_in_its_parts(word: str) -> None:
    assert "".join(split_identifier(word)) == "".join(c for c in word if c.isalnum()).lower()


def test_a_megabyte_takes_well_under_a_second() -> None:
    line = "def get_user_by_id(self, userId: int) -> Optional[User]: return self.cache.get(userId)\n"
    tokenize(line)
    started = time.perf_counter()
    tokenize((line * 12_000)[:1_000_000])
    assert time.perf_counter() - started < 1.0
