"""Definitions: what documents them."""

from __future__ import annotations

import pytest

from dowse.code import parsing, symbols
from dowse.code.languages import builtin
from dowse.types import Entity


def found(language: str, text: str) -> tuple[Entity, ...]:
    row = builtin().named(language)
    tree, _ = parsing.parse(row, text.encode())
    return symbols.find(row, parsing.matches(row, tree).definitions, text.encode())


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
