"""References: what is stripped, joined and counted once."""

from __future__ import annotations

import pytest

from dowse.code import parsing, references
from dowse.code.languages import load_builtin
from dowse.types.source import ReferenceKind, References

IMPORT, CALL, INHERIT = ReferenceKind.IMPORT, ReferenceKind.CALL, ReferenceKind.INHERIT


def found(language: str, text: str) -> References:
    row = load_builtin().find(language)
    tree, _ = parsing.parse(row, text.encode())
    assert tree is not None
    return references.find(row, parsing.run_queries(row, tree).references, text.encode())


@pytest.mark.parametrize(
    ("language", "text", "target"),
    [
        ("c", "#include <sys/stat.h>\n", "sys/stat.h"),
        ("c", '#include "a.h"\n', "a.h"),
        ("javascript", "const a = require('./a');\n", "./a"),
        ("go", "package a\n\nimport `fmt`\n", "fmt"),
        ("scala", "import a.b.c\n", "a.b.c"),
    ],
)
def test_target_is_the_bare_name(language: str, text: str, target: str) -> None:
    assert {name for name, _, _ in found(language, text)[IMPORT]} == {target}


def test_a_listed_name_has_the_paths_around_it() -> None:
    assert found("rust", "use a::{b::{c as d, e::*, f}, self};\nuse super::{g};\n")[IMPORT] == (
        ("a", 1, ""),
        ("a::b", 1, ""),
        ("a::b::c", 1, "* as d"),
        ("a::b::e", 1, "*"),
        ("a::b::f", 1, ""),
        ("super::g", 2, ""),
    )


def test_template_arguments_are_not_quotes() -> None:
    assert found("cpp", "struct A : b::c::D<int> {};\n") == {INHERIT: (("b::c::D<int>", 1, ""),)}


def test_one_per_line_in_order() -> None:
    text = "f(g(), g(), h())\nclass A(B): pass\ng()\nimport f\n"
    assert found("python", text) == {
        CALL: (("f", 1, ""), ("g", 1, ""), ("h", 1, ""), ("g", 3, "")),
        INHERIT: (("B", 2, ""),),
        IMPORT: (("f", 4, ""),),
    }


@pytest.mark.parametrize(
    ("text", "name", "line", "through"),
    [
        ("a()\n", "a", 1, ""),
        ("a.b.c()\n", "c", 1, "a.b"),
        ("(\n    a.b()\n    .c()\n)\n", "c", 3, "a.b()"),
        ("(a or b).c()\n", "c", 1, "a|b"),
        ("'%s'.join()\n", "join", 1, "?"),
        ("größe.ändern()\n", "ändern", 1, "größe"),
    ],
)
def test_call_is_a_name_and_what_it_goes_through(text: str, name: str, line: int, through: str) -> None:
    assert (name, line, through) in found("python", text)[CALL]


def test_language_without_queries_has_none() -> None:
    tree, _ = parsing.parse(load_builtin().find("c"), b"f();")
    text = load_builtin().find("text")
    assert parsing.run_queries(text, tree) == ([], [])
    assert references.find(text, [], b"f();") == {}
