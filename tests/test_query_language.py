"""The query language: what is a field and what is text, and that a query can be written back."""

import json
import re
from datetime import datetime, timedelta

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from dowse.errors import UsageError
from dowse.search.query.field_values import MAX_ALTERNATIVES
from dowse.search.query.parse import MAX_QUERY_CHARS, parse_query
from dowse.search.query.query_format import format_query
from dowse.types.queries import ParsedQuery, QueryRegex
from dowse.types.source import Role


def test_every_part_of_a_query() -> None:
    query = parse_query(
        'retry backoff lang:py path:src/** -path:tests kind:function name:*Handler "exact phrase" '
        "/re(try|do)/ changed:14d is:test"
    )
    assert query == ParsedQuery(
        text="retry backoff",
        languages=("py",),
        paths=("src/**",),
        not_paths=("tests",),
        kinds=("function",),
        names=("*Handler",),
        roles=(Role.TEST,),
        changed=timedelta(days=14),
        phrases=("exact phrase",),
        regexes=(QueryRegex("re(try|do)"),),
    )


def test_text_alone_is_left_as_it_is() -> None:
    assert parse_query("  where is   the token refreshed? ") == ParsedQuery(
        text="where is the token refreshed?"
    )
    assert parse_query("") == ParsedQuery()


@pytest.mark.parametrize(
    "text",
    [
        "std::vector",
        "path::join",
        "http://x",
        "https://example.com/a?b=c",
        "path/file.py:123",
        "file.py:123:4",
        "localhost:8080",
        "localhost:8080/metrics",
        "foo: bar",
        r"C:\x",
        r"c:\x",
        "err:=run()",
        "name:=x",
        "a:b",
        "Foo:bar",
        "{foo:bar}",
        ":user:`x`",
        "git@github.com:a/b",
        "foo:$x",
        "foo:/bar",
        "1 / 2 / 3",
        "/usr/lib/python3",
        "/usr/lib/",
        "/api/users",
        "// a comment",
        "/* a comment */",
        'print("a',
        "it's 5\" wide",
        "-v --flag",
    ],
)
def test_not_syntax(text: str) -> None:
    assert parse_query(text) == ParsedQuery(text=text)


@pytest.mark.parametrize(
    "text", ["lang:py\nTraceback", "foo:bar\r\nbaz", "lang:py " + "word " * MAX_QUERY_CHARS]
)
def test_pasted_text_is_never_a_query(text: str) -> None:
    assert parse_query(text) == ParsedQuery(text=text.strip())


def test_quotes_around_pasted_text_make_a_phrase() -> None:
    assert parse_query('"def f():\n    return 1"\n').phrases == ("def f():\n    return 1",)
    assert parse_query(f'"{"x" * 300}\n"').phrases == (f"{'x' * 300}\n",)


def test_a_long_text_in_quotes_is_text() -> None:
    statement = '# Title\n\nThe `loader` says "no".\n' * 20
    assert parse_query(json.dumps(statement)) == ParsedQuery(text=statement)


def test_quotes_within_a_message_are_no_phrases() -> None:
    message = 'Rejecting "session" channel request from the server'
    assert parse_query(message).text == message
    assert not parse_query(message).phrases
    assert "quotes" in parse_query(message).notes[0]
    assert parse_query(f"{message} lang:py").phrases == ("session",), "who filters speaks the query language"
    assert parse_query('where is "session" rejected').phrases == ("session",)
    several = '"a"\nand "b"'
    assert parse_query(several) == ParsedQuery(text=several)


def test_values_are_alternatives_however_given() -> None:
    assert parse_query("lang:py,go lang:rust language:py").languages == ("py", "go", "rust")
    assert parse_query("-lang:py -lang:go").not_languages == ("py", "go")
    assert parse_query("kind:class,method -kind:function").kinds == ("class", "method")
    assert parse_query("-kind:function").not_kinds == ("function",)
    assert parse_query("lang:py, please") == ParsedQuery(text="please", languages=("py",))


def test_quoted_values() -> None:
    assert parse_query('path:"a b/**"').paths == ("a b/**",)
    assert parse_query('path:src/"a b","c,d"/x').paths == ("src/a b", "c,d/x")
    assert parse_query(r'name:"say \"hi\" \\"').names == ('say "hi" \\',)


def test_braces_in_paths_are_alternatives() -> None:
    assert parse_query("path:src/**/*.{ts,tsx}").paths == ("src/**/*.ts", "src/**/*.tsx")
    assert parse_query("path:{a,b}/{c,d},e").paths == ("a/c", "a/d", "b/c", "b/d", "e")
    assert parse_query('path:"{a,b}"').paths == ("{a,b}",)
    assert parse_query("path:{a,b").paths == ("{a", "b")
    with pytest.raises(UsageError, match=f"at most {MAX_ALTERNATIVES}"):
        parse_query("path:" + "{a,b,c,d,e,f,g,h}" * 9)


def test_syntax_inside_quotes_and_regexes_is_text() -> None:
    assert parse_query('"lang:py /x/" tail') == ParsedQuery(text="tail", phrases=("lang:py /x/",))
    assert parse_query("/lang:py foo:bar/").regexes == (QueryRegex("lang:py foo:bar"),)
    assert parse_query(r'"say \"hi\""').phrases == ('say "hi"',)


def test_regexes() -> None:
    assert parse_query(r"/a\/b/i").regexes == (QueryRegex("a/b", True),)
    assert parse_query(r"/\d+\.\d+ x/ y") == ParsedQuery(text="y", regexes=(QueryRegex(r"\d+\.\d+ x"),))
    assert parse_query(r"/a\\/").regexes == (QueryRegex(r"a\\"),)


def test_roles() -> None:
    query = parse_query("is:test,example -is:generated -is:Vendored")
    assert query.roles == (Role.TEST, Role.EXAMPLE)
    assert query.not_roles == (Role.GENERATED, Role.VENDORED)
    for role in Role:
        assert parse_query(f"is:{role}").roles == (role,)


def test_changed() -> None:
    assert parse_query("changed:3h").changed == timedelta(hours=3)
    assert parse_query("changed:2w changed:14d").changed == timedelta(weeks=2)
    assert parse_query("changed:2025-01-31").changed == datetime(2025, 1, 31)


@pytest.mark.parametrize("value", ["soon", "14", "0d", "3m", "99999d", "2025-02-30", "2025-1-1", "-3d"])
def test_a_bad_time_says_what_is_allowed(value: str) -> None:
    with pytest.raises(UsageError, match=r"at character 5.*changed:14d.*changed:2025-01-31"):
        parse_query(f"foo changed:{value}")


def test_two_times_are_an_error() -> None:
    with pytest.raises(UsageError, match="two values"):
        parse_query("changed:3h changed:4h")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("langauge:py", "lang:"),
        ("pth:src", "path:"),
        ("file:x.py", "path:"),
        ("symbol:Foo", "name:"),
        ("since:yesterday", "changed:"),
    ],
)
def test_an_unknown_field_suggests_the_nearest(text: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_query(f"  some words {text}")
    message = str(caught.value)
    assert f"did you mean '{meant}'?" in message
    assert "known are lang:, path:, kind:, name:, changed:, is:" in message
    assert "at character 14" in message
    assert f'quote it: "{text}"' in message
    assert parse_query(f'"{text}"').phrases == (text,)


@pytest.mark.parametrize(
    "text", ["zzzz:x", "how are components like mypkg:test:spec read", "run with jobs:fast"]
)
def test_an_unknown_field_like_no_other_is_text(text: str) -> None:
    parsed = parse_query(text)
    assert parsed.text == text
    (note,) = parsed.notes
    assert "is no field and is searched for as text: known are lang:, path:, kind:" in note


def test_what_cannot_be_excluded() -> None:
    with pytest.raises(UsageError, match="-lang:, -path:, -kind:, -is:"):
        parse_query("-name:foo")


def test_an_unknown_role() -> None:
    with pytest.raises(UsageError, match=r"at character 3.*did you mean 'test'\?.*generated.*config"):
        parse_query("a is:tests")


@pytest.mark.parametrize("text", ['lang:""', "lang:,", 'path:"",""'])
def test_a_field_without_a_value(text: str) -> None:
    with pytest.raises(UsageError, match="has no value"):
        parse_query(text)


@pytest.mark.parametrize(
    "regex", ["/a(b/", "/[[:alpha:]]/", "/a{2}{3}/", "/x+*/", "/a{99999999999999999999}/"]
)
def test_a_bad_regex(regex: str) -> None:
    with pytest.raises(UsageError, match="at character 3") as caught:
        parse_query(f"a {regex}")
    assert regex in str(caught.value)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('foo "bar', "quote"),
        ("/a(b c", "slash"),
        ('path:"a b', "quote"),
        ("lang: py", "lang:py"),
        ('""', "empty"),
    ],
)
def test_what_is_not_finished_is_text_with_a_note(text: str, note: str) -> None:
    query = parse_query(text)
    assert query._replace(notes=()) == ParsedQuery(text=text if text != '""' else "")
    assert len(query.notes) == 1
    assert note in query.notes[0]


def test_a_backslash_makes_text_of_syntax() -> None:
    assert parse_query(r'\lang:py \/x/ \"a b" \foo:bar') == ParsedQuery(text='lang:py /x/ "a b" foo:bar')
    assert parse_query(r"\n \d+ \\server") == ParsedQuery(text=r"\n \d+ \\server")


def test_written_back_as_one_would_write_it() -> None:
    text = 'lang:py path:src/**,"a b" -path:tests is:test changed:14d "a phrase" /a\\/b/i retry /usr/lib std::vector'
    assert format_query(parse_query(text)) == text


WORDS = "lang: -lang: path: -path: kind: name: is: changed: foo: py test 14d 2025-01-31 a/b * , { } : :: // i = ( [ x é"
PIECES = st.sampled_from([*WORDS.split(), '"', "/", "\\", " ", "  ", "\t"])
QUERIES = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=60))


@given(QUERIES)
@example(r"/a path:x/y b/")
@example('"a "b')
@example(r"\" \"")
@example(r"\/a b/ c/")
@example("changed:9999w")
@example("path:\\x")
def test_a_query_written_back_reads_the_same(text: str) -> None:
    try:
        query = parse_query(text)
    except UsageError:
        assume(False)
    written = format_query(query)
    assume(len(written) <= MAX_QUERY_CHARS or "\n" in written)
    again = parse_query(written)
    assert again._replace(notes=()) == query._replace(notes=())
    assert format_query(again) == written


@given(st.text(max_size=500))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        query, problem = parse_query(text), ""
    except UsageError as error:
        query, problem = ParsedQuery(), str(error)
    assert not problem or re.search(r"at character \d+", problem)
    assert all(len(phrase) <= len(text) for phrase in query.phrases)


@pytest.mark.parametrize(
    ("query", "text", "patterns"),
    [
        ("retry OR backoff", "retry backoff", ()),
        ('"a b" OR "C d"', "", (r"(?i:a\s+b)|(?:C\s+d)",)),
        ('"a" or /x+/i', "", ("(?i:a)|(?i:x+)",)),
        ("lang:py OR lang:go foo", "foo", ()),
        ("this or that", "this or that", ()),
        ("ORDER BY", "ORDER BY", ()),
        (r"one \OR other", "one OR other", ()),
    ],
)
def test_or_joins_alternatives_and_is_never_a_word(query: str, text: str, patterns: tuple[str, ...]) -> None:
    parsed = parse_query(query)
    assert (parsed.text, tuple(regex.pattern for regex in parsed.regexes)) == (text, patterns)
    assert not parsed.phrases
    assert parse_query(format_query(parsed)) == parsed


@pytest.mark.parametrize("query", ['foo OR "x"', "lang:py OR foo", "-path:a OR -path:b"])
def test_or_between_what_is_no_alternative_is_refused(query: str) -> None:
    with pytest.raises(UsageError, match="OR stands between"):
        parse_query(query)
