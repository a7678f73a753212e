"""How a query is read."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.code import languages, tokens
from dowse.search.channels import version_checks
from dowse.search.query.analyze import (
    MAX_NAMES,
    MAX_TERMS,
    PART_WEIGHT,
    STOP_WORDS,
    WHOLE_WEIGHT,
    analyze_text,
    get_last_part,
    is_identifier,
)
from dowse.types.queries import Query

EXTENSIONS = languages.load_builtin().extensions


def read(text: str) -> Query:
    return analyze_text(text, EXTENSIONS.__contains__)


def weights(text: str) -> dict[str, float]:
    return dict(read(text).terms)


def test_words_that_say_nothing_are_dropped() -> None:
    query = read("where is the token refreshed")
    assert weights("where is the token refreshed") == {"token": 1.0, "refresh": 1.0}
    assert query.dropped == ("where", "is", "the")
    assert query.words == ("token", "refresh")
    assert query.type == "words"


def test_a_question_of_nothing_but_such_words_keeps_them() -> None:
    query = read("how to do it")
    assert [term.text for term in query.terms] == ["how", "to", "do", "it"]
    assert query.dropped == ()


def test_words_that_are_also_names_in_code_are_kept() -> None:
    assert STOP_WORDS.isdisjoint({"get", "set", "new", "all", "not", "list", "map", "open", "close"})


def test_an_identifier_counts_as_a_whole_and_its_parts_half() -> None:
    assert weights("getUserById") == {
        "getuserbyid": WHOLE_WEIGHT,
        "get": PART_WEIGHT,
        "user": PART_WEIGHT,
        "by": PART_WEIGHT,
        "id": PART_WEIGHT,
    }
    assert weights("getUser user")["user"] == WHOLE_WEIGHT, "said by itself it counts fully"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("getUser", True),
        ("get_user", True),
        ("HTTPServer", True),
        ("os.path", True),
        ("std::vector", True),
        ("a->b", True),
        ("Auth*", True),
        ("user", False),
        ("User", False),
        ("HTTP", False),
        ("_private", True),
        ("utf8", False),
        ("größe", False),
        ("GrößeÄndern", True),
        ("имяПользователя", True),
    ],
)
def test_what_looks_like_a_name_in_code(word: str, expected: bool) -> None:
    assert is_identifier(word) is expected


@pytest.mark.parametrize(
    ("text", "names", "reading"),
    [
        ("getUser", ("getUser",), "symbol"),
        ("User.find_all", ("User.find_all",), "symbol"),
        ("std::sort", ("std::sort",), "symbol"),
        ("Auth*", ("Auth*",), "symbol"),
        ("login", ("login",), "words"),
        ("open file", ("open", "file"), "words"),
        ("class Session", ("Session",), "words"),
        ("struct Mux", ("Mux",), "words"),
        ("fn main", ("main",), "words"),
        ("class loader", ("class", "loader"), "words"),
        ("Type Session token", ("Type", "Session", "token"), "words"),
        ("why does getUser fail on an empty session", ("getUser",), "mixed"),
        ("how are sessions stored on disk between runs", (), "words"),
    ],
)
def test_names(text: str, names: tuple[str, ...], reading: str) -> None:
    query = read(text)
    assert query.names == names
    assert query.type == reading


@pytest.mark.parametrize(
    ("text", "words", "dropped"),
    [
        ("please show the session store, thanks", ("show", "session", "store"), ("please", "the", "thanks")),
        (
            "cookies, i.e. sessions, e.g. of flask etc.",
            ("cooki", "session", "flask"),
            ("of", "i.e.", "e.g.", "etc."),
        ),
        ("compile_templates e.g context", ("compil", "templat", "context"), ("e.g",)),
        ("read /etc/hosts", ("read", "etc", "host"), ()),
        ("etcd client", ("etcd", "client"), ()),
        ("self.e.g", ("self", "e", "g"), ()),
        ("help command of an issue tracker", ("help", "command", "issu", "tracker"), ("of", "an")),
        ("etc", ("etc",), ()),
        ("thanks", ("thank",), ()),
    ],
)
def test_what_is_only_said_to_people_is_dropped(
    text: str, words: tuple[str, ...], dropped: tuple[str, ...]
) -> None:
    query = read(text)
    assert query.words == words
    assert query.dropped == dropped


def test_an_abbreviation_is_no_name() -> None:
    assert read("_utils.py _models.py i.e").type == "file"
    assert read("e.g compile_templates context vars").names == ("compile_templates", "context", "vars")


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("server.py", ("server.py",)),
        ("what does src/auth/token.py do", ("src/auth/token.py",)),
        ("./src/auth/token.py", ("src/auth/token.py",)),
        ("src\\auth\\token.py", ("src/auth/token.py",)),
        ("in auth/token", ("auth/token",)),
        ("package.json and Cargo.toml", ("package.json", "Cargo.toml")),
        ("os.path", ()),
        ("version 1.2.3", ()),
        ("e.g. this", ()),
        ("größe.py", ("größe.py",)),
        ("foo.unknownext", ()),
    ],
)
def test_files(text: str, files: tuple[str, ...]) -> None:
    assert read(text).files == files


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("token.py", "file"),
        ("src/auth/session/token.py", "file"),
        ("src/auth/session/token.py refresh", "file"),
        ("why does src/auth/token.py refresh the session", "words"),
        ("why does auth/token refresh the session", "words"),
    ],
)
def test_a_file_alone_is_a_question_about_a_file(text: str, reading: str) -> None:
    assert read(text).type == reading


@pytest.mark.parametrize("text", ["token.py", "src/auth/token.py", "src\\auth\\token.py", "why token.py"])
def test_the_extension_of_a_file_is_not_looked_for(text: str) -> None:
    query = read(text)
    assert "py" not in dict(query.terms)
    assert "token" in dict(query.terms)
    assert not any("py" in name for name in query.names)


def test_what_may_be_a_name_or_a_format_is_looked_for() -> None:
    assert "json" in weights("flask.json provider")
    assert read("mutex.lock").names == ("mutex.lock",)
    assert "py" in weights("py files")


def test_the_last_part_of_a_name() -> None:
    for name in (
        "Session",
        "auth.Session",
        "auth::Session",
        "auth->Session",
        "Auth#Session",
        "auth\\Session",
    ):
        assert get_last_part(name) == "Session"
    assert get_last_part("auth.Sess*") == "Sess"


@pytest.mark.parametrize("text", ["!?.,;:", "---", "(){}[]", "😀 🎉", "\0\0", "  "])
def test_punctuation_asks_for_nothing(text: str) -> None:
    query = read(text)
    assert not (query.terms or query.names or query.files or query.words)


def test_nul_is_a_space() -> None:
    assert weights("token\0store") == {"token": 1.0, "store": 1.0}


def test_the_text_is_kept_as_it_was_asked() -> None:
    assert read("  Where?\n").text == "  Where?\n"


LONG = {
    "words": " ".join(f"word{i}" for i in range(14_000)),
    "identifiers": " ".join(f"getUser{i}ById" for i in range(7_000)),
    "one word": "a" * 100_000,
    "dots": "a." * 50_000,
    "slashes": "a/" * 50_000,
    "dashes": "a-" * 50_000,
    "underscores": "_" * 100_000,
    "capitals": "aB" * 50_000,
    "digits": "1" * 100_000,
    "a trace": 'File "/srv/app/handlers/user.py", line 12, in get_user\n' * 1_800,
    "unicode": "größeÄndern日本語 " * 7_000,
    "stars": "*" * 100_000,
    "arrows": "a->b::c#" * 12_500,
}


def _seconds(text: str) -> float:
    """The processor's time that reading a query takes."""
    started = time.process_time()
    read(text)
    return time.process_time() - started


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_hundred_kilobytes_are_read_at_once(text: str) -> None:
    assert min(_seconds(text) for _ in range(3)) < 0.1, "at best: the collector may run at any time"
    query = read(text)
    assert len(query.terms) <= MAX_TERMS
    assert len(query.names) <= MAX_NAMES
    assert len(query.files) <= MAX_NAMES


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    query = read(text)
    indexed = set(tokens.tokenize(text.replace("\0", " ")).split())
    assert {term.text for term in query.terms} <= indexed, "only what the index has of the same text"
    assert all(0 < term.weight <= WHOLE_WEIGHT for term in query.terms)
    assert query.type in ("words", "symbol", "mixed", "file")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("drop support for Python 3.8", "version_info"),
        ("workaround for py37", "version_info"),
        ("still needed on python2?", "version_info"),
        ("PHP 8.4 deprecations", "php_version"),
        ("fails with c++20", "cplusplus"),
        ("GHC-9.2 warnings", "glasgow_haskell"),
    ],
)
def test_the_version_of_a_language_is_what_code_asks_for(text: str, name: str) -> None:
    assert weights(text)[name] == version_checks.IDIOM_WEIGHT
    assert tokens.tokenize_runs((name,)).split()[0] == name, "as it is indexed"


@pytest.mark.parametrize(
    "text",
    ["python packaging", "lib/python3.11/site-packages", "numpy 1.26", "copy 2 files", "java2d", "py3k"],
)
def test_other_numbers_are_no_versions_of_a_language(text: str) -> None:
    names = {name for language in version_checks.LANGUAGES.values() for name in language.names}
    assert names.isdisjoint(weights(text)) and not read(text).versions
