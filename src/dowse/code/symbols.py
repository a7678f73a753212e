"""Finds the definitions in a syntax tree: name, kind, extent, signature, documentation, nesting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import tree_sitter

from dowse.code.languages.spec import Language
from dowse.code.parsing import Match
from dowse.types import Entity, Kind, named

CLASS_LIKE = frozenset({Kind.CLASS, Kind.INTERFACE, Kind.TRAIT, Kind.STRUCT, Kind.ENUM, Kind.IMPL})
"""Kinds whose functions are methods."""

MAX_SIGNATURE = 300
"""Longer signatures are cut: they are shown on one line and weigh on ranking."""

MAX_DOC = 2000
"""Longer documentation is cut: its beginning says what the thing is for."""

MAX_NAME = 500
"""Longer names are cut: they are headings at best, and every definition inside repeats them."""

MAX_QUALIFIED = 1000
"""The name of a definition does not begin with longer names around it: nesting that deep says nothing."""

_CALLABLE = frozenset({Kind.FUNCTION, Kind.METHOD})

_LOCAL = frozenset({Kind.VARIABLE, Kind.CONSTANT})
"""Kinds that are nobody's business but the function's they stand in."""

_LEAVES = _LOCAL | {Kind.TYPE}
"""Kinds that hold nothing: in ``typedef struct a {...} b`` the fields are those of ``a``."""

# Tables, because a member takes ten times as long to be found in its enumeration (in Python 3.11).
_IN_CLASS = {Kind.FUNCTION: Kind.METHOD}
_IN_CAPITALS = {Kind.VARIABLE: Kind.CONSTANT}

_WITH_CLAUSES = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.MACRO})
"""Kinds that some languages write in pieces."""

_STATEMENT = "expression_statement"
"""A string that is a statement of its own documents; one that is returned does not."""

_WORD = re.compile(r"\w")
_SPACE = b" \t\r\n"
_LINE_BREAK = ord("\n")
_KINDS = {kind.value: kind for kind in Kind}
_SCOPE_SEPARATOR = re.compile(r"::|\.|:|#|\\")
# From the line break on, so that a comment is taken apart at one go.
_COMMENT_HEAD = re.compile(
    r"\n[ \t]*(?:/\*+!?|\*+/|\*|//+[/!]?|#=|#+[!>]?|<#+|<!--+|--+(?:\[=*\[|[ \t]*[|^])?|;+|%+|\(\*+"
    r"|\{-+[ \t]*\|?|\"\"\"|'''|)[ \t]?"
)
# Each alternative begins with a character as it is, so that one is looked for before the expression is tried.
_COMMENT_TAIL = re.compile(r"(?:\*\**/|-\}|\*\)|\]=*\]|=#|##*>|--+>|\"\"\"|''')$")
_COMMENT_ENDS = ("*/", "-}", "*)", "]]", "=]", "=#", "#>", "-->", '"""', "'''")
_LAST_OF_ENDS = frozenset(end[-1] for end in _COMMENT_ENDS)
_QUOTES = ('"""', "'''", '"', "'")
_OPENING_QUOTES = re.compile(rf"[rRbBuUfF]*(?:{'|'.join(_QUOTES)})")

_Fields = tuple[str, str, Kind, int, int, int, int | None, str, str]
"""The fields of an entity."""

_Captures = dict[str, list[tree_sitter.Node]]

_Comments = dict[int, tuple[tree_sitter.Node, tree_sitter.Node | None]]
"""Comments and attributes by their last row, each with the part of it that is text."""


@dataclass(slots=True)
class _Definition:
    """One match of the query before nesting is known. Rows are 0-based."""

    start_byte: int
    end_byte: int
    start_row: int
    end_row: int
    name_byte: int
    pattern: int  # place of the pattern in the query
    kind: Kind | None  # None: only a scope
    name: str
    owner: str
    node: tree_sitter.Node
    captures: _Captures


@dataclass(slots=True)
class _Open:
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
    rows = _nest(language, definitions, comments, content)
    return tuple(named(Entity, rows))


def documentation(language: Language, matches: Sequence[Match], content: bytes) -> list[tuple[int, int]]:
    """Where in a file the documentation of its entities is written, as byte ranges."""
    definitions, comments = _sorted_out(language, matches, content)
    inside = [_documentation(language, d.captures, content) for d in definitions if d.kind]
    ranges = [place for text, place in inside if text]
    for entity in find(language, matches, content):
        above = [comments[row] for row in range(entity.start_line - 1, entity.line - 1) if row in comments]
        ranges += [place[1:] for found in above if (place := _with_own_lines(*found, content))]
    return sorted(set(ranges))


def _sorted_out(
    language: Language, matches: Sequence[Match], content: bytes
) -> tuple[list[_Definition], _Comments]:
    """What the query finds: definitions, and what may lead them."""
    definitions: list[_Definition] = []
    comments: _Comments = {}
    for pattern, captures in matches:
        if "comment" in captures:
            for node in captures["comment"]:
                comments[_last_row(node, content)] = node, captures["doc"][0] if "doc" in captures else node
        elif "attribute" in captures:
            for node in captures["attribute"]:
                comments[_last_row(node, content)] = node, None
        elif definition := _definition(language, pattern, captures, content):
            definitions.append(definition)
    return definitions, comments


def _last_row(node: tree_sitter.Node, content: bytes) -> int:
    """The row a comment ends on; some grammars count the line break in."""
    row = node.end_point[0]
    if content[node.end_byte - 1] == _LINE_BREAK and row > node.start_point[0]:
        return row - 1
    return row


def _definition(language: Language, pattern: int, captures: _Captures, content: bytes) -> _Definition | None:
    names = captures.get("name")
    nodes, kind = _kind_of(captures)
    if not nodes or not names:
        return None
    outer = nodes[0]
    while language.wrappers and (parent := outer.parent) is not None and parent.type in language.wrappers:
        outer = parent
    last = nodes[-1] if len(nodes) > 1 else outer
    start_byte, end_byte, end_row = outer.start_byte, last.end_byte, last.end_point[0]
    if end_byte > start_byte and content[end_byte - 1] in _SPACE:  # some grammars count it in
        trimmed = start_byte + len(content[start_byte:end_byte].rstrip(_SPACE))
        end_row -= content.count(b"\n", trimmed, end_byte)
        end_byte = trimmed
    return _Definition(
        start_byte,
        end_byte,
        outer.start_point[0],
        end_row,
        names[0].start_byte,
        pattern,
        kind,
        _name(names, content),
        _beginning(captures["owner"][0], content) if "owner" in captures else "",
        nodes[0],
        captures,
    )


def _kind_of(captures: _Captures) -> tuple[list[tree_sitter.Node], Kind | None]:
    for capture, nodes in captures.items():
        if kind := _KINDS.get(capture):
            return nodes, kind
    return captures.get("scope", []), None


def _name(nodes: list[tree_sitter.Node], content: bytes) -> str:
    """The name on one line, without the quotes of a quoted key; parts captured one by one are joined."""
    if len(nodes) == 1 and (name := _beginning(nodes[0], content)).isidentifier():
        return name
    names = (" ".join(_beginning(node, content).split()) for node in nodes)
    parts = (n[1:-1] if len(n) > 2 and n[0] == n[-1] and n[0] in "\"'" else n for n in names)
    return ".".join(parts)[:MAX_NAME]


def _signature(d: _Definition, content: bytes) -> str:
    """A definition's text up to its body; without one all of a function, else up to the line of the name."""
    start = d.node.start_byte
    end = min(d.node.end_byte, start + MAX_SIGNATURE * 4)
    if "body" in d.captures and (body := d.captures["body"][0].start_byte) > start:
        end = min(body, end)
    elif d.kind not in _CALLABLE:
        line_end = content.find(b"\n", d.captures["name"][0].end_byte, end)
        end = line_end if line_end >= 0 else end
    return " ".join(content[start:end].decode("utf-8", "replace").split()).rstrip(" {:=\\")[:MAX_SIGNATURE]


def _documentation(language: Language, captures: _Captures, content: bytes) -> tuple[str, tuple[int, int]]:
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
    text = _unquoted(_text(node, content).strip()).strip()
    return "\n".join(map(str.strip, text.splitlines()))[:MAX_DOC], (node.start_byte, node.end_byte)


def _unquoted(text: str) -> str:
    """A text without the quotes around it; a broken one may lack some."""
    opening = _OPENING_QUOTES.match(text)
    text = text[opening.end() :] if opening else text
    closing = next(filter(text.endswith, _QUOTES), "")
    return text.removesuffix(closing)


def _nest(
    language: Language, definitions: Iterable[_Definition], comments: _Comments, content: bytes
) -> Iterator[_Fields]:
    """Order definitions by position, give each its parent, qualified name and leading comments."""
    stack = [_Open(-1, len(content) + 1, -1, "", None, None)]
    above = _Above(comments, content)
    seen: set[tuple[int, int, str]] = set()
    index = 0
    for d in sorted(definitions, key=_position):
        start_byte, end_byte = d.start_byte, d.end_byte
        if (place := (start_byte, end_byte, d.name)) in seen:
            continue
        seen.add(place)
        while stack[-1].end_byte < end_byte:
            stack.pop()
        outer = stack[-1]
        beside = outer.start_byte == start_byte and outer.end_byte == end_byte  # "int a, b;"
        if beside:
            outer = stack[-2]
        if d.kind in _LOCAL and outer.kind in _CALLABLE:
            continue
        name, qualified = _names(d, outer)
        if d.kind is None:
            stack.append(_Open(start_byte, end_byte, d.start_row, qualified, outer.entity, Kind.CLASS))
            continue
        kind = _refined(d.kind, d, outer)
        start_line, doc = _documented(language, d, outer, above, content)
        end_line, line = d.end_row + 1, d.captures["name"][0].start_point[0] + 1
        signature = _signature(d, content)
        yield name, qualified, kind, start_line, end_line, line, outer.entity, signature, doc
        inner = _Open(start_byte, end_byte, d.start_row, qualified, index, kind)
        index += 1
        if not beside:
            stack.append(inner)
        elif kind not in _LEAVES:
            stack[-1] = inner


def _position(d: _Definition) -> tuple[int, int, int, int]:
    """The outer before the inner, of one place the name that stands first, the pattern that is written first."""
    return d.start_byte, -d.end_byte, d.name_byte, d.pattern


def _joined(definitions: Iterable[_Definition]) -> list[_Definition]:
    """Functions of one name that follow each other as one: Haskell's equations, Elixir's clauses."""
    joined: list[_Definition] = []
    piece = (-1, -1)
    for d in sorted(definitions, key=_position):
        last = joined[-1] if joined else d
        same = (last.kind, last.name, last.owner) == (d.kind, d.name, d.owner)
        if same and piece == (d.start_byte, d.end_byte):
            continue  # matched twice
        if same and d.kind in _WITH_CLAUSES and last.end_byte <= d.start_byte:
            last.end_byte, last.end_row = d.end_byte, d.end_row
        else:
            joined.append(d)
        piece = (d.start_byte, d.end_byte)
    return joined


def _names(d: _Definition, outer: _Open) -> tuple[str, str]:
    """The name of a definition, alone and with those around it."""
    name = d.name
    around = outer.qualified if len(outer.qualified) <= MAX_QUALIFIED else ""
    if name.isidentifier() and not d.owner:
        return name, f"{around}.{name}" if around else name
    parts = _parts(d)
    return parts[-1], ".".join(filter(None, [around, d.owner, *parts]))


def _parts(definition: _Definition) -> list[str]:
    """The scope and the name in ``a::b``; titles, sentences (names of tests) and operators stay whole."""
    name = definition.name
    whole = definition.kind in (Kind.SECTION, Kind.BLOCK) or not _WORD.search(name)
    if whole or (" " in name and "::" not in name):
        return [name]
    return [part for part in _SCOPE_SEPARATOR.split(name) if part] or [name]


def _refined(kind: Kind, d: _Definition, outer: _Open) -> Kind:
    """What the query calls a function is a method inside a class; a variable in capitals is a constant."""
    if kind in _IN_CLASS and (d.owner or outer.kind in CLASS_LIKE):
        return _IN_CLASS[kind]
    if kind in _IN_CAPITALS and d.name.isupper() and len(d.name) > 1:
        return _IN_CAPITALS[kind]
    return kind


def _documented(
    language: Language, d: _Definition, outer: _Open, above: _Above, content: bytes
) -> tuple[int, str]:
    """The line a definition starts on with what stands above it, and what is said about it there and inside."""
    start_row, comment = d.start_row, ""
    if outer.start_row != start_row:  # else what stands above is about the outer one
        start_row, comment = above[start_row]
    docstring, _ = _documentation(language, d.captures, content)
    doc = f"{comment}\n{docstring}" if comment and docstring else comment or docstring
    return start_row + 1, doc[:MAX_DOC]


class _Above(dict[int, tuple[int, str]]):
    """The comments above each row, read once: thousands of definitions may stand on one."""

    def __init__(self, comments: _Comments, content: bytes) -> None:
        self._comments, self._content = comments, content

    def __missing__(self, row: int) -> tuple[int, str]:
        found = self[row] = _leading_comment(row, self._comments, self._content)
        return found


def _leading_comment(row: int, comments: _Comments, content: bytes) -> tuple[int, str]:
    """The first row and the cleaned text of the comments that stand directly above this row."""
    first, pieces = row, []
    while (found := comments.get(first - 1)) and (place := _with_own_lines(*found, content)):
        first, start_byte, end_byte = place
        pieces.append(content[start_byte:end_byte])
    if not pieces:
        return row, ""
    return first, _uncommented(b"\n".join(reversed(pieces)).decode("utf-8", "replace"))


def _with_own_lines(
    node: tree_sitter.Node, text: tree_sitter.Node | None, content: bytes
) -> tuple[int, int, int] | None:
    """The first row and the place of the text of what has its lines to itself; else it is about the code beside it."""
    start_byte, end_byte = node.start_byte, node.end_byte
    row, column = node.start_point
    end_byte -= content[end_byte - 1 : end_byte] == b"\n"
    if content[start_byte - column : start_byte].strip() or _rest_of_line(content, end_byte).strip():
        return None
    if text is None:
        return row, start_byte, start_byte
    if text is node or text.id == node.id:
        return row, start_byte, end_byte
    return row, text.start_byte, text.end_byte


def _rest_of_line(content: bytes, start: int) -> bytes:
    if content[start : start + 1] == b"\n":  # as nearly always
        return b""
    line_end = content.find(b"\n", start)
    return content[start : line_end if line_end >= 0 else None]


def _uncommented(text: str) -> str:
    """The text of a comment without the marks of its language."""
    lines = map(str.rstrip, _COMMENT_HEAD.split("\n" + text[: 2 * MAX_DOC]))
    cleaned = [_without_tail(line) if line and line[-1] in _LAST_OF_ENDS else line for line in lines]
    return "\n".join(cleaned).strip()


def _without_tail(line: str) -> str:
    return _COMMENT_TAIL.sub("", line).rstrip(" \t") if line.endswith(_COMMENT_ENDS) else line


def _beginning(node: tree_sitter.Node, content: bytes) -> str:
    """Read a node's text, as much of it as is kept of a name."""
    start, end = node.start_byte, node.end_byte
    return content[start : end if end - start <= MAX_NAME else start + MAX_NAME].decode("utf-8", "replace")


def _text(node: tree_sitter.Node, content: bytes) -> str:
    return content[node.start_byte : node.end_byte].decode("utf-8", "replace")
