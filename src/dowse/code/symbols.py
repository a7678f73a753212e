"""Finds the definitions in a syntax tree: name, kind, extent, signature, documentation, nesting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import tree_sitter

from dowse.code.languages.base import Language
from dowse.code.parsing import Match
from dowse.types import Entity, Kind

CLASS_LIKE = frozenset({Kind.CLASS, Kind.INTERFACE, Kind.TRAIT, Kind.STRUCT, Kind.ENUM, Kind.IMPL})
"""Kinds whose functions are methods."""

MAX_SIGNATURE = 300
"""Longer signatures are cut: they are shown on one line and weigh on ranking."""

MAX_DOC = 2000
"""Longer documentation is cut: its beginning says what the thing is for."""

_CALLABLE = frozenset({Kind.FUNCTION, Kind.METHOD})

_LOCAL = frozenset({Kind.VARIABLE, Kind.CONSTANT})
"""Kinds that are nobody's business but the function's they stand in."""

_LEAVES = _LOCAL | {Kind.TYPE}
"""Kinds that hold nothing: in ``typedef struct a {...} b`` the fields are those of ``a``."""

_WITH_CLAUSES = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.MACRO})
"""Kinds that some languages write in pieces."""

_STATEMENT = "expression_statement"
"""A string that is a statement of its own documents; one that is returned does not."""

_WORD = re.compile(r"\w")
_SPACE = b" \t\r\n"
_LINE_BREAK = ord("\n")
_KINDS = {kind.value: kind for kind in Kind}
_SCOPE_SEPARATOR = re.compile(r"::|\.|:|#|\\")
_COMMENT_HEAD = re.compile(
    r"[ \t]*(?:/\*+!?|\*+/|\*|//+[/!]?|#=|#+[!>]?|<#+|<!--+|--+(?:\[=*\[|[ \t]*[|^])?|;+|%+|\(\*+"
    r"|\{-+[ \t]*\|?|\"\"\"|''')?[ \t]?"
)
_COMMENT_TAIL = re.compile(r"[ \t]*(?:\*+/|-\}|\*\)|\]=*\]|=#|#+>|--+>|\"\"\"|''')$")
_COMMENT_ENDS = frozenset("/})]#>\"'")
_DOCSTRING_QUOTES = re.compile(r"^[rRbBuUfF]*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$")


class _Definition(NamedTuple):
    """One match of the query before nesting is known. Rows are 0-based."""

    start_byte: int
    end_byte: int
    start_row: int
    end_row: int
    name_byte: int
    name_row: int
    pattern: int  # place of the pattern in the query
    kind: Kind | None  # None: only a scope
    name: str
    owner: str
    signature: str
    docstring: str
    doc_bytes: tuple[int, int]  # where the docstring is written


class _Open(NamedTuple):
    """A definition, or the whole file, that the next definition may lie in."""

    start_byte: int
    end_byte: int
    start_row: int
    qualified: str
    entity: int | None  # its place in what is returned
    kind: Kind | None


def find(language: Language, matches: Sequence[Match], content: bytes) -> tuple[Entity, ...]:
    """The entities of a file in the order they start, each after the one that encloses it."""
    definitions, comments = _sorted_out(language, matches, content)
    if language.clauses:
        definitions = _joined(definitions)
    return tuple(_nest(definitions, comments, content))


def documentation(language: Language, matches: Sequence[Match], content: bytes) -> list[tuple[int, int]]:
    """Where in a file the documentation of its entities is written, as byte ranges."""
    definitions, comments = _sorted_out(language, matches, content)
    ranges = [d.doc_bytes for d in definitions if d.kind and d.docstring]
    for entity in find(language, matches, content):
        rows = range(entity.start_line - 1, entity.line - 1)
        ranges += [comments[row][1:] for row in rows if row in comments]
    return sorted(set(ranges))


def _sorted_out(
    language: Language, matches: Sequence[Match], content: bytes
) -> tuple[list[_Definition], dict[int, tuple[int, int, int]]]:
    """What the query finds: definitions, and comments by their last row (first row, byte range)."""
    definitions: list[_Definition] = []
    comments: dict[int, tuple[int, int, int]] = {}
    for pattern, captures in matches:
        if found := captures.get("comment"):
            for node in found:
                _add_leading(comments, node, content, captures.get("doc", [node])[0])
        elif found := captures.get("attribute"):
            for node in found:
                _add_leading(comments, node, content, None)
        elif definition := _definition(language, pattern, captures, content):
            definitions.append(definition)
    return definitions, comments


def _add_leading(
    comments: dict[int, tuple[int, int, int]],
    node: tree_sitter.Node,
    content: bytes,
    text: tree_sitter.Node | None,
) -> None:
    """Note a comment or an attribute that has its lines to itself; others concern the code beside them."""
    start_byte, end_byte = node.start_byte, node.end_byte
    start, end = node.start_point[0], node.end_point[0]
    if content[end_byte - 1 : end_byte] == b"\n":
        end_byte -= 1  # some grammars count the line break in
        end -= end > start
    line_start = content.rfind(b"\n", 0, start_byte) + 1
    line_end = content.find(b"\n", end_byte)
    if (
        content[line_start:start_byte].strip()
        or content[end_byte : line_end if line_end >= 0 else None].strip()
    ):
        return
    if text is not None and text.id != node.id:
        start_byte, end_byte = text.start_byte, text.end_byte
    comments[end] = (start, start_byte, end_byte if text is not None else start_byte)


def _definition(
    language: Language, pattern: int, captures: dict[str, list[tree_sitter.Node]], content: bytes
) -> _Definition | None:
    names = captures.get("name")
    nodes, kind = _kind_of(captures)
    if not nodes or not names:
        return None
    outer = nodes[0]
    while language.wrappers and (parent := outer.parent) is not None and parent.type in language.wrappers:
        outer = parent
    body = captures.get("body")
    owner = captures.get("owner")
    last = nodes[-1] if len(nodes) > 1 else outer
    end_byte, end_row = last.end_byte, last.end_point[0]
    while end_byte > outer.start_byte and content[end_byte - 1] in _SPACE:  # some grammars count it in
        end_byte -= 1
        end_row -= content[end_byte] == _LINE_BREAK
    return _Definition(
        outer.start_byte,
        end_byte,
        outer.start_point[0],
        end_row,
        names[0].start_byte,
        names[0].start_point[0],
        pattern,
        kind,
        _name(names, content),
        _text(owner[0], content) if owner else "",
        _signature(nodes[0], kind, names[0], body[0] if body else None, content),
        *_documentation(language, captures, content),
    )


def _kind_of(captures: dict[str, list[tree_sitter.Node]]) -> tuple[list[tree_sitter.Node], Kind | None]:
    for capture, nodes in captures.items():
        if kind := _KINDS.get(capture):
            return nodes, kind
    return captures.get("scope", []), None


def _name(nodes: list[tree_sitter.Node], content: bytes) -> str:
    """The name on one line, without the quotes of a quoted key; parts captured one by one are joined."""
    if len(nodes) == 1 and (name := _text(nodes[0], content)).isidentifier():
        return name
    names = (" ".join(_text(node, content).split()) for node in nodes)
    return ".".join(n[1:-1] if len(n) > 2 and n[0] == n[-1] and n[0] in "\"'" else n for n in names)


def _signature(
    node: tree_sitter.Node,
    kind: Kind | None,
    name: tree_sitter.Node,
    body: tree_sitter.Node | None,
    content: bytes,
) -> str:
    """A definition's text up to its body; without one all of a function, else up to the line of the name."""
    start, end = node.start_byte, node.end_byte
    if body is not None and body.start_byte > start:
        end = body.start_byte
    elif kind not in _CALLABLE and (line_end := content.find(b"\n", name.end_byte, end)) >= 0:
        end = line_end
    raw = content[start : min(end, start + MAX_SIGNATURE * 4)]
    return " ".join(raw.decode("utf-8", "replace").split()).rstrip(" {:=\\")[:MAX_SIGNATURE]


def _documentation(
    language: Language, captures: dict[str, list[tree_sitter.Node]], content: bytes
) -> tuple[str, tuple[int, int]]:
    """What the definition says about itself, inside of it, and where."""
    if doc := captures.get("doc"):
        return _uncommented(_text(doc[0], content))[:MAX_DOC], (doc[0].start_byte, doc[0].end_byte)
    body = captures.get("body")
    return _docstring(language, body[0], content) if language.docstring and body else ("", (0, 0))


def _docstring(language: Language, body: tree_sitter.Node, content: bytes) -> tuple[str, tuple[int, int]]:
    node = body.named_child(0) if body.named_child_count else None  # a body may not be written yet
    if node is not None and node.type == _STATEMENT:
        node = node.named_child(0) if node.named_child_count == 1 else None
    if node is None or node.type != language.docstring:
        return "", (0, 0)
    text = _DOCSTRING_QUOTES.sub("", _text(node, content).strip())
    lines = "\n".join(line.strip() for line in text.strip().splitlines())[:MAX_DOC]
    return lines, (node.start_byte, node.end_byte)


def _nest(
    definitions: Iterable[_Definition], comments: dict[int, tuple[int, int, int]], content: bytes
) -> Iterable[Entity]:
    """Order definitions by position, give each its parent, qualified name and leading comments."""
    stack = [_Open(-1, len(content) + 1, -1, "", None, None)]
    seen: set[tuple[int, int, str]] = set()
    index = 0
    for d in sorted(definitions, key=lambda d: (d.start_byte, -d.end_byte, d.name_byte, d.pattern)):
        if (d.start_byte, d.end_byte, d.name) in seen:
            continue
        seen.add((d.start_byte, d.end_byte, d.name))
        while stack[-1].end_byte < d.end_byte:
            stack.pop()
        beside = (stack[-1].start_byte, stack[-1].end_byte) == (d.start_byte, d.end_byte)  # "int a, b;"
        outer = stack[-2] if beside else stack[-1]
        if d.kind in _LOCAL and outer.kind in _CALLABLE:
            continue
        parts = _parts(d)
        qualified = ".".join(filter(None, [outer.qualified, d.owner, *parts]))
        if d.kind is None:
            stack.append(_Open(d.start_byte, d.end_byte, d.start_row, qualified, outer.entity, Kind.CLASS))
            continue
        kind = _refined(d, outer.kind)
        start_row, comment = d.start_row, ""
        if outer.start_row != d.start_row:  # else what stands above is about the outer one
            start_row, comment = _leading_comment(d.start_row, comments, content)
        doc = "\n".join(filter(None, [comment, d.docstring]))[:MAX_DOC]
        lines = (start_row + 1, d.end_row + 1, d.name_row + 1)
        yield Entity(parts[-1], qualified, kind, *lines, outer.entity, d.signature, doc)
        inner = _Open(d.start_byte, d.end_byte, d.start_row, qualified, index, kind)
        index += 1
        if not beside:
            stack.append(inner)
        elif kind not in _LEAVES:
            stack[-1] = inner


def _joined(definitions: Iterable[_Definition]) -> list[_Definition]:
    """Functions of one name that follow each other as one: Haskell's equations, Elixir's clauses."""
    joined: list[_Definition] = []
    piece = (-1, -1)
    for d in sorted(definitions, key=lambda d: (d.start_byte, -d.end_byte, d.name_byte, d.pattern)):
        last = joined[-1] if joined else d
        same = (last.kind, last.name, last.owner) == (d.kind, d.name, d.owner)
        if same and piece == (d.start_byte, d.end_byte):
            continue  # matched twice
        if same and d.kind in _WITH_CLAUSES and last.end_byte <= d.start_byte:
            joined[-1] = last._replace(end_byte=d.end_byte, end_row=d.end_row)
        else:
            joined.append(d)
        piece = (d.start_byte, d.end_byte)
    return joined


def _parts(definition: _Definition) -> list[str]:
    """The scope and the name in ``a::b``; titles, sentences (names of tests) and operators stay whole."""
    name = definition.name
    if name.isidentifier():
        return [name]
    whole = definition.kind in (Kind.SECTION, Kind.BLOCK) or not _WORD.search(name)
    if whole or (" " in name and "::" not in name):
        return [name]
    return [part for part in _SCOPE_SEPARATOR.split(name) if part] or [name]


def _refined(definition: _Definition, around: Kind | None) -> Kind:
    """What the query calls a function is a method inside a class; a variable in capitals is a constant."""
    kind = definition.kind or Kind.CLASS
    if kind is Kind.FUNCTION and (definition.owner or around in CLASS_LIKE):
        return Kind.METHOD
    if kind is Kind.VARIABLE and definition.name.isupper() and len(definition.name) > 1:
        return Kind.CONSTANT
    return kind


def _leading_comment(row: int, comments: dict[int, tuple[int, int, int]], content: bytes) -> tuple[int, str]:
    """The first row and the cleaned text of the comments that stand directly above this row."""
    first, pieces = row, []
    while found := comments.get(first - 1):
        first, start_byte, end_byte = found
        pieces.append(content[start_byte:end_byte].decode("utf-8", "replace"))
    if not pieces:
        return row, ""
    return first, _uncommented("\n".join(reversed(pieces)))


def _uncommented(text: str) -> str:
    """The text of a comment without the marks of its language."""
    return "\n".join(map(_uncommented_line, text[: 2 * MAX_DOC].split("\n"))).strip()


def _uncommented_line(line: str) -> str:
    head = _COMMENT_HEAD.match(line)
    line = line[head.end() if head else 0 :].rstrip()
    return _COMMENT_TAIL.sub("", line) if line[-1:] in _COMMENT_ENDS else line


def _text(node: tree_sitter.Node, content: bytes) -> str:
    return content[node.start_byte : node.end_byte].decode("utf-8", "replace")
