"""Definitions: what documents them."""

from __future__ import annotations

import pytest

from dowse.code import parsing, symbols
from dowse.code.languages import load_builtin
from dowse.types.source import Entity, Kind


def found(language: str, text: str) -> tuple[Entity, ...]:
    row = load_builtin().find(language)
    tree, _ = parsing.parse(row, text.encode())
    return symbols.find(row, parsing.run_queries(row, tree).definitions, text.encode())


@pytest.mark.parametrize("language", ["python", "starlark"])
@pytest.mark.parametrize(
    ("body", "doc"),
    [
        ('"""Says it."""', "Says it."),
        ("'Says it.'\n    return 1", "Says it."),
        ('return "not documentation"', ""),
        ('x = "not documentation"', ""),
        ('f("not documentation")', ""),
        ("pass", ""),
    ],
)
def test_docstring_is_a_statement_of_its_own(language: str, body: str, doc: str) -> None:
    assert [entity.doc for entity in found(language, f"def f():\n    {body}\n")][:1] == [doc]


@pytest.mark.parametrize(
    "head",
    [
        "class DLL_EXPORT Shape : public Base {",
        'class SHAPE_API("default") Shape final {',
        "struct MY_API ALIGNED(16)\n  Shape {",
        "template <typename T> class QT_EXPORT Shape<T> {",
        "class Shape {",
    ],
)
def test_macros_before_the_name_of_a_class_are_passed_over(head: str) -> None:
    code = f"namespace geometry {{\n{head}\n  int area() const {{ return 1; }}\n}};\n}}\nint after() {{ return 2; }}\n"
    entities = found("cpp", code)
    assert [entity.qualified for entity in entities] == [
        "geometry",
        "geometry.Shape",
        "geometry.Shape.area",
        "after",
    ]
    assert entities[1].kind in (Kind.CLASS, Kind.STRUCT) and entities[2].kind is Kind.METHOD
    assert " ".join(head.removesuffix("{").split()).endswith(entities[1].signature)
