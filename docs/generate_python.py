"""Writes docs/python.md, the reference of the Python API by its docstrings; with --check only says if it is current."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import dowse
from dowse import errors
from dowse.graph.api import CodeGraph
from dowse.search.commit_search import CodeHistory
from dowse.types import answers, commit_values, graph_values, stored
from dowse.types.graph_values import GraphAnswer, Walk

PAGE = Path(__file__).with_name("python.md")

INTRODUCTION = """\
# Python API

This page is written by `docs/generate_python.py` from signatures and docstrings. What is on it is the public API: it
changes as [the version number says](versions.md). Other modules are internal.

```python
from dowse import Engine, SearchOptions

with Engine.open("~/src/some-project") as engine:
    response = engine.search("where are changed files noticed", SearchOptions(limit=5))
    for hit in response.results:
        print(f"{hit.path}:{hit.start_line}-{hit.end_line} {hit.entity} {hit.relevance:.2f}")
        print("   ", ", ".join(f"{reason.name} {reason.value:+.2f}" for reason in hit.reasons))
    for step in engine.graph.callers("Session.send").steps:
        print(step.node)
    for found in engine.history.search("why was retry added").commits:
        print(found)
```

An engine is safe to use from several threads. Every error that dowse raises on purpose is a `DowseError`.
"""

SECTIONS: tuple[tuple[str, type, ModuleType | None], ...] = (
    ("Engine", dowse.Engine, None),
    ("SearchOptions", dowse.SearchOptions, answers),
    ("SearchResponse", dowse.SearchResponse, answers),
    ("SearchResult", dowse.SearchResult, answers),
    ("Reason", answers.Reason, answers),
    ("Filter", dowse.Filter, stored),
    ("engine.graph", CodeGraph, None),
    ("Walk", Walk, graph_values),
    ("GraphAnswer", GraphAnswer, graph_values),
    ("engine.history", CodeHistory, None),
    ("HistoryOptions", commit_values.HistoryOptions, commit_values),
)
"""Heading, class, and the module with the source of its fields, for classes that are used by their fields."""


def make_page() -> str:
    """Make the page: a section for each class, and a table of errors."""
    lines = [INTRODUCTION]
    for heading, value, module in SECTIONS:
        lines += [f"## {heading}\n", f"{_format_doc(value)}\n"]
        lines += _list_fields(value, module) if module else _list_methods(value)
    return "\n".join([*lines, *_list_errors()])


def _format_doc(value: Any) -> str:
    return re.sub(r"``", "`", inspect.getdoc(value) or "")


def _list_methods(owner: type) -> Iterator[str]:
    members = {name: member for one in reversed(owner.__mro__) for name, member in vars(one).items()}
    own = list(vars(owner))
    for name in [*own, *(each for each in members if each not in own)]:
        member = members[name]
        if name.startswith("_") or not (doc := inspect.getdoc(member)):
            continue
        if isinstance(member, (property, cached_property)):
            yield f"### `{name}`\n"
        else:
            function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
            yield f"### `{name}{_format_signature(function)}`\n"
        yield f"{doc.replace('``', '`')}\n"


def _format_signature(function: Any) -> str:
    signature = inspect.signature(function)
    without_self = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    return str(signature.replace(parameters=without_self)).replace("'", "")


def _list_fields(owner: type, module: ModuleType) -> Iterator[str]:
    """List the fields of a value class with their types, defaults, and the comments beside them."""
    source = inspect.getsource(module)
    lines = source.splitlines()
    (node,) = (
        each
        for each in ast.walk(ast.parse(source))
        if isinstance(each, ast.ClassDef) and each.name == owner.__name__
    )
    yield "| field | type | default | |\n|---|---|---|---|"
    for field in node.body:
        if not isinstance(field, ast.AnnAssign):
            continue
        default = f"`{ast.unparse(field.value)}`" if field.value else ""
        comment = lines[field.lineno - 1].partition("  # ")[2]
        kind = ast.unparse(field.annotation).replace("|", "\\|")
        yield f"| `{ast.unparse(field.target)}` | `{kind}` | {default} | {comment.replace('|', chr(92) + '|')} |"
    yield ""


def _list_errors() -> Iterator[str]:
    yield "## Errors\n"
    yield "| error | exit code of the command | when |\n|---|---:|---|"
    for name, member in vars(errors).items():
        if inspect.isclass(member) and issubclass(member, errors.DowseError):
            first = _format_doc(member).split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            yield f"| `{name}` | {member.exit_code} | {first} |"
    yield ""


if __name__ == "__main__":
    from generated_page import write_or_check

    sys.exit(write_or_check(PAGE, make_page()))
