"""Symbol extraction: the definitions in a syntax tree, with name, kind, lines, signature, docstring and nesting.

Works from the matches of a language's tree-sitter queries, and gives each definition its qualified name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import tree_sitter

from dowse.code.doc_comments import (
    MAX_DOC_CHARS,
    Comments,
    CommentsAbove,
    find_own_lines,
    last_row,
    strip_comment_marks,
    strip_quotes,
)
from dowse.code.languages.spec import Language
from dowse.code.parsing import Match
from dowse.types.source import Entity, Kind
from dowse.types.stored import make_rows

CLASS_LIKE = frozenset({Kind.CLASS, Kind.INTERFACE, Kind.TRAIT, Kind.STRUCT, Kind.ENUM, Kind.IMPL})
"""Kinds whose functions are methods."""

MAX_SIGNATURE_CHARS = 300
"""Longer signatures are cut: they are shown on one line and count in ranking."""

MAX_NAME_BYTES = 500
"""Longer names are cut: they are headings at best, and every definition inside repeats them."""

MAX_QUALIFIED_CHARS = 1000
"""The name of a definition does not begin with longer names around it: nesting that deep says nothing."""

_CALLABLE_KINDS = frozenset({Kind.FUNCTION, Kind.METHOD})

_LOCAL_KINDS = frozenset({Kind.VARIABLE, Kind.CONSTANT})
"""Kinds that are not definitions of their own inside a function."""

_LEAF_KINDS = _LOCAL_KINDS | {Kind.TYPE}
"""Kinds that contain no definitions: in ``typedef struct a {...} b`` the fields are those of ``a``."""

# Tables, because a member takes ten times as long to be found in its enumeration (in Python 3.11).
_KIND_IN_CLASS = {Kind.FUNCTION: Kind.METHOD}
_KIND_IN_CAPITALS = {Kind.VARIABLE: Kind.CONSTANT}

_CLAUSE_KINDS = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.MACRO})
"""Kinds that some languages write in pieces."""

_CLASS_BODIES = frozenset({"field_declaration_list"})

_STATEMENT_NODE = "expression_statement"
"""A string is documentation only as a statement of its own."""

_WORD = re.compile(r"\w")
_SPACE_BYTES = b" \t\r\n"
_KINDS = {kind.value: kind for kind in Kind}
_SCOPE_SEPARATOR = re.compile(r"::|\.|:|#|\\")
_Fields = tuple[str, str, Kind, int, int, int, int | None, str, str]
"""The fields of an entity."""

_Captures = dict[str, list[tree_sitter.Node]]


@dataclass(slots=True)
class _Definition:
    """A match of the query, before nesting is known. Rows are 0-based."""

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
class _OpenScope:
    """A definition, or the whole file, that may contain the next definition."""

    start_byte: int
    end_byte: int
    start_row: int | None  # None: of the file, which begins on the row of no definition
    qualified: str
    entity: int | None  # its index in the result
    kind: Kind | None


def find(language: Language, matches: Sequence[Match], content: bytes) -> tuple[Entity, ...]:
    """Extract the definitions of a file in the order they start, each after the one that contains it."""
    definitions, comments = _collect(language, matches, content)
    if language.clauses:
        definitions = _join_clauses(definitions)
    if language.prototypes:
        definitions = _drop_prototypes(definitions, content)
    rows = _nest(language, definitions, comments, content)
    return tuple(make_rows(Entity, rows))


def documentation(language: Language, matches: Sequence[Match], content: bytes) -> list[tuple[int, int]]:
    """Find the documentation of the entities in a file, as byte ranges."""
    definitions, comments = _collect(language, matches, content)
    inside = [_read_own_doc(language, d.captures, content) for d in definitions if d.kind]
    ranges = [place for text, place in inside if text]
    for entity in find(language, matches, content):
        above = [comments[row] for row in range(entity.start_line - 1, entity.line - 1) if row in comments]
        ranges += [place[1:] for found in above if (place := find_own_lines(*found, content))]
    return sorted(set(ranges))


def _collect(
    language: Language, matches: Sequence[Match], content: bytes
) -> tuple[list[_Definition], Comments]:
    """Collect the definitions among the matches, and the comments that may document them."""
    definitions: list[_Definition] = []
    comments: Comments = {}
    for pattern, captures in matches:
        if "comment" in captures:
            for node in captures["comment"]:
                comments[last_row(node, content)] = node, captures["doc"][0] if "doc" in captures else node
        elif "attribute" in captures:
            for node in captures["attribute"]:
                comments[last_row(node, content)] = node, None
        elif definition := _make_definition(language, pattern, captures, content):
            definitions.append(definition)
    return definitions, comments


def _make_definition(
    language: Language, pattern: int, captures: _Captures, content: bytes
) -> _Definition | None:
    names, nodes = captures.get("name"), captures.get("scope", [])
    kind = next((kind for capture in captures if (kind := _KINDS.get(capture))), None)
    if kind:
        nodes = captures[kind.value]
    if not nodes or not names:
        return None
    outer = nodes[0]
    while language.wrappers and (parent := outer.parent) is not None and parent.type in language.wrappers:
        outer = parent
    last = nodes[-1] if len(nodes) > 1 else outer
    start_byte, end_byte, end_row = outer.start_byte, last.end_byte, last.end_point[0]
    if end_byte > start_byte and content[end_byte - 1] in _SPACE_BYTES:  # some grammars count it in
        trimmed = start_byte + len(content[start_byte:end_byte].rstrip(_SPACE_BYTES))
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
        _read_name(names, content),
        _read_start(captures["owner"][0], content) if "owner" in captures else "",
        nodes[0],
        captures,
    )


def _read_name(nodes: list[tree_sitter.Node], content: bytes) -> str:
    """Read a name on one line, without the quotes of a quoted key; parts captured one by one are joined."""
    if len(nodes) == 1 and (name := _read_start(nodes[0], content)).isidentifier():
        return name
    names = (" ".join(_read_start(node, content).split()) for node in nodes)
    parts = (n[1:-1] if len(n) > 2 and n[0] == n[-1] and n[0] in "\"'" else n for n in names)
    return ".".join(parts)[:MAX_NAME_BYTES]


def _read_signature(d: _Definition, content: bytes) -> str:
    """Read the signature: up to the body; without one, all of a function, else up to the end of the name's line."""
    start = d.node.start_byte
    end = min(d.node.end_byte, start + MAX_SIGNATURE_CHARS * 4)
    if "body" in d.captures and (body := d.captures["body"][0].start_byte) > start:
        end = min(body, end)
    elif d.kind not in _CALLABLE_KINDS:
        line_end = content.find(b"\n", d.captures["name"][0].end_byte, end)
        end = line_end if line_end >= 0 else end
    return " ".join(content[start:end].decode("utf-8", "replace").split()).rstrip(" {:=\\")[
        :MAX_SIGNATURE_CHARS
    ]


def _read_own_doc(language: Language, captures: _Captures, content: bytes) -> tuple[str, tuple[int, int]]:
    """Read the documentation inside of a definition, and where it is."""
    if doc := captures.get("doc"):
        return strip_comment_marks(_read_text(doc[0], content))[:MAX_DOC_CHARS], (
            doc[0].start_byte,
            doc[0].end_byte,
        )
    body = captures.get("body")
    return _read_docstring(language, body[0], content) if language.docstring and body else ("", (0, 0))


def _read_docstring(
    language: Language, body: tree_sitter.Node, content: bytes
) -> tuple[str, tuple[int, int]]:
    node = body.named_child(0) if body.named_child_count else None  # an unfinished body may be empty
    if node is not None and node.type == _STATEMENT_NODE:
        node = node.named_child(0) if node.named_child_count == 1 else None
    if node is None or node.type != language.docstring:
        return "", (0, 0)
    text = strip_quotes(_read_text(node, content).strip()).strip()
    return "\n".join(map(str.strip, text.splitlines()))[:MAX_DOC_CHARS], (node.start_byte, node.end_byte)


def _nest(
    language: Language, definitions: Iterable[_Definition], comments: Comments, content: bytes
) -> Iterator[_Fields]:
    """Order definitions by position, give each its parent, qualified name and leading comments."""
    stack = [_OpenScope(0, len(content) + 1, None, "", None, None)]
    above = CommentsAbove(comments, content)
    seen: set[tuple[int, int, str]] = set()
    index = 0
    for d in sorted(definitions, key=_sort_key):
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
        if d.kind in _LOCAL_KINDS and outer.kind in _CALLABLE_KINDS:
            continue
        name, qualified = _qualify(d, outer)
        if d.kind is None:
            stack.append(_OpenScope(start_byte, end_byte, d.start_row, qualified, outer.entity, Kind.CLASS))
            continue
        kind = _refine_kind(d.kind, d, outer)
        start_line, doc = _read_doc(language, d, outer, above, content)
        end_line, line = d.end_row + 1, d.captures["name"][0].start_point[0] + 1
        signature = _read_signature(d, content)
        yield name, qualified, kind, start_line, end_line, line, outer.entity, signature, doc
        inner = _OpenScope(start_byte, end_byte, d.start_row, qualified, index, kind)
        index += 1
        if not beside:
            stack.append(inner)
        elif kind not in _LEAF_KINDS:
            stack[-1] = inner


def _sort_key(d: _Definition) -> tuple[int, int, int, int]:
    """Sort outer definitions before inner ones; at equal extent, by the position of the name, then by pattern."""
    return d.start_byte, -d.end_byte, d.name_byte, d.pattern


def _join_clauses(definitions: Iterable[_Definition]) -> list[_Definition]:
    """Join functions of one name that follow each other: Haskell's equations, Elixir's clauses."""
    joined: list[_Definition] = []
    piece: tuple[int, int] | None = None
    for d in sorted(definitions, key=_sort_key):
        last = joined[-1] if joined else d
        same = (last.kind, last.name, last.owner) == (d.kind, d.name, d.owner)
        if same and piece == (d.start_byte, d.end_byte):
            continue  # matched twice
        if same and d.kind in _CLAUSE_KINDS and last.end_byte <= d.start_byte:
            last.end_byte, last.end_row = d.end_byte, d.end_row
        else:
            joined.append(d)
        piece = (d.start_byte, d.end_byte)
    return joined


def _drop_prototypes(definitions: Sequence[_Definition], content: bytes) -> list[_Definition]:
    """Drop the declarations of functions that are defined beside them: the name means the definition.

    Methods stay: what a class declares is what it has. So does a function with another number of parameters.
    """
    functions = [d for d in definitions if d.kind is Kind.FUNCTION]
    bodies = {d.name for d in functions if "body" in d.captures}
    twins = [
        d for d in functions if d.name in bodies and d.node.parent and d.node.parent.type not in _CLASS_BODIES
    ]
    defined = {_identify(d, content) for d in twins if "body" in d.captures}
    dropped = {id(d) for d in twins if "body" not in d.captures and _identify(d, content) in defined}
    return [d for d in definitions if id(d) not in dropped]


def _identify(d: _Definition, content: bytes) -> tuple[str, str, int, int]:
    """Return what a prototype and its function have in common: name, owner, place and number of parameters."""
    body = d.captures["body"][0].start_byte if "body" in d.captures else d.end_byte
    return d.name, d.owner, d.node.parent.id if d.node.parent else 0, content.count(b",", d.name_byte, body)


def _qualify(d: _Definition, outer: _OpenScope) -> tuple[str, str]:
    """Return the name of a definition, alone and qualified by those around it."""
    name = d.name
    around = outer.qualified if len(outer.qualified) <= MAX_QUALIFIED_CHARS else ""
    if name.isidentifier() and not d.owner:
        return name, f"{around}.{name}" if around else name
    parts = _split_name(d)
    return parts[-1], ".".join(filter(None, [around, d.owner, *parts]))


def _split_name(definition: _Definition) -> list[str]:
    """Split ``a::b`` into scope and name; titles, sentences (names of tests) and operators stay whole."""
    name = definition.name
    whole = definition.kind in (Kind.SECTION, Kind.BLOCK) or not _WORD.search(name)
    if whole or (" " in name and "::" not in name):
        return [name]
    return [part for part in _SCOPE_SEPARATOR.split(name) if part] or [name]


def _refine_kind(kind: Kind, d: _Definition, outer: _OpenScope) -> Kind:
    """Refine a kind: a function inside a class is a method, a variable in capitals is a constant."""
    if kind in _KIND_IN_CLASS and (d.owner or outer.kind in CLASS_LIKE):
        return _KIND_IN_CLASS[kind]
    if kind in _KIND_IN_CAPITALS and d.name.isupper() and len(d.name) > 1:
        return _KIND_IN_CAPITALS[kind]
    return kind


def _read_doc(
    language: Language, d: _Definition, outer: _OpenScope, above: CommentsAbove, content: bytes
) -> tuple[int, str]:
    """Read the documentation above and inside of a definition; return also its first line, comments included."""
    start_row, comment = d.start_row, ""
    if outer.start_row != start_row:  # else the comment above documents the outer one
        start_row, comment = above[start_row]
    docstring, _ = _read_own_doc(language, d.captures, content)
    doc = f"{comment}\n{docstring}" if comment and docstring else comment or docstring
    return start_row + 1, doc[:MAX_DOC_CHARS]


def _read_start(node: tree_sitter.Node, content: bytes) -> str:
    """Read the text of a node, cut to what is kept of a name."""
    start, end = node.start_byte, node.end_byte
    return content[start : end if end - start <= MAX_NAME_BYTES else start + MAX_NAME_BYTES].decode(
        "utf-8", "replace"
    )


def _read_text(node: tree_sitter.Node, content: bytes) -> str:
    return content[node.start_byte : node.end_byte].decode("utf-8", "replace")
