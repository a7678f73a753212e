"""What makes a query and what does not; documentation blanked out without a trace in lines and syntax."""

from __future__ import annotations

import pytest
import tree_sitter

from dowse.code import parsing, strip_docs, symbols
from dowse.code.languages import load_builtin
from dowse.evaluation.commit_history import ChangedFile, GitCommit
from dowse.evaluation.eval_types import EvalQuery, GoldTarget
from dowse.evaluation.mining import _allocate, _strip_syntax
from dowse.evaluation.mining.commits import extract_query as of_commit
from dowse.evaluation.mining.commits import is_usable
from dowse.evaluation.mining.docs import extract_query
from dowse.types.source import Entity, Kind, ParseHealth

SOURCES = {
    "python": b'''class Store:
    """Keeps zebras apart."""

    # counts the zebras
    @property
    def size(self):
        r"""How many zebras there are.

        More about zebras.
        """
        return len("zebra kept")


def only():
    """A zebra."""
''',
    "go": b"""package a

// Zebra runs about.
//
// It has stripes of zebra.
func Zebra(n int) int { // zebra beside
\treturn n // zebra inside
}

/* A zebra field. */
type Field struct {
\tSize int // zebra kept
}
""",
    "javascript": b"""/**
 * Feeds the zebra.
 * @param {string} grass for the zebra
 */
export function feed(grass) {
  return "zebra kept" + grass;
}
""",
    "rust": b"""/// Paints a zebra.
#[inline]
pub fn paint(n: u8) -> u8 {
    n // zebra kept
}
""",
    "java": b"""class A {
  /** Rides a zebra. */
  int ride() { return 1; /* zebra kept */ }
}
""",
}


@pytest.mark.parametrize("name", SOURCES)
def test_documentation_is_blanked_and_nothing_else(name: str) -> None:
    language, content = load_builtin().by_name[name], SOURCES[name]
    blanked = strip_docs.blank_docs(language, content)
    assert len(blanked) == len(content)
    assert [len(line) for line in blanked.split(b"\n")] == [len(line) for line in content.split(b"\n")]
    before, after = (
        symbols.find(language, parsing.run_queries(language, _tree(name, text)).definitions, text)
        for text in (content, blanked)
    )
    assert [(e.qualified, e.kind, e.start_line, e.end_line) for e in before] == [
        (e.qualified, e.kind, e.start_line, e.end_line) for e in after
    ]
    assert any("zebra" in e.doc.lower() for e in before)
    assert not any(any(c.isalnum() for c in e.doc) for e in after)
    assert content.count(b"zebra kept") == blanked.count(b"zebra kept")
    assert b"about zebras" not in blanked
    assert parsing.parse(language, blanked)[1] is ParseHealth.OK


def _tree(name: str, text: bytes) -> tree_sitter.Tree:
    tree, _ = parsing.parse(load_builtin().by_name[name], text)
    assert tree is not None
    return tree


def test_a_file_without_grammar_stays_as_it_is() -> None:
    assert strip_docs.blank_docs(load_builtin().by_name["csv"], b"a,b\n") == b"a,b\n"


def entity(name: str, doc: str, qualified: str = "") -> Entity:
    return Entity(name, qualified or name, Kind.FUNCTION, 1, 2, 1, None, "", doc)


@pytest.mark.parametrize(
    ("name", "doc", "expected"),
    [
        (
            "f",
            "Pause between attempts, longer each time.\n\nArgs:\n    n: how often",
            "Pause between attempts, longer each time",
        ),
        (
            "Listen",
            "Listen waits for connections and hands each to a worker.",
            "waits for connections and hands each to a worker",
        ),
        (
            "pop",
            "Pop this context so that another becomes the active one.",
            "Pop this context so that another becomes the active one",
        ),
        (
            "f",
            "Turn :class:`~a.b.Request` objects into lines of text.",
            "Turn Request objects into lines of text",
        ),
        (
            "f",
            "Feed the {@link Horse} every morning with fresh grass.\n@param x grass",
            "Feed the Horse every morning with fresh grass",
        ),
        ("get_user", "Get the user.", ""),
        ("get_user", "Get the user by id from the store of users that get_user knows.", ""),
        ("f", "TODO: think about what this should do one day", ""),
        ("f", "Copyright 2020 by somebody who wrote all of this", ""),
        ("f", "x = compute(y); return x;", ""),
        ("f", "Short one.", ""),
        ("f", "", ""),
    ],
)
def test_the_first_sentence_is_the_query_if_it_says_something(name: str, doc: str, expected: str) -> None:
    assert extract_query(entity(name, doc)) == expected


POOL = (ChangedFile("src/pool.py", 5, 2),)
MANY = tuple(ChangedFile(f"src/a{n}.py", 1, 1) for n in range(4))


def commit(
    subject: str, body: str = "", author: str = "A <a@b.c>", files: tuple[ChangedFile, ...] = POOL
) -> GitCommit:
    return GitCommit("s", "p", author, subject, body, files)


@pytest.mark.parametrize(
    ("given", "usable"),
    [
        (commit("Close idle connections after a minute"), True),
        (commit("fix(net): close idle connections after a minute (#12)"), True),
        (commit("Close idle connections after a minute", author="dependabot[bot] <x@y.z>"), False),
        (commit("Bump urllib3 from 1 to 2 in the group"), False),
        (commit("Revert closing of idle connections after a minute"), False),
        (commit("Format everything with the new formatter"), False),
        (commit("Fix typo in the message about connections"), False),
        (commit("chore: tidy up things nobody looks at"), False),
        (commit("More"), False),
        (commit("Change the pool so that it closes connections"), False),  # names the file
        (
            commit(
                "Close idle connections soon",
                files=MANY,
            ),
            False,
        ),
        (commit("Close idle connections soon", files=(ChangedFile("src/a.py", 300, 1),)), False),
        (commit("Close idle connections soon", files=(ChangedFile("src/a.py", 0, 0),)), False),
        (commit("Close idle connections soon", files=(ChangedFile("tests/test_a.py", 3, 1),)), False),
        (commit("Close idle connections soon", files=(ChangedFile("setup.cfg", 3, 1),)), False),
    ],
)
def test_which_commits_make_queries(given: GitCommit, usable: bool) -> None:
    assert is_usable(given, load_builtin()) is usable


def test_the_query_of_a_commit() -> None:
    body = "Servers drop them anyway, see https://example.org/x.\n\nMore that is not read.\n\nSigned-off-by: A <a@b.c>"
    asked = of_commit(commit("fix(net): Close idle connections (#12)", body))
    assert asked == "Close idle connections . Servers drop them anyway, see"
    assert of_commit(commit("Close them", "Co-authored-by: B <b@c.d>\nFixes #3")) == "Close them"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('say "hello" twice', "say hello twice"),
        ("set path:here now", "set path here now"),
        ("use -x and /tmp/file", "use x and tmp/file"),
        ("plain words", "plain words"),
    ],
)
def test_mined_queries_have_no_search_syntax(query: str, expected: str) -> None:
    found = _strip_syntax(EvalQuery("", query, (GoldTarget("a"),)))
    assert found is not None
    assert found.query == expected


def test_shares() -> None:
    assert _allocate(10, {"a": 100, "b": 100, "c": 100}) == {"a": 4, "b": 3, "c": 3}
    assert _allocate(10, {"a": 1, "b": 100, "c": 0}) == {"a": 1, "b": 9, "c": 0}
    assert _allocate(10, {"a": 2, "b": 1}) == {"a": 2, "b": 1}
