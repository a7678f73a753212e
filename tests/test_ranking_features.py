"""The features of files and places that ranking learns from: each on real files, by name and value."""

import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dowse import Engine
from dowse.code import languages
from dowse.code.chunk_fields import definitions_by_chunk
from dowse.indexing.analyze_file import ParserConfig, analyze
from dowse.search.channels.request import Retrieved
from dowse.search.query.analyze import analyze_text
from dowse.search.query.route_names import PREFIXED_SCORE, find_routes
from dowse.search.ranking.candidates import Candidate, FileCandidate, group_by_file
from dowse.search.ranking.features import (
    FILE_FEATURES,
    FILE_GROUPS,
    PLACE_FEATURES,
    TEXT_FEATURES,
    FeatureExtractor,
)
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.formats import FORMAT_WORDS
from dowse.search.ranking.features.role_model import RoleModel, list_cues
from dowse.search.ranking.features.roles import BESIDE_ROLES, COUNTED_AS, ROLES
from dowse.settings import FEATURE_GROUPS
from dowse.stores.channels_protocol import VisibleGeneration
from dowse.stores.composed import ComposedSnapshot
from dowse.stores.memory import MemoryCatalogueSnapshot, MemoryRow
from dowse.stores.memory_channels import ChannelRow, MemoryChannelsSnapshot
from dowse.types.answers import ChannelReport
from dowse.types.discovered import FileStamp, SourceFile
from dowse.types.queries import Query
from dowse.types.source import ChunkTerms, Role
from dowse.types.stored import Scored, StoredFile, chunk_id

SOURCE = "def login(name):\n    return check(name)\n\n\nclass SessionStore:\n    pass\n"

ADDED_GROUPS = ("report", "test_partner", "proximity")
"""Steps after ranking that have a switch, and no features."""

DIRECT_GROUPS = ("places", "exact", "versions")
"""What a query names or demands in so many words cannot be switched off."""


def question(text: str) -> Query:
    return analyze_text(text, languages.load_builtin().extensions.__contains__)


def stored(
    id: int, path: str, role: Role = Role.SOURCE, source: str = SOURCE, target: int = 1000
) -> StoredFile:
    parsed = analyze(ParserConfig(languages.load_builtin(), target, 0), path, source.encode()).parsed
    return StoredFile(id, path, FileStamp(0, 0), b"", role, parsed, definitions_by_chunk(parsed))


def make_row(file: StoredFile) -> MemoryRow:
    """A row of an index whose text is nothing but blanks: what a file says is tested on real trees."""
    content = b" " * max([chunk.end for chunk in file.parsed.chunks], default=0)
    source = SourceFile(file.path, file.stamp, b"", file.role, content, file.parsed, file.definitions, ())
    return MemoryRow(file, source, "", b"")


def make_channel_row(file: StoredFile) -> ChannelRow:
    """The same for the channels: no chunk has any words."""
    counts = tuple((Counter[str](),) * len(ChunkTerms._fields) for _ in file.parsed.chunks)
    return ChannelRow(file.id, make_row(file).source, counts)


def candidate(file: StoredFile, ordinal: int = 0, score: float = 1.0) -> Candidate:
    chunk = file.parsed.chunks[ordinal]
    return Candidate(chunk_id(file.id, ordinal), ordinal, file, chunk, score, [("lexical", score, 1)])


def whole(file: StoredFile) -> FileCandidate:
    """A file of which every chunk was found."""
    (found,) = group_by_file([candidate(file, ordinal) for ordinal in range(len(file.parsed.chunks))])
    return found


def make_extractor(
    text: str,
    files: Sequence[FileCandidate],
    hits: Mapping[str, Sequence[Scored]] | None = None,
    cosines: Mapping[int, Sequence[float]] | None = None,
) -> FeatureExtractor:
    channels = {name: Retrieved(found, ChannelReport(name, True)) for name, found in (hits or {}).items()}
    rows = {each.file.path: make_row(each.file) for each in files}
    catalogue = MemoryCatalogueSnapshot(VisibleGeneration("this", "", 1), rows, {}, is_current=True)
    searched = MemoryChannelsSnapshot(map(make_channel_row, (f.file for f in files)), catalogue.find_changed)
    snapshot = ComposedSnapshot(catalogue, searched)
    return FeatureExtractor(FeatureContext(snapshot, question(text), channels, files, cosines or {}))


def name_values(extractor: FeatureExtractor, file: FileCandidate) -> dict[str, float]:
    return dict(zip(FILE_FEATURES, extractor.compute_file(file), strict=True))


def describe(text: str, file: StoredFile) -> dict[str, float]:
    """The features of one file, by name."""
    found = whole(file)
    return name_values(make_extractor(text, [found]), found)


# --- the tables ------------------------------------------------------------------------------------


def test_every_group_of_features_has_a_switch() -> None:
    tables = (FILE_FEATURES, TEXT_FEATURES, PLACE_FEATURES)
    groups = dict.fromkeys(feature.group for table in tables for feature in table.values())
    assert set(groups) - set(DIRECT_GROUPS) == set(FEATURE_GROUPS) - set(ADDED_GROUPS)
    assert set(DIRECT_GROUPS) <= set(groups)


def test_the_features_of_a_group_stand_together() -> None:
    names = [feature.group for feature in (*FILE_FEATURES.values(), *TEXT_FEATURES.values())]
    for group, own in FILE_GROUPS.items():
        assert set(names[own]) == {group}
        assert len(names[own]) == names.count(group)
    assert set(FILE_GROUPS) == set(names)


def test_no_feature_of_a_file_has_the_name_of_another() -> None:
    assert FILE_FEATURES.keys().isdisjoint(TEXT_FEATURES)


def test_priors_and_least_weights_have_the_sign_of_their_feature() -> None:
    for table in (FILE_FEATURES, TEXT_FEATURES, PLACE_FEATURES):
        for name, feature in table.items():
            assert feature.sign in (-1, 0, 1), name
            assert feature.sign * feature.prior >= 0, name
            assert feature.least >= 0, name
            assert not feature.least or (feature.sign == 1 and feature.prior >= feature.least), name


def test_every_feature_is_computed(tmp_path: Path) -> None:
    (tmp_path / "session.py").write_text(SOURCE, encoding="utf-8")
    with Engine.open(tmp_path, store="memory", embedder="hashing", allow_home=True) as engine:
        engine.index()
        with engine.candidates("session store") as context:
            extractor = FeatureExtractor(context)
            (file,) = context.files
            assert len(extractor.compute_file(file)) == len(FILE_FEATURES)
            assert len(extractor.compute_text(file)) == len(TEXT_FEATURES)
            assert [len(values) for values in extractor.compute_places(file)] == [len(PLACE_FEATURES)]


# --- file names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "of_name", "of_query", "folder"),
    [
        ("session.py", "session", 1, 1, 0),
        ("session.py", "session timeout", 1, 1 / 2, 0),
        ("src/sessions.py", "session timeout", 1, 1 / 2, 0),
        ("session_store.py", "session timeout", 1 / 2, 1 / 2, 0),
        ("sessionStore.py", "store of a session", 1, 1, 0),
        ("auth/handlers.py", "authentication handler", 1, 1 / 2, 1 / 2),
        ("auth/views.py", "authentication", 0, 0, 1),
        ("auth/__init__.py", "auth", 1, 1, 0),
        ("web/index.ts", "web", 1, 1, 0),
        ("other.py", "session timeout", 0, 0, 0),
        ("se.py", "session", 0, 0, 0),
        ("a.py", "a", 0, 0, 0),
        ("tests/test_basic.py", "a test of sessions", 0, 0, 0),
        ("tests/test_session.py", "session tests", 1, 1 / 2, 0),
        ("examples/session_example.py", "session example", 1, 1 / 2, 0),
        ("test.py", "test", 1, 1, 0),
        ("threadpool.c", "size of the thread pool", 1, 2 / 3, 0),
        ("threadpool.c", "thread pool", 1, 1, 0),
        ("threadpool.c", "a pool of every thread", 1, 1 / 3, 0),
        ("etag.rb", "ETag header", 1, 1, 0),
        ("session/session.py", "session", 1, 1, 0),
        ("session/session.py", "session store", 1, 1 / 2, 0),
        ("websocket/writer.py", "websocket", 0, 0, 1),
    ],
)
def test_the_name_of_a_file(path: str, text: str, of_name: float, of_query: float, folder: float) -> None:
    found = describe(text, stored(1, path))
    assert found["stem_share"] == pytest.approx(of_name)
    assert found["stem_query_share"] == pytest.approx(of_query)
    assert found["folder_share"] == pytest.approx(folder)
    assert found["stem_whole"] == (of_name == 1)
    assert found["stem_equal"] == (of_name == of_query == 1)


@pytest.mark.parametrize(
    ("path", "extra"), [("session.py", 0), ("session_store.py", 1), ("session_store_of_users.py", 3)]
)
def test_words_of_a_name_that_the_query_does_not_have(path: str, extra: int) -> None:
    assert describe("session", stored(1, path))["stem_extra_words"] == pytest.approx(math.log(1 + extra))


# --- definitions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("SessionStore", 1.0),
        ("sessionStore", 0.7),  # written differently
        ("auth.SessionStore", 0.7),  # not a member of it
        ("auth::SessionStore", 0.7),
        ("SessionStore*", 1.0),
        ("login", 1.0),
        ("def login", 1.0),
        ("class SessionStore", 1.0),
        ("sessionstore", 0.7),
        ("Login", 0.7),
        ("login page", 0.0),
        ("logout", 0.0),
        ("check", 0.0),
        ("where does the login page check a password", 0.0),
        ("where does the login page use the SessionStore", 1.0),
    ],
)
def test_a_file_defines_what_the_query_names(text: str, sure: float) -> None:
    assert describe(text, stored(1, "a.py"))["defines_name"] == pytest.approx(sure)


def test_of_a_dotted_name_the_member_is_surer_than_a_namesake() -> None:
    stack = stored(1, "a.py", source="class Stack:\n    def push(self):\n        pass\n")
    queue = stored(2, "b.py", source="class Queue:\n    def push(self):\n        pass\n")
    assert [describe("Stack.push", file)["defines_name"] for file in (stack, queue)] == [1.0, 0.7]


def test_of_names_that_differ_in_case_the_one_that_is_written_so_is_surer() -> None:
    module = stored(1, "a.py", source="class Web:\n    class Helpers:\n        pass\n")
    method = stored(2, "b.py", source="class Web:\n    def helpers(self):\n        pass\n")
    for text, expected in (("Web::Helpers", [1.0, 0.7]), ("Web.helpers", [0.7, 1.0])):
        assert [describe(text, file)["defines_name"] for file in (module, method)] == expected


def test_a_title_or_variable_has_a_plain_word_as_its_name_by_chance() -> None:
    page = stored(1, "a.md", Role.DOCS, source="# Install\n\nRun it.\n")
    code = stored(2, "a.py", source="def Install():\n    pass\n")
    assert [describe("Install", file)["defines_name"] for file in (page, code)] == [0.5, 1.0]


@pytest.mark.parametrize(
    ("text", "overlap"),
    [
        ("session store", 1.0),
        ("storing sessions", 1.0),
        ("where is the session store", 1.0),
        ("session store of users", (2 / 2) * (2 / 3)),
        ("session timeout", (1 / 2) * (1 / 2)),
        ("session", (1 / 2) * (1 / 1)),
        ("other words", 0.0),
    ],
)
def test_a_definition_shares_words_with_the_query(text: str, overlap: float) -> None:
    assert describe(text, stored(1, "a.py"))["name_overlap"] == pytest.approx(overlap)


# --- roles -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", Role)
def test_files_that_are_not_source_are_marked_by_their_role(role: Role) -> None:
    found = describe("session timeout", stored(1, "a.py", role))
    marked = {each for each in ROLES if found[f"{each.value}_file"]}
    assert marked == {COUNTED_AS.get(role, role)} & set(ROLES)
    assert {each for each in BESIDE_ROLES if found[f"{each.value}_role"]} == {role} & set(BESIDE_ROLES)


def get_odds(text: str, role: Role) -> float:
    return describe(text, stored(1, "a.py", role))["role_odds"]


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("which test checks that a session ends", Role.TEST),
        ("which test verifies that sessions are closed", Role.TEST),
        ("How do I open a session", Role.DOCS),
        ("how can I keep a session open?", Role.DOCS),
        ("default timeout of a session", Role.CONFIG),
    ],
)
def test_the_words_of_a_query_ask_for_a_role(text: str, role: Role) -> None:
    assert get_odds(text, role) > get_odds("closing of a session", role) + 0.75


@pytest.mark.parametrize(
    "text", ["how does it open a session", "where is a session closed", "session timeout"]
)
@pytest.mark.parametrize("role", [Role.TEST, Role.DOCS, Role.CONFIG, Role.EXAMPLE])
def test_a_question_about_the_code_asks_for_source(text: str, role: Role) -> None:
    assert get_odds(text, role) < -1.0
    assert get_odds(text, Role.SOURCE) == 0.0


def test_data_is_asked_for_like_configuration() -> None:
    text = "default timeout of a session"
    assert get_odds(text, Role.DATA) == get_odds(text, Role.SCHEMA) == get_odds(text, Role.CONFIG)


def test_a_role_model_adds_up_what_cues_say() -> None:
    model = RoleModel([Role.TEST], [-2.0], {"test": [1.5], "which test": [2.0], "^which": [0.25]})
    assert model.compute_odds("Which tests fail") == {Role.TEST: -2.0 + 1.5 + 2.0 + 0.25}
    assert model.compute_odds("the tests") == {Role.TEST: -2.0 + 1.5}
    assert model.compute_odds("") == {Role.TEST: -2.0}


def test_cues_are_stems_their_pairs_and_the_beginning() -> None:
    assert set(list_cues("Which testCases")) == {
        "which", "test", "case", "which test", "test case", "^which", "^which test", "^which test case",
    }  # fmt: skip


# --- formats ---------------------------------------------------------------------------------------

WORKFLOW = """\
name: Release
on: push
jobs:
  publish:
    runs-on: ubuntu-latest
    steps:
      - name: Upload the package
        run: twine upload dist/*
"""
ROUTED = """\
from flask import Flask

app = Flask(__name__)


@app.route("/login", methods=["POST"])
def log_in():
    return check()


@app.get("/users/<name>")
def show(name):
    return name
"""


def test_a_file_is_in_the_format_that_the_query_names() -> None:
    workflow = stored(1, ".github/workflows/release.yml", Role.CONFIG, WORKFLOW)
    assert describe("which workflow uploads the package", workflow)["format_asked"] == 1.0
    assert describe("which step uploads the package", workflow)["format_asked"] == 0.0
    assert describe("which step uploads the package", workflow)["kind_asked"] == 1.0
    assert describe("upload the package", workflow)["kind_asked"] == 0.0
    assert describe("which workflow uploads the package", stored(2, "a.py"))["format_asked"] == 0.0


def test_words_are_for_formats_that_there_are() -> None:
    assert FORMAT_WORDS.keys() <= languages.load_builtin().by_name.keys()


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("where is POST /login handled", 1.0),
        ("post /login", 1.0),
        ("/login", 1.0),
        ("GET /login", 0.0),
        ("GET /users/:id", 1.0),
        ("GET /users/{user_id}", 1.0),
        ("/users/<int:id>", 1.0),
        ("login", 0.0),
        ("POST /logins", 0.0),
    ],
)
def test_a_file_answers_the_route_that_the_query_names(text: str, sure: float) -> None:
    assert describe(text, stored(1, "app.py", source=ROUTED))["answers_route"] == sure


def test_a_route_may_be_mounted_under_a_prefix() -> None:
    (route,) = find_routes("PATCH /admin/users/{id}")
    assert route.score("PATCH /api/v1/admin/users/{uid}") == PREFIXED_SCORE
    assert route.score("ANY /admin/users/{uid}") == 1.0
    assert route.score("PATCH /admin/users") == 0.0
    assert find_routes("and/or in src/app.py, see http://x.org/a/b") == ()


@pytest.mark.parametrize(
    ("path", "source", "name", "value"),
    [
        ("data.json", '{"a": 1}\n', "data_file", 1.0),
        ("a.py", SOURCE, "data_file", 0.0),
        (".github/a.py", SOURCE, "hidden_folder", 1.0),
        ("a/.b/c.py", SOURCE, "hidden_folder", 1.0),
        ("a.b/c.py", SOURCE, "hidden_folder", 0.0),
    ],
)
def test_data_and_hidden_folders(path: str, source: str, name: str, value: float) -> None:
    assert describe("session", stored(1, path, source=source))[name] == value


# --- tests in source files -------------------------------------------------------------------------

RUST = """\
pub fn split(line: &str) -> Vec<&str> {
    line.split(',').collect()
}

impl Runner {
    pub fn test(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_a_line_at_commas() {
        assert_eq!(split("a,b"), ["a", "b"]);
    }
}
"""

ZIG = """\
pub fn split(line: []const u8) usize {
    return line.len;
}

test "split" {
    try std.testing.expectEqual(split("ab"), 2);
}
"""


@pytest.mark.parametrize(("path", "source", "first_of_test"), [("a.rs", RUST, 11), ("a.zig", ZIG, 5)])
def test_a_test_inside_a_source_file_is_told_from_what_it_tests(
    path: str, source: str, first_of_test: int
) -> None:
    file = stored(1, path, source=source, target=60)
    found = whole(file)
    places = name_places(make_extractor("split lines", [found]), found)
    expected = [float(place.chunk.start_line >= first_of_test) for place in found.places]
    assert [place["inline_test"] for place in places] == expected
    assert set(expected) == {0.0, 1.0}
    for place, is_test in zip(found.places, expected, strict=True):
        best = FileCandidate(file, [place], 1.0)
        assert name_values(make_extractor("split lines", [best]), best)["inline_test"] == is_test
        asked = name_values(make_extractor("which test checks the split", [best]), best)["role_odds"]
        assert (asked == get_odds("which test checks the split", Role.TEST)) == bool(is_test)


def test_a_file_of_tests_is_no_source_file_with_tests() -> None:
    file = stored(1, "tests/a.rs", Role.TEST, RUST, target=60)
    last = FileCandidate(file, [candidate(file, len(file.parsed.chunks) - 1)], 1.0)
    found = name_values(make_extractor("split", [last]), last)
    assert (found["inline_test"], found["test_file"]) == (0.0, 1.0)


# --- shape -----------------------------------------------------------------------------------------


def test_size_depth_and_number_of_definitions() -> None:
    body = "\n\n".join(f"def part_{i}():\n    return '{'x' * 300}'" for i in range(3))
    file = stored(1, "src/lib/parts.py", source=body + "\n", target=350)
    found = describe("part", file)
    assert found["size"] == pytest.approx(math.log(len(file.parsed.chunks))) and found["size"] > 0
    assert found["definitions"] == pytest.approx(math.log(1 + 3))
    assert found["depth"] == 2


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("types.d.ts", "declarations", 1.0),
        ("include/queue.h", "declarations", 1.0),
        ("queue.c", "declarations", 0.0),
        ("auth/__init__.py", "entry_file", 1.0),
        ("auth/mainline.py", "entry_file", 0.0),
        ("legacy/session.py", "versioned_copy", 1.0),
        ("docs/v1.2/session.md", "versioned_copy", 1.0),
        ("old_session.py", "versioned_copy", 0.0),
        ("session/golden.py", "versioned_copy", 0.0),
        ("session.py", "versioned_copy", 0.0),
    ],
)
def test_what_a_name_says_of_its_place_among_its_neighbours(path: str, name: str, value: float) -> None:
    assert describe("session", stored(1, path))[name] == value


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("the legacy session", "legacy/session.py"),
        ("compat layer", "compat/session.py"),
        ("drop Python 3.8", "src/compat/session.py"),
        ("drop Python 3.8", "py/3.8/session.py"),
    ],
)
def test_a_copy_that_the_query_asks_for_is_none(text: str, path: str) -> None:
    assert describe(text, stored(1, path))["versioned_copy"] == 0.0
    assert describe("session", stored(1, path))["versioned_copy"] == 1.0


# --- vectors of whole files ------------------------------------------------------------------------


def test_the_cosines_of_all_chunks_of_a_file_count() -> None:
    one, two, bare = (whole(stored(id, f"{id}.py")) for id in (1, 2, 3))
    extractor = make_extractor("x", [one, two, bare], cosines={1: [0.1, 0.5, 0.3, 0.4], 2: [0.2]})
    found = name_values(extractor, one)
    assert found["best_cosine"] == 0.5
    assert found["mean_cosine"] == pytest.approx((0.1 + 0.5 + 0.3 + 0.4) / 4)
    assert found["top_cosines"] == pytest.approx((0.5 + 0.4 + 0.3) / 3)
    assert found["mean_share"] == 1.0
    assert name_values(extractor, two)["mean_share"] == 0.0
    names = ("best_cosine", "mean_cosine", "top_cosines", "mean_share")
    assert [name_values(extractor, bare)[name] for name in names] == [0.0] * 4


# --- channels --------------------------------------------------------------------------------------


def test_scores_and_ranks_of_channels() -> None:
    first, second, third = (whole(stored(id, f"{id}.py")) for id in (1, 2, 3))
    hits = {
        "lexical": [Scored(chunk_id(2, 0), 8.0), Scored(chunk_id(2, 1), 7.0), Scored(chunk_id(1, 0), 4.0)],
        "dense": [
            Scored(chunk_id(1, 0), 0.9),
            Scored(chunk_id(2, 0), 0.7),
            Scored(chunk_id(3, 0), 0.4),
        ],
        "names": [Scored(chunk_id(1, 0), 0.8)],
        "files": [Scored(chunk_id(2, 0), 1.0)],
        "places": [Scored(chunk_id(2, 0), 1.0), Scored(chunk_id(1, 0), 0.97)],
        "phrases": [Scored(chunk_id(1, 0), 0.9), Scored(chunk_id(3, 0), 0.4)],
        "exact": [Scored(chunk_id(3, 0), 0.25)],
        "versions": [Scored(chunk_id(3, 0), 1.0)],
    }
    extractor = make_extractor("zebra", [first, second, third], hits)
    one, two, three = (name_values(extractor, file) for file in (first, second, third))
    assert [found["lexical_share"] for found in (one, two, three)] == [0.5, 1.0, 0.0]
    assert [found["lexical_rank"] for found in (one, two, three)] == [1 / 2, 1.0, 0.0], "ranks of files"
    chunks = sum(len(file.file.parsed.chunks) for file in (first, second, third))
    worth = math.log(1 + (chunks + 0.5) / 0.5)  # of one term that no chunk has
    assert one["lexical_strength"] == pytest.approx(4.0 / worth)
    assert [found["dense_share"] for found in (one, two, three)] == pytest.approx([1.0, 0.3 / 0.5, 0.0])
    assert [found["dense_rank"] for found in (one, two, three)] == [1.0, 1 / 2, 1 / 3]
    assert [found["names_match"] for found in (one, two, three)] == [0.8, 0.0, 0.0]
    assert [found["files_match"] for found in (one, two, three)] == [0.0, 1.0, 0.0]
    assert [found["places_rank"] for found in (one, two, three)] == [0.97 / 2, 1.0, 0.0]
    assert [found["phrases_match"] for found in (one, two, three)] == [0.9, 0.0, 0.4]
    assert [found["phrases_rank"] for found in (one, two, three)] == [0.9, 0.0, 0.4 / 2]
    assert [found["exact_match"] for found in (one, two, three)] == [0.0, 0.0, 0.25]
    assert [found["versions_match"] for found in (one, two, three)] == [0.0, 0.0, 1.0]


def three_places(scores: tuple[float, float, float]) -> FileCandidate:
    body = "\n\n".join(f"def part_{i}():\n    return '{'x' * 300}'" for i in range(3))
    file = stored(1, "a.py", source=body + "\n", target=350)
    found = [candidate(file, i, score) for i, score in enumerate(scores)]
    (grouped,) = group_by_file(sorted(found, key=lambda place: -place.score))
    return grouped


def test_several_places_of_a_file_count_together() -> None:
    many, alone = three_places((1.0, 0.5, 0.5)), whole(stored(2, "b.py"))
    alone.places[0].score = alone.fused_sum = 2.0
    extractor = make_extractor("x", [alone, many])
    found, other = name_values(extractor, many), name_values(extractor, alone)
    assert (found["fused_share"], other["fused_share"]) == (0.5, 1.0)
    assert (found["fused_sum_share"], other["fused_sum_share"]) == (1.0, 1.0)
    assert (found["found_chunks"], other["found_chunks"]) == (math.log(3), 0.0)


def test_places_without_a_score_do_no_harm() -> None:
    found = three_places((0.0, 0.0, 0.0))
    extractor = make_extractor("x", [found])
    assert name_values(extractor, found)["fused_share"] == 0.0
    assert [place["fused_share"] for place in name_places(extractor, found)] == [0.0] * 3


# --- places ----------------------------------------------------------------------------------------


def name_places(extractor: FeatureExtractor, file: FileCandidate) -> list[dict[str, float]]:
    return [dict(zip(PLACE_FEATURES, values, strict=True)) for values in extractor.compute_places(file)]


def test_what_tells_the_places_of_a_file_apart() -> None:
    file = three_places((1.0, 0.5, 0.25))
    hits = {
        "lexical": [Scored(chunk_id(1, 1), 6.0), Scored(chunk_id(1, 0), 3.0)],
        "names": [Scored(chunk_id(1, 2), 0.9)],
        "places": [Scored(chunk_id(1, 2), 0.97)],
    }
    cosines = [0.2] * len(file.file.parsed.chunks)
    cosines[1] = 0.6
    places = name_places(make_extractor("part_2", [file], hits, {1: cosines}), file)
    assert [place["fused_share"] for place in places] == [1.0, 0.5, 0.25]
    assert [place["lexical_share"] for place in places] == [0.5, 1.0, 0.0]
    assert [place["cosine_gap"] for place in places] == pytest.approx([-0.4, 0.0, -0.4])
    assert [place["names_match"] for place in places] == [0.0, 0.0, 0.9]
    assert [place["named_line"] for place in places] == [0.0, 0.0, 0.97]
    assert [place["file_start"] for place in places] == [0.0, 0.0, 0.0]
    assert [place["defines_name"] for place in places] == [0.0, 0.0, 1.0]
    assert [place["first_chunk"] for place in places] == [1.0, 0.0, 0.0]
    assert [place["in_function"] for place in places] == [1.0, 1.0, 1.0]
    assert [place["name_overlap"] for place in places] == [1 / 2] * 3, "one word of two; a digit is none"


@pytest.mark.parametrize(("text", "counts"), [("a.py", 1.0), ("part_2", 0.0)])
def test_who_asks_for_a_file_asks_for_its_beginning(text: str, counts: float) -> None:
    file = three_places((0.5, 1.0, 0.25))
    hits = {"files": [Scored(chunk_id(1, 0), 1.0)]}
    with_ordinal = zip(file.places, name_places(make_extractor(text, [file], hits), file), strict=True)
    found = {place.ordinal: values["file_start"] for place, values in with_ordinal}
    assert found == {0: counts, 1: 0.0, 2: 0.0}


def test_only_the_chunk_with_the_definition_has_its_name() -> None:
    body = "\n".join(f"    step_{i} = prepare({i}, 'some words')" for i in range(100))
    file = whole(stored(1, "a.py", source=f"def runAll():\n{body}\n", target=500))
    places = name_places(make_extractor("runAll", [file]), file)
    assert [place["defines_name"] for place in places] == [1.0] + [0.0] * (len(places) - 1)
    assert [place["in_function"] for place in places] == [1.0] * len(places), "it is around the others"
    assert len(places) > 2


# --- coverage and phrases, which are read from the text ------------------------------------------------

MESSAGE = "Working outside of application context"

TEXTS = {
    "src/stack.py": f'def current(stack):\n    raise RuntimeError("{MESSAGE}.")\n',
    "src/spread.py": "# an application context: the context of an application that is working, outside of\n",
    "src/other.py": "def working():\n    return 'application'\n",
    **{f"src/filler_{n}.py": f"def filler_{n}():\n    return 'application'\n" for n in range(20)},
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("texts")
    for path, text in TEXTS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(root, store="memory", embedder="none") as engine:
        engine.index()
        yield engine


def read_texts(engine: Engine, text: str) -> tuple[FeatureContext, dict[str, dict[str, float]]]:
    """The features of the text of every file that is found, by name."""
    with engine.candidates(text) as context:
        extractor = FeatureExtractor(context)
        return context, {
            file.file.path: dict(zip(TEXT_FEATURES, extractor.compute_text(file), strict=True))
            for file in context.files
        }


def test_coverage_counts_terms_by_their_worth(engine: Engine) -> None:
    context, found = read_texts(engine, "working application context")
    worths = context.worths
    chunks = len(TEXTS)
    assert worths["applic"] == pytest.approx(math.log(1 + (chunks - 23 + 0.5) / (23 + 0.5)))
    assert worths["context"] > worths["work"] > worths["applic"], "the rarer, the more it is worth"
    share = (worths["work"] + worths["applic"]) / sum(worths.values())
    assert found["src/other.py"]["place_coverage"] == pytest.approx(share)
    assert found["src/other.py"]["places_coverage"] == pytest.approx(share)
    assert found["src/other.py"]["rarest_term"] == 0.0
    assert found["src/stack.py"]["place_coverage"] == pytest.approx(1.0)
    assert found["src/stack.py"]["rarest_term"] == 1.0
    own = worths["work"] / sum(worths.values())
    assert found["src/other.py"]["definition_coverage"] == pytest.approx(own)
    assert found["src/stack.py"]["definition_coverage"] == 0.0


def test_coverage_of_the_path(engine: Engine) -> None:
    context, found = read_texts(engine, "stack application")
    expected = context.worths["stack"] / sum(context.worths.values())
    assert found["src/stack.py"]["path_coverage"] == pytest.approx(expected)
    assert found["src/other.py"]["path_coverage"] == 0.0


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (MESSAGE, 1.0),
        (f"{MESSAGE}.", 1.0),
        ("why outside of application context", 4 / 5),
        ("Working outside of application code", 4 / 5),
        ("outside of application", 1.0),
        ("outside application context working", 0.0),
        ("application context", 0.0),  # too few words
        ("context application of outside working", 0.0),  # another order
        ("of it is that the application", 0.0),  # a row of words that say nothing
    ],
)
def test_the_longest_run_of_words_as_they_are_written(engine: Engine, text: str, share: float) -> None:
    _, found = read_texts(engine, text)
    assert found["src/stack.py"]["phrase"] == pytest.approx(share)
    assert found.get("src/spread.py", {"phrase": 0.0})["phrase"] == 0.0, "other words in between"


def test_the_place_that_says_it_is_told_from_the_others_of_its_file(tmp_path: Path) -> None:
    parts = ["context of working", f"raise {MESSAGE}", "outside application"]
    text = "\n\n".join(f"def part_{n}():\n    return '{p} {'x' * 900}'\n" for n, p in enumerate(parts))
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    with Engine.open(tmp_path, store="memory", embedder="none", allow_home=True) as engine:
        engine.index()
        with engine.candidates(MESSAGE) as context:
            (file,) = context.files
            extractor = FeatureExtractor(context)
            said = {
                place.ordinal: values["phrase"]
                for place, values in zip(file.places, name_places(extractor, file), strict=True)
            }
            assert extractor.describe("phrase", file, ()) == f'says "{MESSAGE.lower()}"'
    assert said == {0: 0.0, 1: 1.0, 2: 0.0}


# --- soft coverage ---------------------------------------------------------------------------------

ERASE = "def erase_file(path):\n    unlink(path)\n"
PAINT = "def paint_window(canvas):\n    canvas.draw()\n"


@pytest.fixture(scope="module")
def meanings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("meanings")
    (root / "erase.py").write_text(ERASE, encoding="utf-8")
    (root / "paint.py").write_text(PAINT, encoding="utf-8")
    return root


def compute_soft(root: Path, query: str, **settings: Any) -> dict[str, dict[str, float]]:
    """The text features of each file, by path and name, and the soft coverage of its first place."""
    with Engine.open(root, store="memory", cache="off", allow_home=True, **settings) as engine:
        engine.index()
        with engine.candidates(query) as context:
            extractor = FeatureExtractor(context)
            extractor.read(context.files)
            found = {}
            for file in context.files:
                own = dict(zip(TEXT_FEATURES, extractor.compute_text(file), strict=True))
                place = dict(zip(PLACE_FEATURES, extractor.compute_places(file)[0], strict=True))
                found[file.file.path] = own | {"place": place["soft_coverage"]}
            return found


def test_words_of_the_same_meaning_cover_a_query(meanings: Path) -> None:
    found = compute_soft(meanings, "delete the documents of a user")
    erase, paint = found["erase.py"], found["paint.py"]
    assert erase["place_coverage"] == 0.0, "it has no word of the query"
    for name in ("soft_place_coverage", "soft_places_coverage", "place"):
        assert erase[name] > paint[name] >= 0.0, name


def test_a_text_with_all_words_is_covered_whole(meanings: Path) -> None:
    found = compute_soft(meanings, "where is the path of a file erased")["erase.py"]
    assert found["soft_place_coverage"] == pytest.approx(1.0, abs=1e-3)
    assert found["soft_place_coverage"] >= found["place_coverage"]


def test_a_word_without_a_vector_counts_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def open_xqzzyw(value):\n    return value\n", encoding="utf-8")
    (tmp_path / "b.py").write_text("def open_other(value):\n    return value\n", encoding="utf-8")
    found = compute_soft(tmp_path, "opening of the xqzzyw value")
    assert found["a.py"]["soft_place_coverage"] == pytest.approx(1.0, abs=1e-3)
    assert found["b.py"]["soft_place_coverage"] < 0.9


@pytest.mark.parametrize("settings", [{"hybrid": "off"}, {"embedder": "hashing"}, {"embedder": "none"}])
def test_without_vectors_of_words_there_is_no_soft_coverage(meanings: Path, settings: dict[str, str]) -> None:
    for found in compute_soft(meanings, "erase the file of a user", **settings).values():
        assert {value for name, value in found.items() if "soft" in name or name == "place"} == {0.0}


SCORES = """
import sys
from dowse import Engine

with Engine.open(sys.argv[1], store="memory", allow_home=True) as engine:
    for hit in engine.search("which test checks that the default session times out").results:
        print(hit.path, repr(hit.score), [(reason.name, repr(reason.value)) for reason in hit.reasons])
"""


def test_every_process_gives_the_same_scores_to_the_last_digit(tmp_path: Path) -> None:
    for name in ("session.py", "tests/test_session.py", "settings.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(
            "def check_default_session():\n    return times_out('session', 'default')\n"
        )
    told = {
        subprocess.run(
            [sys.executable, "-c", SCORES, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True, timeout=60,
        ).stdout
        for seed in "123456"
    }  # fmt: skip
    assert len(told) == 1
    assert "test_session.py" in next(iter(told))
