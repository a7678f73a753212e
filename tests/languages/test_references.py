"""References: what is stripped, joined and counted once."""

from __future__ import annotations

import pytest

from dowse.code import parsing, references
from dowse.code.languages import builtin
from dowse.types import Reference, ReferenceKind

IMPORT, CALL, INHERIT = ReferenceKind.IMPORT, ReferenceKind.CALL, ReferenceKind.INHERIT


def found(language: str, text: str) -> list[Reference]:
    row = builtin().named(language)
    tree, _ = parsing.parse(row, text.encode())
    assert tree is not None
    return list(references.find(row, tree, text.encode()))


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
    assert {r.target for r in found(language, text) if r.kind is IMPORT} == {target}


def test_template_arguments_are_not_quotes() -> None:
    assert found("cpp", "struct A : b::c::D<int> {};\n") == [Reference(INHERIT, "b::c::D<int>", 1)]


def test_one_per_line_in_order() -> None:
    text = "f(g(), g(), h())\nclass A(B): pass\ng()\nimport f\n"
    assert found("python", text) == [
        Reference(CALL, "f", 1),
        Reference(CALL, "g", 1),
        Reference(CALL, "h", 1),
        Reference(INHERIT, "B", 2),
        Reference(CALL, "g", 3),
        Reference(IMPORT, "f", 4),
    ]


def test_language_without_grammar_has_none() -> None:
    tree, _ = parsing.parse(builtin().named("c"), b"f();")
    assert tree is not None
    assert references.find(builtin().named("text"), tree, b"f();") == ()
