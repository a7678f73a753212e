"""Finds what a file mentions: imports, calls, base types, and what its names are bound to.

Which definitions they mean is not decided here. Expressions are kept as *chains*: names joined by dots, ``()``
for a call, ``|`` between alternatives, ``!`` for what an optional value holds, ``?`` for what cannot be followed:
``self.pool.get().release``.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import itemgetter

import tree_sitter

from dowse.code import parsing
from dowse.code.languages.spec import Language
from dowse.code.parsing import Match
from dowse.serialization import as_json, deflated
from dowse.types import Entity, Kind, Outline, Reference, ReferenceKind, References

MAX_DETAIL = 200
"""Longer types, import clauses and chains say nothing that can be followed."""

MAX_LINKED = 200_000
"""Bytes of a text in which links are looked for."""

MAX_DEPTH = 12
"""Links of a chain that are followed; generated code has thousands."""

MAX_EXPRESSION = 2_000
"""Bytes of an expression whose text is read: in a long chain, each call holds the text of all before it."""

UNKNOWN = "?"

_REMEMBERED = 1 << 12
"""Names and types that are kept as they were read: the files of a tree have the same ones again and again."""

OUTLINED = frozenset(Kind) - {Kind.CONSTANT, Kind.VARIABLE, Kind.BLOCK, Kind.SECTION}
"""The kinds that the graph has nodes for; a variable is part of what it stands in."""

_KINDS = {kind.value: kind for kind in ReferenceKind}
_LISTED = "listed"
_LISTS = frozenset({"use_list", "scoped_use_list", "use_as_clause", "use_wildcard"})
_WHOLE = {"called": ReferenceKind.CALL, "decorated": ReferenceKind.DECORATOR}
_CAPTURED = _KINDS | _WHOLE | {_LISTED: ReferenceKind.IMPORT}
_GIVEN = frozenset({ReferenceKind.RETURN, ReferenceKind.YIELD})
_QUOTES = ('""', "''", "``", "<>")
_PLAIN = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*\Z")
_DETAILS = (
    ("through", None), ("type", ":"), ("value", None), ("each", None),
    ("default", "default as "), ("namespace", "* as "), ("reexport", "export "), ("names", ""),
)  # fmt: skip
"""Captures beside the target, the first that is there: what is written before its text; none if it is a chain."""
_Reading = tuple[str, ReferenceKind, bool, bool, tuple[tuple[str, str | None], ...]]
"""A capture that is a mention and its kind, whether it is all of ``a.b`` where others are ``b`` alone, whether it is a
chain, and the captures that may stand beside it. A plain tuple, because it is taken apart for every match."""
_MEMBERS = {
    "attribute": ("object", "attribute"),
    "member_expression": ("object", "property"),
    "selector_expression": ("operand", "field"),
    "field_access": ("object", "field"),
    "field_expression": ("value", "field"),
    "member_access_expression": ("expression", "name"),
    "nested_identifier": ("object", "property"),
    "navigation_expression": ("", ""),
    "qualified_type": ("package", "name"),
    "scoped_identifier": ("path", "name"),
    "scoped_type_identifier": ("path", "name"),
    "scope_resolution": ("scope", "name"),
}
"""Nodes that take a member of something: the fields of the two (none: the first and the last
child). Where there is no such object, the name is all."""
_CALLS = {
    "call": "function",
    "call_expression": "function",
    "invocation_expression": "function",
    "new_expression": "constructor",
    "object_creation_expression": "type",
    "struct_expression": "name",
    "composite_literal": "type",
    "function_call_expression": "function",
    "method_invocation": "function",
    "member_call_expression": "function",
    "nullsafe_member_call_expression": "function",
    "scoped_call_expression": "function",
}
"""Nodes that call something or make an object, and the field that says of what; of some, it is two fields."""
_RECEIVERS = ("receiver", "object", "scope")
_ITEMS = frozenset({"subscript", "subscript_expression", "index_expression", "element_access_expression"})
_THROUGH = frozenset({
    "await", "await_expression", "parenthesized_expression", "non_null_expression", "as_expression",
    "satisfies_expression", "unary_expression", "reference_expression", "pointer_expression", "try_expression",
    "expression_list", "generic_type", "pointer_type", "argument", "generic_function",
})  # fmt: skip
"""Nodes that are, for our purpose, what their first child is."""
_TRIED = "try_expression"
_LITERALS = frozenset({
    "string", "integer", "float", "number", "list", "dictionary", "tuple", "array", "object", "template_string",
    "interpreted_string_literal", "int_literal", "string_literal", "integer_literal", "number_literal",
})  # fmt: skip
"""Frequent values that name nothing; the other ones that name nothing are only found out later."""
_EITHER = frozenset({"boolean_operator", "conditional_expression", "ternary_expression", "binary_expression"})
_EITHER_OPERATORS = frozenset({"or", "||", "??", "and", "&&", ""})
_NAMES = frozenset({
    "identifier", "type_identifier", "constant", "this", "super", "self", "name", "variable_name",
    "property_identifier", "field_identifier", "package_identifier", "private_property_identifier",
    "instance_variable", "simple_identifier",
})  # fmt: skip


def find(language: Language, matches: Sequence[Match], content: bytes) -> References:
    """What a file mentions, by kind in order of position, each once per line."""
    found: list[tuple[int, ReferenceKind, Reference]] = []
    said = _Said(content)
    readings = _readings(language.grammar, language.definitions, language.references) if matches else []
    for pattern, captures in matches:
        for capture, kind, is_whole, is_chain, details in readings[pattern]:
            if (nodes := captures.get(capture)) is None:
                continue
            node = nodes[0]
            if is_whole:
                target, through, length = said.member(node)
                line = node.end_point[0] - target.count("\n") + 1
                found.append((node.end_byte - length, kind, (target, line, through)))
                continue
            start = node.start_byte
            if is_chain:
                target = said.chain(node)
            elif capture == _LISTED:
                target = _listed(node, content)
            else:
                target = _TARGETS[content[start : min(nodes[-1].end_byte, start + MAX_EXPRESSION)]]
            detail = _detail(captures, details, said) if details else ""
            found.append((start, kind, (target, node.start_point[0] + 1, detail)))
    references = _by_kind(found)
    if language.links:
        references[ReferenceKind.LINK] = _links(language, content)
    return references


@cache
def _readings(grammar: str, definitions: str, references: str) -> list[list[_Reading]]:
    """How each pattern of a language's queries is read."""
    readings: list[list[_Reading]] = []
    for names in parsing.captures(grammar, definitions, references):
        details = tuple((name, prefix) for name, prefix in _DETAILS if name in names)
        kinds = {name: kind for name in names if (kind := _CAPTURED.get(name))}
        readings.append(
            [(name, kind, name in _WHOLE, kind in _GIVEN, details) for name, kind in kinds.items()]
        )
    return readings


class _Texts(dict[bytes, str]):
    """Names and types by the bytes of a file, each read when it is first met."""

    def __init__(self, read: Callable[[bytes], str]) -> None:
        self._read = read

    def __missing__(self, raw: bytes) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        text = self[raw] = self._read(raw)
        return text


class _Said:
    """What the nodes of a file say, each expression read once: a file has the same ones again and again."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._members: dict[bytes, tuple[str, str, int]] = {}
        self._chains: dict[tuple[bytes, int], str] = {}

    def line(self, node: tree_sitter.Node) -> str:
        """A text on one line, cut if it is long."""
        return _LINES[_raw(node, self._content)]

    def member(self, node: tree_sitter.Node) -> tuple[str, str, int]:
        """Of ``a.b.c``, the last name, what it is taken from, and how many bytes at the end are the name's."""
        start, end = node.start_byte, node.end_byte
        if end - start > MAX_EXPRESSION:
            return _member_of_long(node, self._content)
        raw = self._content[start:end]
        if (member := self._members.get(raw)) is None:
            member = self._members[raw] = _member(node, raw, self._content)
        return member

    def chain(self, node: tree_sitter.Node) -> str:
        """An expression as a chain; the same text can be another kind of node elsewhere."""
        start, end = node.start_byte, node.end_byte
        if end - start > MAX_EXPRESSION:
            return chain(node, self._content)
        key = self._content[start:end], node.kind_id
        if (links := self._chains.get(key)) is None:
            links = self._chains[key] = chain(node, self._content)
        return links


def _by_kind(found: list[tuple[int, ReferenceKind, Reference]]) -> dict[ReferenceKind, Sequence[Reference]]:
    """What was found at some positions, in their order."""
    references: defaultdict[ReferenceKind, dict[Reference, None]] = defaultdict(dict)
    for _, kind, reference in sorted(found, key=itemgetter(0)):
        if reference[0]:  # else it is what a broken file leaves out
            references[kind][reference] = None
    return {kind: tuple(rows) for kind, rows in references.items()}


def _links(language: Language, content: bytes) -> tuple[Reference, ...]:
    """The files that a text of configuration or prose mentions."""
    text = content[:MAX_LINKED].decode("utf-8", "replace")
    found: dict[Reference, None] = {}
    for pattern in language.links:
        line, counted = 1, 0
        for match in _pattern(pattern).finditer(text):
            line += text.count("\n", counted, match.start())
            counted = match.start()
            detail = match.groupdict().get("detail") or ""
            found[match["target"].strip(), line, detail] = None
    return tuple(sorted(found, key=itemgetter(1)))


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.M)


def _line(raw: bytes) -> str:
    """A text on one line, cut if it is long."""
    text = raw.decode("utf-8", "replace")
    return (text if text.isidentifier() else " ".join(text.split()))[:MAX_DETAIL]


def _target(raw: bytes) -> str:
    """A name on one line, without the quotes of a quoted one."""
    text = raw.decode("utf-8", "replace")
    if text.isidentifier():
        return text
    text = " ".join(text.split())
    return text[1:-1] if text[:1] + text[-1:] in _QUOTES else text


_LINES = _Texts(_line)
_TARGETS = _Texts(_target)


def _listed(node: tree_sitter.Node, content: bytes) -> str:
    """A name in a list of imports, after the paths that the lists around it begin with."""
    parts = [_text(node, content)]
    inner, around = node, node.parent
    while around is not None and around.type in _LISTS and len(parts) <= MAX_DEPTH:
        path = around.child_by_field_name("path")
        if path is not None and path != inner:
            parts.append(_text(path, content))
        inner, around = around, around.parent
    return "::".join(reversed(parts))


def _member(node: tree_sitter.Node, raw: bytes, content: bytes) -> tuple[str, str, int]:
    """Of ``a.b.c``, the last name, what it is taken from, and how many bytes at the end are the name's."""
    text = raw.decode("utf-8", "replace")
    through, _, name = text.rpartition(".")
    if node.type in _MEMBERS and not _PLAIN.match(text):
        return _member_by_fields(node, content)
    return name, through, len(name.encode())


def _member_of_long(node: tree_sitter.Node, content: bytes) -> tuple[str, str, int]:
    """Read the member of an expression that is too long to be read as a text; of others, there is none."""
    return _member_by_fields(node, content) if node.type in _MEMBERS else ("", "", 0)


def _member_by_fields(node: tree_sitter.Node, content: bytes) -> tuple[str, str, int]:
    """Read a member and what it is taken from as the grammar keeps them apart."""
    around, member = (node.child_by_field_name(field) for field in _MEMBERS[node.type])
    through = chain(around, content) if around is not None else ""
    name = _text(member, content) if member is not None else ""
    return name, through, len(name.encode())


def _detail(
    captures: dict[str, list[tree_sitter.Node]], details: Iterable[tuple[str, str | None]], said: _Said
) -> str:
    """What is imported, what a call goes through, what a name is bound to."""
    for name, prefix in details:
        if nodes := captures.get(name):
            if prefix is not None:
                return prefix + said.line(nodes[0])
            return said.chain(nodes[0]) + ("[]" if name == "each" else "")
    return ""


def chain(node: tree_sitter.Node, content: bytes, depth: int = 0) -> str:
    """An expression as a chain of names and calls; ``?`` where it is anything else."""
    kind = node.type
    if kind in _NAMES:
        return _text(node, content).lstrip("$@")
    if kind in _LITERALS:
        return UNKNOWN
    is_short = node.end_byte - node.start_byte <= MAX_EXPRESSION
    if (
        kind not in _CALLS and is_short and _PLAIN.match(text := _text(node, content))
    ):  # in Ruby, a.b is a call
        return text
    if depth > MAX_DEPTH:
        return UNKNOWN
    if kind in _CALLS or kind in _MEMBERS:
        return _link(node, kind, content, depth)
    if kind in _ITEMS and (whole := node.named_child(0)) is not None:
        inner = chain(whole, content, depth + 1)
        return f"{inner}[]" if inner != UNKNOWN else UNKNOWN
    if kind in _THROUGH and node.named_child_count:
        first = node.named_child(0)
        inner = chain(first, content, depth + 1) if first is not None else UNKNOWN
        is_opened = kind == _TRIED and inner != UNKNOWN and content[node.end_byte - 1 : node.end_byte] == b"?"
        return f"{inner}!" if is_opened and "|" not in inner else inner
    if kind in _EITHER:
        return _either(node, content, depth)
    return UNKNOWN


def _link(node: tree_sitter.Node, kind: str, content: bytes, depth: int) -> str:
    """A call of something, or a member of something."""
    if kind in _CALLS:
        called = node.child_by_field_name(_CALLS[kind])
        if called is not None:
            inner = chain(called, content, depth + 1)
            return f"{inner}()" if inner != UNKNOWN else UNKNOWN
        return _method_call(node, content, depth)
    whole, part = _MEMBERS[kind]
    if whole:
        around, member = node.child_by_field_name(whole), node.child_by_field_name(part)
    elif node.named_child_count > 1:
        around, member = node.named_children[0], node.named_children[-1]
    else:
        return UNKNOWN
    if member is None:
        return UNKNOWN
    if around is None:
        return _text(member, content)
    inner = chain(around, content, depth + 1)
    return f"{inner}.{_text(member, content).lstrip('$')}" if "|" not in inner else UNKNOWN


def _method_call(node: tree_sitter.Node, content: bytes, depth: int) -> str:
    """A call whose grammar keeps receiver and method apart, or that names a type by its place."""
    name = node.child_by_field_name("method") or node.child_by_field_name("name")
    if name is None:
        first = node.named_child(0) if node.named_child_count else None
        return f"{chain(first, content, depth + 1)}()" if first is not None else UNKNOWN
    receiver = next((n for f in _RECEIVERS if (n := node.child_by_field_name(f)) is not None), None)
    if receiver is None:
        return f"{_text(name, content)}()"
    method = _text(name, content)
    inner = chain(receiver, content, depth + 1)
    return f"{inner}()" if method == "new" else f"{inner}.{method}()"


def _either(node: tree_sitter.Node, content: bytes, depth: int) -> str:
    operator = node.child_by_field_name("operator")
    if operator is not None and _text(operator, content) not in _EITHER_OPERATORS:
        return UNKNOWN
    children = node.named_children
    if node.type == "conditional_expression" and len(children) == 3:
        children = [children[0], children[2]]  # in Python, the condition stands in the middle
    elif len(children) == 3:
        children = children[1:]
    parts = [part for child in children if (part := chain(child, content, depth + 1)) != UNKNOWN]
    return "|".join(dict.fromkeys(parts)) or UNKNOWN


def _raw(node: tree_sitter.Node, content: bytes) -> bytes:
    """Cut the bytes of a node out of a content, as many as are ever read."""
    start, end = node.start_byte, node.end_byte
    return content[start : end if end - start <= MAX_EXPRESSION else start + MAX_EXPRESSION]


def _text(node: tree_sitter.Node, content: bytes) -> str:
    return _raw(node, content).decode("utf-8", "replace")


def pack(entities: Sequence[Entity], references: References) -> bytes:
    """What the graph needs of a file, small: a store keeps it as it is."""
    rows = [(e.qualified, e.kind, e.start_line, e.end_line, e.line) for e in entities if e.kind in OUTLINED]
    return deflated(as_json([rows, {kind.value: found for kind, found in references.items()}]))


def unpack(packed: bytes) -> tuple[list[Outline], References]:
    """What was packed."""
    entities, references = json.loads(zlib.decompress(packed))
    return (
        [Outline(name, _ENTITY_KINDS[kind], *lines) for name, kind, *lines in entities],
        {_KINDS[kind]: rows for kind, rows in references.items()},
    )


_ENTITY_KINDS = {kind.value: kind for kind in Kind}
