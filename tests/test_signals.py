"""What moves a candidate up or down: each signal on candidates made by hand, and its switch."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from dowse import Engine
from dowse import settings as settings_module
from dowse.code import languages
from dowse.code.chunk_fields import definitions_by_chunk
from dowse.indexing.analyze_file import ParserConfig, analyze
from dowse.search.channels.request import Retrieved
from dowse.search.query.analyze import analyze_text
from dowse.search.ranking.candidates import DESCRIPTION_WORDS, Candidate
from dowse.search.ranking.signals import (
    SIGNALS,
    definition,
    entity_name,
    file_name,
    file_role,
    multi_hit_file,
)
from dowse.search.ranking.signals.context import SignalContext
from dowse.stores.memory import MemorySnapshot
from dowse.types.answers import ChannelReport, ResolvedOptions, SearchOptions, SearchResult
from dowse.types.discovered import FileStamp
from dowse.types.queries import Query
from dowse.types.source import Role
from dowse.types.stored import StoredFile, chunk_id

EMPTY = MemorySnapshot("this", 1, {}, {}, is_current=True)
SOURCE = "def login(name):\n    return check(name)\n\n\nclass SessionStore:\n    pass\n"


def question(text: str) -> Query:
    return analyze_text(text, languages.load_builtin().extensions.__contains__)


def stored(
    id: int, path: str, role: Role = Role.SOURCE, source: str = SOURCE, target: int = 1000
) -> StoredFile:
    parsed = analyze(ParserConfig(languages.load_builtin(), target, 0), path, source.encode()).parsed
    return StoredFile(id, path, FileStamp(0, 0), b"", role, parsed, definitions_by_chunk(parsed))


def candidate(file: StoredFile, ordinal: int = 0, score: float = 1.0) -> Candidate:
    return Candidate(
        id=chunk_id(file.id, ordinal),
        ordinal=ordinal,
        file=file,
        chunk=file.parsed.chunks[ordinal],
        score=score,
        contributions=[("lexical", score, 1)],
    )


OPTIONS = ResolvedOptions(limit=10, min_relevance=0.0, show_low_confidence=False)


def context(text: str) -> SignalContext:
    files = Retrieved((), ChannelReport("files", True))
    return SignalContext(EMPTY, question(text), OPTIONS, {"files": files})


def weighed(signal: str, text: str, candidates: list[Candidate]) -> list[float]:
    """By how much each candidate was multiplied."""
    before = [c.score for c in candidates]
    SIGNALS[signal](context(text), candidates)
    for c in candidates:
        product = 1.0
        for reason in c.reasons[1:]:
            assert reason.name == signal
            assert reason.detail
            product *= reason.value
        assert c.score == pytest.approx(c.reasons[0].value * product), "the score is what its reasons say"
    return [c.score / b for c, b in zip(candidates, before, strict=True)]


def test_the_settings_know_every_signal() -> None:
    assert tuple(SIGNALS) == settings_module.SIGNALS


@pytest.mark.parametrize("signal", SIGNALS)
def test_no_candidates_no_harm(signal: str) -> None:
    SIGNALS[signal](context("anything"), [])


# --- definition ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("SessionStore", definition.SYMBOL_QUERY_FACTOR),
        ("sessionStore", definition.SYMBOL_QUERY_FACTOR),
        ("auth.SessionStore", definition.SYMBOL_QUERY_FACTOR),
        ("auth::SessionStore", definition.SYMBOL_QUERY_FACTOR),
        ("SessionStore*", definition.SYMBOL_QUERY_FACTOR),
        ("login", definition.LONE_NAME_FACTOR),
        ("def login", definition.LONE_NAME_FACTOR),
        ("class SessionStore", definition.SYMBOL_QUERY_FACTOR),
        ("sessionstore", definition.LONE_NAME_FACTOR),
        ("Login", 1.0),
        ("login page", 1.0),
        ("logout", 1.0),
        ("check", 1.0),
        ("where does the login page check a password", 1.0),
        ("where does the login page use the SessionStore", definition.MENTION_FACTOR),
    ],
)
def test_a_place_that_defines_a_name_goes_up(text: str, factor: float) -> None:
    assert weighed("definition", text, [candidate(stored(1, "a.py"))]) == [factor]


def test_the_best_of_several_names_counts_once() -> None:
    assert weighed("definition", "login SessionStore", [candidate(stored(1, "a.py"))]) == [
        definition.SYMBOL_QUERY_FACTOR
    ]


def test_only_the_chunk_with_the_definition_goes_up() -> None:
    body = "\n".join(f"    step_{i} = prepare({i}, 'some words')" for i in range(100))
    file = stored(1, "a.py", source=f"def runAll():\n{body}\n", target=500)
    factors = weighed("definition", "runAll", [candidate(file, i) for i in range(len(file.parsed.chunks))])
    assert factors == [definition.SYMBOL_QUERY_FACTOR] + [1.0] * (len(factors) - 1)
    assert len(factors) > 2


MEMBERS = "class Stack:\n    def push(self):\n        pass\n"
OTHERS = "class Queue:\n    def push(self):\n        pass\n"


def test_of_a_dotted_name_only_the_member_goes_up() -> None:
    candidates = [candidate(stored(1, "a.py", source=MEMBERS)), candidate(stored(2, "b.py", source=OTHERS))]
    assert weighed("definition", "Stack.push", candidates) == [definition.SYMBOL_QUERY_FACTOR, 1.0]


def test_where_no_member_of_a_dotted_name_exists_its_last_part_counts() -> None:
    candidates = [candidate(stored(1, "a.py", source=MEMBERS)), candidate(stored(2, "b.py", source=OTHERS))]
    assert weighed("definition", "module.push", candidates) == [
        definition.SYMBOL_QUERY_FACTOR,
        definition.SYMBOL_QUERY_FACTOR,
    ]


def test_of_names_that_differ_in_case_the_one_that_is_written_so_goes_up() -> None:
    module, method = (
        "class Web:\n    class Helpers:\n        pass\n",
        "class Web:\n    def helpers(self):\n        pass\n",
    )
    candidates = [candidate(stored(1, "a.py", source=module)), candidate(stored(2, "b.py", source=method))]
    assert weighed("definition", "Web::Helpers", candidates) == [definition.SYMBOL_QUERY_FACTOR, 1.0]
    assert weighed("definition", "Web::helpers", candidates)[0] == pytest.approx(1.0)


# --- entity name -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "of_name", "of_question"),
    [
        ("session store", 1.0, 1.0),
        ("storing sessions", 1.0, 1.0),
        ("where is the session store", 1.0, 1.0),
        ("session store of users", 1.0, 2 / 3),
        ("session timeout", 0.0, 0.0),
        ("session", 0.5, 1.0),
        ("other words", 0.0, 0.0),
    ],
)
def test_a_definition_named_with_words_of_the_question_goes_up(
    text: str, of_name: float, of_question: float
) -> None:
    expected = 1.0 + entity_name.GAIN * of_name * of_question
    assert weighed("entity_name", text, [candidate(stored(1, "a.py"))]) == [pytest.approx(expected)]


def test_the_names_of_places_out_of_reach_do_not_matter() -> None:
    near, far = candidate(stored(1, "a.py"), score=0.5), candidate(stored(2, "b.py"), score=0.3)
    best = candidate(stored(3, "c.py", source="x = 1\n"))
    gain = 1.0 + entity_name.GAIN
    assert weighed("entity_name", "session store", [best, near, far]) == pytest.approx([1.0, gain, 1.0])


# --- file name -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "of_name", "of_question", "folder"),
    [
        ("session.py", "session", 1.0, 1.0, False),
        ("session.py", "session timeout", 1.0, 0.5, False),
        ("src/sessions.py", "session timeout", 1.0, 0.5, False),
        ("session_store.py", "session timeout", 0.5, 0.5, False),
        ("sessionStore.py", "store of a session", 1.0, 1.0, False),
        ("auth/handlers.py", "authentication handler", 1.0, 0.5, True),
        ("auth/views.py", "authentication", 0.0, 0.0, True),
        ("auth/__init__.py", "auth", 1.0, 1.0, False),
        ("web/index.ts", "web", 1.0, 1.0, False),
        ("other.py", "session timeout", 0.0, 0.0, False),
        ("se.py", "session", 0.0, 0.0, False),
        ("a.py", "a", 0.0, 0.0, False),
        ("session.py", "one two three four five six seven eight session timeout", 1.0, 0.1, False),
        ("tests/test_basic.py", "a test of sessions", 0.0, 0.0, False),
        ("tests/test_session.py", "session tests", 1.0, 0.5, False),
        ("examples/session_example.py", "session example", 1.0, 0.5, False),
        ("test.py", "test", 1.0, 1.0, False),
        ("threadpool.c", "size of the thread pool", 1.0, 2 / 3, False),
        ("etag.rb", "ETag header", 1.0, 1.0, False),
        ("routergroup_flags.go", "RouterGroup", 0.5, 1.0, False),
        ("websocket/writer.py", "WebSocket", 0.0, 0.0, True),
        ("threadpool.c", "a pool of every thread", 1.0, 1 / 3, False),
    ],
)
def test_a_file_named_with_words_of_the_question_goes_up(
    path: str, text: str, of_name: float, of_question: float, folder: bool
) -> None:
    partly = file_name.PARTIAL_SHARE * min(1.0, file_name.WORDS_PER_MATCH * of_question)
    gain = file_name.STEM_GAIN * of_name * (partly + (1 - file_name.PARTIAL_SHARE) * of_question)
    expected = 1.0 + gain + (file_name.FOLDER_GAIN if folder else 0.0)
    assert weighed("file_name", text, [candidate(stored(1, path))]) == [pytest.approx(expected)]


def test_the_name_of_a_file_has_a_bound() -> None:
    for text in ("session store", "src auth session store handler views python"):
        (factor,) = weighed("file_name", text, [candidate(stored(1, "src/auth/session_store.py"))])
        assert 1.0 < factor <= 1.0 + file_name.STEM_GAIN + file_name.FOLDER_GAIN


def test_file_names_are_silent_where_a_question_describes_a_place() -> None:
    words = [f"word{'abcdefghijklmnop'[i]}" for i in range(DESCRIPTION_WORDS - 2)]
    file = stored(1, "session.py")
    assert weighed("file_name", " ".join(["session", *words]), [candidate(file)])[0] > 1.0
    assert weighed("file_name", " ".join(["session", "store", *words]), [candidate(file)]) == [1.0]
    assert file_name.compute_gain("session.py", frozenset({"session", *words})) > 0.0, (
        "still evidence for relevance"
    )


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
def test_a_test_steps_back_behind_what_it_tests(path: str, source: str, first_of_test: int) -> None:
    file = stored(1, path, source=source, target=60)
    places = [candidate(file, ordinal) for ordinal in range(len(file.parsed.chunks))]
    back = file_role.FACTORS[Role.TEST]
    expected = [back if place.chunk.start_line >= first_of_test else 1.0 for place in places]
    assert set(expected) == {back, 1.0}
    assert weighed("inline_test", "split a line", places) == expected
    assert weighed("inline_test", "tests of split", [candidate(file, place.ordinal) for place in places]) == [
        1.0 for _ in places
    ]


def test_a_file_of_tests_steps_back_once() -> None:
    file = stored(1, "tests/a.rs", Role.TEST, RUST, target=60)
    assert weighed("inline_test", "split", [candidate(file, len(file.parsed.chunks) - 1)]) == [1.0]


# --- file coherence --------------------------------------------------------------------------------


def three_places(scores: tuple[float, float, float]) -> list[Candidate]:
    body = "\n\n".join(f"def part_{i}():\n    return '{'x' * 300}'" for i in range(3))
    file = stored(1, "a.py", source=body + "\n", target=350)
    return [candidate(file, i, score) for i, score in enumerate(scores)]


def test_several_places_lift_the_best_and_lower_the_rest() -> None:
    alone = candidate(stored(2, "b.py"), score=1.0)
    factors = weighed("multi_hit_file", "x", [*three_places((1.0, 0.5, 0.5)), alone])
    expected = 1.0 + multi_hit_file.GAIN * (0.5 + 0.5) / 2
    assert factors == pytest.approx(
        [expected, multi_hit_file.FURTHER_HIT_SHARE, multi_hit_file.FURTHER_HIT_SHARE**2, 1.0]
    )


def test_places_of_a_file_stay_together_where_a_question_describes_a_place() -> None:
    long = " ".join(f"word{i}" for i in range(DESCRIPTION_WORDS))
    lift = 1.0 + multi_hit_file.GAIN * (0.5 + 0.5) / 2
    step = multi_hit_file.DESCRIPTION_HIT_SHARE
    factors = weighed("multi_hit_file", long, three_places((1.0, 0.5, 0.5)))
    assert factors == pytest.approx([lift, lift * step, lift * step**2])


def test_places_that_are_no_candidates_count_for_their_file() -> None:
    best, alone = candidate(stored(1, "a.py")), candidate(stored(2, "b.py"))
    best.unranked_scores = [0.5, 0.5]
    factors = weighed("multi_hit_file", "x", [best, alone])
    assert factors == pytest.approx([1.0 + multi_hit_file.GAIN * (0.5 + 0.5) / 2, 1.0])
    assert best.reasons[-1].detail == "3 places in this file"


def test_what_the_name_of_a_file_says_holds_for_its_places_that_are_no_candidates() -> None:
    named = candidate(stored(1, "session.py"))
    named.unranked_scores = [0.5, 0.25]
    (factor,) = weighed("file_name", "session", [named])
    assert factor > 1.0
    assert named.unranked_scores == pytest.approx([0.5 * factor, 0.25 * factor])


def test_the_gain_of_many_places_has_a_bound() -> None:
    factors = weighed("multi_hit_file", "x", three_places((1.0, 1.0, 1.0)))
    assert max(factors) <= 1.0 + multi_hit_file.GAIN
    assert min(factors) > 0


def test_the_best_place_is_the_one_with_the_highest_score() -> None:
    factors = weighed("multi_hit_file", "x", three_places((0.2, 1.0, 0.4)))
    assert factors[1] > 1.0
    assert factors[2] == pytest.approx(multi_hit_file.FURTHER_HIT_SHARE)
    assert factors[0] == pytest.approx(multi_hit_file.FURTHER_HIT_SHARE**2)


def test_a_single_place_stays() -> None:
    assert weighed("multi_hit_file", "x", [candidate(stored(1, "a.py"))]) == [1.0]


def test_places_without_a_score_do_no_harm() -> None:
    candidates = three_places((0.0, 0.0, 0.0))
    multi_hit_file.apply(context("x"), candidates)
    assert [c.score for c in candidates] == [0.0, 0.0, 0.0]


# --- role ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "is_how_to"),
    [
        ("how to build the project", True),
        ("How do I build the project", True),
        ("how can you run one test", True),
        ("how do we build the project", False),
        ("how does it build the project", False),
        ("show to whom it belongs", False),
    ],
)
def test_documentation_does_not_step_back_where_instructions_are_asked_for(
    text: str, is_how_to: bool
) -> None:
    factor = 1.0 if is_how_to else file_role.FACTORS[Role.DOCS]
    assert weighed("file_role", text, [candidate(stored(1, "a.md", Role.DOCS))]) == [pytest.approx(factor)]


@pytest.mark.parametrize("kind", Role)
def test_files_that_are_not_source_step_back(kind: Role) -> None:
    factor = file_role.FACTORS.get(kind, 1.0)
    assert weighed("file_role", "session timeout", [candidate(stored(1, "a.py", kind))]) == [
        pytest.approx(factor)
    ]
    assert 0.3 <= factor <= 1.0


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("tests of the session", Role.TEST),
        ("testing sessions", Role.TEST),
        ("session fixtures", Role.TEST),
        ("example of a session", Role.EXAMPLE),
        ("generated session", Role.GENERATED),
        ("vendored library", Role.VENDORED),
        ("documentation of sessions", Role.DOCS),
        ("readme", Role.DOCS),
        ("tutorials", Role.DOCS),
    ],
)
def test_unless_the_question_asks_for_them(text: str, kind: Role) -> None:
    assert weighed("file_role", text, [candidate(stored(1, "a.py", kind))]) == [1.0]


def test_one_word_of_many_asks_for_them_by_half() -> None:
    question = "why does the session of a user expire early when another thread stores a token, as the slow test shows"
    factor = file_role.FACTORS[Role.TEST]
    assert weighed("file_role", question, [candidate(stored(1, "a.py", Role.TEST))]) == [
        pytest.approx(factor**0.5)
    ]
    assert weighed("file_role", question, [candidate(stored(1, "a.py", Role.DOCS))]) == [
        file_role.FACTORS[Role.DOCS]
    ]


def test_source_does_not_step_back() -> None:
    assert Role.SOURCE not in file_role.FACTORS


# --- names in passing ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("how are expired keys removed", False),
        ("expired", True),
        ("expired kind:variable keys", True),
        ("keys that are Session.expired", True),
    ],
)
def test_a_plain_word_among_others_means_no_field_of_that_name(
    tmp_path: Path, text: str, counts: bool
) -> None:
    (tmp_path / "a.c").write_text("struct Session {\n    int expired;\n};\n", encoding="utf-8")
    with Engine.open(
        tmp_path, store="memory", embedder="none", allow_home=True, show_low_confidence=True
    ) as engine:
        found = {reason.name for hit in engine.search(text).results for reason in hit.reasons}
    assert "lexical" in found
    assert ("names" in found) == counts


# --- the switch ------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree in which every signal has something to say."""
    root = tmp_path / "tree"
    long = "\n\n".join(f"def session_part_{i}():\n    return '{'x ' * 250}'" for i in range(4))
    for path, text in {
        "session.py": "def openSession(name):\n    return name\n",
        "other.py": f"# the session part stays open\n{long}\n",
        "tests/test_session.py": "def test_session():\n    assert openSession('ada')\n",
        "inside.rs": "mod tests {\n    fn opens_session() {\n        openSession();\n    }\n}\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def ask(tree: Path, off: Sequence[str]) -> list[SearchResult]:
    options = SearchOptions(near=(("session.py", 1.0),))
    with Engine.open(tree, store="memory", embedder="none", disabled_signals=tuple(off)) as engine:
        named = engine.search("openSession session", options).results
        return [*named, *engine.search("the session part stays open").results]


def test_a_signal_that_is_off_says_nothing(tree: Path) -> None:
    spoken = {reason.name for result in ask(tree, []) for reason in result.reasons}
    assert spoken >= set(SIGNALS), "all of them have something to say here"
    for signal in SIGNALS:
        spoken = {reason.name for result in ask(tree, [signal]) for reason in result.reasons}
        assert signal not in spoken
        assert spoken >= set(SIGNALS) - {signal}


def test_without_signals_the_score_is_what_the_channels_gave(tree: Path) -> None:
    for result in ask(tree, list(SIGNALS)):
        assert result.score == pytest.approx(sum(reason.value for reason in result.reasons))
        assert {reason.name for reason in result.reasons} <= {"lexical", "names", "files", "dense"}


def test_channels_without_any_weight_do_no_harm(tree: Path) -> None:
    with Engine.open(
        tree, store="memory", embedder="none", lexical_weight=0.0, name_weight=0.0, file_weight=0.0
    ) as engine:
        response = engine.search("session")
    assert response.results
    assert {result.score for result in response.results} == {0.0}
