"""What a filter lets through: paths, names, kinds, roles."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import tantivy
from hypothesis import given
from hypothesis import strategies as st

from dowse import Engine
from dowse.code import languages
from dowse.code.chunk_fields import definitions_by_chunk
from dowse.filters import chunk_passes, entity_passes, file_passes, name_regex, path_regex
from dowse.indexing.analyze_file import ParserConfig, parse
from dowse.types.discovered import FileStamp
from dowse.types.source import Kind, Role
from dowse.types.stored import FileFacts, Filter, StoredFile


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("src/**", ["src/a.py", "src/b/c.py"], ["src", "lib/src/a.py", "srcs/a.py"]),
        ("src", ["src", "src/a.py", "lib/src/a.py", "src/b/c.py"], ["srcs/a.py", "a/src.py"]),
        ("src/", ["src/a.py", "lib/src/a.py"], ["source/a.py"]),
        ("/src", ["src/a.py"], ["lib/src/a.py"]),
        ("./src/a.py", ["src/a.py"], ["lib/src/a.py"]),
        ("*.py", ["a.py", "src/b/c.py"], ["a.pyc", "py", "a.py.txt"]),
        ("*", ["a.py", "src/b/c.py"], []),
        ("**", ["a.py", "src/b/c.py"], []),
        ("**/*.py", ["a.py", "src/b/c.py"], ["a.js"]),
        ("src/*.py", ["src/a.py"], ["src/b/c.py", "lib/src/a.py"]),
        ("src/*", ["src/a.py", "src/b/c.py"], ["src", "lib/a.py"]),
        ("src/**/test/*.py", ["src/test/a.py", "src/b/c/test/a.py"], ["src/test/b/a.py", "test/a.py"]),
        ("**/test", ["test/a.py", "src/test/a.py", "src/test"], ["src/tests/a.py"]),
        ("a?c.py", ["abc.py", "x/a+c.py"], ["ac.py", "a/c.py", "abbc.py"]),
        ("a+b (1).py", ["a+b (1).py", "x/a+b (1).py"], ["aab (1).py", "a+b 1.py"]),
        ("[ab].py", ["[ab].py"], ["a.py"]),
        ("a\\b.py", ["a/b.py"], ["x/a/b.py", "a\\b.py"]),
        ("größe*", ["größe.py", "größe/a.py"], ["groesse.py"]),
        ("Src", ["Src/a.py"], ["src/a.py"]),
        ("line\nbreak", ["line\nbreak", "line\nbreak/a"], ["line break"]),
        ("src/**", ["src/line\nbreak.py"], []),
    ],
)
def test_patterns_of_paths(pattern: str, matching: list[str], others: list[str]) -> None:
    for path in matching:
        assert file_passes(Filter(paths=(pattern,)), FileFacts(path, "python", "source", 0)), path
        assert not file_passes(Filter(not_paths=(pattern,)), FileFacts(path, "python", "source", 0)), path
    for path in others:
        assert not file_passes(Filter(paths=(pattern,)), FileFacts(path, "python", "source", 0)), path
        assert file_passes(Filter(not_paths=(pattern,)), FileFacts(path, "python", "source", 0)), path


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("get*", ["get", "getUser", "GETTER"], ["forget"]),
        ("*user*", ["User", "getUserById"], ["use"]),
        ("get?ser", ["getUser", "get_ser"], ["getser"]),
        ("GetUser", ["getuser", "GETUSER"], ["get_user"]),
        ("a.b", ["a.b"], ["axb"]),
        ("operator()", ["operator()"], ["operator"]),
        ("größe", ["Größe"], ["grosse"]),
        ("a|b", ["a|b"], ["a", "b"]),
        ("", [""], ["a"]),
    ],
)
def test_patterns_of_names(pattern: str, matching: list[str], others: list[str]) -> None:
    for name in matching:
        assert entity_passes(Filter(names=(pattern,)), Kind.FUNCTION, name), name
    for name in others:
        assert not entity_passes(Filter(names=(pattern,)), Kind.FUNCTION, name), name


def test_fields_are_joined_by_and_and_values_by_or() -> None:
    filter = Filter(
        languages=frozenset({"python", "go"}),
        paths=("src", "lib"),
        not_paths=("gen",),
        not_roles=frozenset({Role.TEST}),
    )
    assert file_passes(filter, FileFacts("src/a.py", "python", Role.SOURCE, 0))
    assert file_passes(filter, FileFacts("lib/a.go", "go", Role.VENDORED, 0))
    assert not file_passes(filter, FileFacts("src/a.rs", "rust", Role.SOURCE, 0))
    assert not file_passes(filter, FileFacts("app/a.py", "python", Role.SOURCE, 0))
    assert not file_passes(filter, FileFacts("src/gen/a.py", "python", Role.SOURCE, 0))
    assert not file_passes(filter, FileFacts("src/a.py", "python", Role.TEST, 0))
    both = Filter(kinds=frozenset({Kind.CLASS, Kind.ENUM}), names=("a*", "b*"))
    assert entity_passes(both, Kind.ENUM, "beta")
    assert not entity_passes(both, Kind.FUNCTION, "beta")
    assert not entity_passes(both, Kind.CLASS, "gamma")


def test_nothing_asked_lets_everything_through() -> None:
    assert file_passes(Filter(), FileFacts("any/path", "", "", 0))
    assert entity_passes(Filter(), Kind.FILE, "any")
    assert not Filter().about_files
    assert not Filter().about_chunks


@pytest.mark.parametrize("wanted", list(Role))
def test_roles(wanted: Role) -> None:
    for role in Role:
        file = FileFacts("a", "", role.value, 0)
        assert file_passes(Filter(roles=frozenset({wanted})), file) is (role is wanted)
        assert file_passes(Filter(not_roles=frozenset({wanted})), file) is (role is not wanted)


def test_languages_and_kinds_can_be_ruled_out() -> None:
    assert not file_passes(Filter(not_languages=frozenset({"go"})), FileFacts("a.go", "go", "source", 0))
    assert file_passes(Filter(not_languages=frozenset({"go"})), FileFacts("a.py", "python", "source", 0))
    assert not entity_passes(Filter(not_kinds=frozenset({Kind.CLASS})), Kind.CLASS, "A")
    assert entity_passes(Filter(not_kinds=frozenset({Kind.CLASS})), Kind.METHOD, "A")


@pytest.mark.parametrize(("changed_ns", "passes"), [(99, False), (100, True), (101, True), (-101, False)])
def test_changed_since(changed_ns: int, passes: bool) -> None:
    assert file_passes(Filter(changed_since_ns=100), FileFacts("a", "", "source", changed_ns)) is passes


def test_a_chunk_passes_by_the_definition_around_it_or_one_in_it() -> None:
    body = "\n".join(f"        self.field_{i} = compute({i}, 'some words to fill a line')" for i in range(60))
    content = f"class Machine:\n    def __init__(self):\n{body}\n\nLIMIT = 3\n".encode()
    parsed, _ = parse(ParserConfig(languages.load_builtin(), 1000, 0), "a.py", content)
    file = StoredFile(1, "a.py", FileStamp(0, 0), b"", Role.SOURCE, parsed, definitions_by_chunk(parsed))
    inside = next(
        i for i, chunk in enumerate(parsed.chunks) if b"self.field_30" in content[chunk.start : chunk.end]
    )
    last = len(parsed.chunks) - 1
    assert 0 < inside < last
    assert chunk_passes(Filter(names=("__init__",)), file, inside)
    assert chunk_passes(Filter(kinds=frozenset({Kind.METHOD})), file, inside)
    assert not chunk_passes(Filter(names=("limit",)), file, inside)
    assert not chunk_passes(Filter(kinds=frozenset({Kind.CONSTANT})), file, inside)
    assert chunk_passes(Filter(names=("limit",)), file, last)
    assert chunk_passes(Filter(), file, inside)


PATH = st.lists(st.text("ab.+ (é\n", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)
PATTERN = st.lists(
    st.sampled_from(["a", "b", ".", "+", " ", "(", "é", "*", "?", "/", "**/"]), max_size=8
).map("".join)


@given(PATTERN, PATH)
def test_any_pattern_is_a_valid_one_and_not_paths_is_the_opposite(pattern: str, path: str) -> None:
    chosen = file_passes(Filter(paths=(pattern,)), FileFacts(path, "", "", 0))
    assert file_passes(Filter(not_paths=(pattern,)), FileFacts(path, "", "", 0)) is not chosen


@given(st.text("ab.+*?[]é", max_size=6), st.text("ab.+*?[]é", max_size=6))
def test_names_match_as_shells_match(pattern: str, name: str) -> None:
    """``fnmatch`` is the second witness, but for its character classes."""
    escaped = pattern.replace("[", "[[]")
    assert entity_passes(Filter(names=(pattern,)), Kind.FILE, name) == fnmatchcase(name, escaped)


@given(st.lists(PATH, min_size=1, max_size=8), PATTERN)
def test_the_lexical_engine_reads_a_pattern_as_python_does(paths: list[str], pattern: str) -> None:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("path", tokenizer_name="raw", index_option="basic")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(heap_size=15_000_000, num_threads=1)
    for path in sorted(set(paths)):
        writer.add_document(tantivy.Document(path=path))
    writer.commit()
    index.reload()
    for regex in (path_regex(pattern), name_regex(pattern)):
        query = tantivy.Query.regex_query(schema, "path", regex)
        found = index.searcher().search(query, limit=100).hits
        assert len(found) == sum(re.fullmatch(regex, path) is not None for path in set(paths))


HANDLERS = """\
class StreamLogger:
    def write(self, line):
        return line


class LogCounterHandler:
    def emit(self, record):
        return record


def stop_handler():
    return None
"""


@pytest.mark.parametrize(
    ("query", "entities"),
    [
        ("name:*Handler", {"LogCounterHandler", "stop_handler"}),
        ("name:*Handler kind:class", {"LogCounterHandler"}),
        ("name:*Handler kind:function", {"stop_handler"}),
        ("name:Stream* kind:function", set()),
        ("log counter kind:class", {"LogCounterHandler"}),
        ("write line kind:method", {"StreamLogger.write"}),
    ],
)
def test_a_hit_is_a_definition_that_the_filter_asks_for(
    tmp_path: Path, query: str, entities: set[str]
) -> None:
    (tmp_path / "log.py").write_text(HANDLERS)
    with Engine.open(tmp_path, embedder="none") as engine:
        results = engine.search(query).results
    assert {hit.entity for hit in results} <= entities
    assert bool(results) == bool(entities)
    for hit in results:
        assert hit.entity.rpartition(".")[2] in hit.text, "its own lines"


def test_what_only_filters_find_is_what_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "log.py").write_text(HANDLERS)
    with Engine.open(tmp_path, embedder="none") as engine:
        assert [hit.relevance for hit in engine.search("name:*Handler").results] == [1.0]
