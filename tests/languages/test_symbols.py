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


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_prototype_stands_back_for_the_function_that_the_file_defines(language: str) -> None:
    code = (
        "static int dial(int port);\nint send(int count);\n\nstatic int dial(int port) {\n  return port;\n}\n"
    )
    assert [(entity.name, entity.start_line, entity.end_line) for entity in found(language, code)] == [
        ("send", 2, 2),
        ("dial", 4, 6),
    ]


def test_a_prototype_of_another_namespace_is_a_function_of_its_own() -> None:
    code = "namespace a {\nint dial();\n}\nnamespace b {\nint dial() { return 1; }\n}\nclass C {\n  int dial();\n"
    code += "  int dial() const { return 2; }\n};\nint dial(int port, int way);\nint dial() { return 3; }\n"
    names = [entity.qualified for entity in found("cpp", code) if entity.name == "dial"]
    assert names == ["a.dial", "b.dial", "C.dial", "C.dial", "dial", "dial"]
