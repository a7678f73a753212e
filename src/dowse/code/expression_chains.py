"""Access paths of expressions in a syntax tree: member accesses and calls as a chain, ``self.pool.get().release``.

Input of name resolution and type inference in the code graph. ``()`` is a call, ``|`` separates alternatives, ``!``
unwraps an optional value, ``[]`` takes an item, ``?`` is what cannot be followed.
"""

from __future__ import annotations

import re

import tree_sitter

MAX_CHAIN_LINKS = 12
"""Links of a chain that are read; generated code has thousands."""

MAX_EXPRESSION_BYTES = 2_000
"""Bytes of an expression whose text is read: in a long chain, each call holds the text of all before it."""

UNKNOWN = "?"

_PLAIN_CHAIN = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*\Z")
_MEMBER_FIELDS = {
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
"""Nodes that take a member of an object: the fields of object and member (none: the first and the last child).
Where there is no object, the member is all."""
_CALL_FIELDS = {
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
"""Nodes that call something or make an object, and the field with its name; some have receiver and method instead."""
_RECEIVER_FIELDS = ("receiver", "object", "scope")
_ITEM_NODES = frozenset(
    {"subscript", "subscript_expression", "index_expression", "element_access_expression"}
)
_TRANSPARENT_NODES = frozenset({
    "await", "await_expression", "parenthesized_expression", "non_null_expression", "as_expression",
    "satisfies_expression", "unary_expression", "reference_expression", "pointer_expression", "try_expression",
    "expression_list", "generic_type", "pointer_type", "argument", "generic_function",
})  # fmt: skip
"""Nodes that are read as their first child."""
_TRY_NODE = "try_expression"
_LITERAL_NODES = frozenset({
    "string", "integer", "float", "number", "list", "dictionary", "tuple", "array", "object", "template_string",
    "interpreted_string_literal", "int_literal", "string_literal", "integer_literal", "number_literal",
})  # fmt: skip
"""Frequent values that name nothing; the other ones are only ruled out after more checks."""
_ALTERNATIVE_NODES = frozenset(
    {"boolean_operator", "conditional_expression", "ternary_expression", "binary_expression"}
)
_ALTERNATIVE_OPERATORS = frozenset({"or", "||", "??", "and", "&&", ""})
_NAME_NODES = frozenset({
    "identifier", "type_identifier", "constant", "this", "super", "self", "name", "variable_name",
    "property_identifier", "field_identifier", "package_identifier", "private_property_identifier",
    "instance_variable", "simple_identifier",
})  # fmt: skip


def read_chain(node: tree_sitter.Node, content: bytes, depth: int = 0) -> str:
    """Read an expression as a chain of names and calls; ``?`` where it is anything else."""
    kind = node.type
    if kind in _NAME_NODES:
        return read_text(node, content).lstrip("$@")
    if kind in _LITERAL_NODES:
        return UNKNOWN
    is_short = node.end_byte - node.start_byte <= MAX_EXPRESSION_BYTES
    if (
        kind not in _CALL_FIELDS and is_short and _PLAIN_CHAIN.match(text := read_text(node, content))
    ):  # in Ruby, a.b is a call
        return text
    if depth > MAX_CHAIN_LINKS:
        return UNKNOWN
    if kind in _CALL_FIELDS or kind in _MEMBER_FIELDS:
        return _read_link(node, kind, content, depth)
    if kind in _ITEM_NODES and (whole := node.named_child(0)) is not None:
        inner = read_chain(whole, content, depth + 1)
        return f"{inner}[]" if inner != UNKNOWN else UNKNOWN
    if kind in _TRANSPARENT_NODES and node.named_child_count:
        first = node.named_child(0)
        inner = read_chain(first, content, depth + 1) if first is not None else UNKNOWN
        is_opened = (
            kind == _TRY_NODE and inner != UNKNOWN and content[node.end_byte - 1 : node.end_byte] == b"?"
        )
        return f"{inner}!" if is_opened and "|" not in inner else inner
    if kind in _ALTERNATIVE_NODES:
        return _read_alternatives(node, content, depth)
    return UNKNOWN


def _read_link(node: tree_sitter.Node, kind: str, content: bytes, depth: int) -> str:
    """Read a call or a member access."""
    if kind in _CALL_FIELDS:
        called = node.child_by_field_name(_CALL_FIELDS[kind])
        if called is not None:
            inner = read_chain(called, content, depth + 1)
            return f"{inner}()" if inner != UNKNOWN else UNKNOWN
        return _read_method_call(node, content, depth)
    whole, part = _MEMBER_FIELDS[kind]
    if whole:
        around, member = node.child_by_field_name(whole), node.child_by_field_name(part)
    elif node.named_child_count > 1:
        around, member = node.named_children[0], node.named_children[-1]
    else:
        return UNKNOWN
    if member is None:
        return UNKNOWN
    if around is None:
        return read_text(member, content)
    inner = read_chain(around, content, depth + 1)
    return f"{inner}.{read_text(member, content).lstrip('$')}" if "|" not in inner else UNKNOWN


def _read_method_call(node: tree_sitter.Node, content: bytes, depth: int) -> str:
    """Read a call whose grammar keeps receiver and method apart, or whose type is its first child."""
    name = node.child_by_field_name("method") or node.child_by_field_name("name")
    if name is None:
        first = node.named_child(0) if node.named_child_count else None
        return f"{read_chain(first, content, depth + 1)}()" if first is not None else UNKNOWN
    receiver = next((n for f in _RECEIVER_FIELDS if (n := node.child_by_field_name(f)) is not None), None)
    if receiver is None:
        return f"{read_text(name, content)}()"
    method = read_text(name, content)
    inner = read_chain(receiver, content, depth + 1)
    return f"{inner}()" if method == "new" else f"{inner}.{method}()"


def _read_alternatives(node: tree_sitter.Node, content: bytes, depth: int) -> str:
    operator = node.child_by_field_name("operator")
    if operator is not None and read_text(operator, content) not in _ALTERNATIVE_OPERATORS:
        return UNKNOWN
    children = node.named_children
    if node.type == "conditional_expression" and len(children) == 3:
        children = [children[0], children[2]]  # in Python, the condition stands in the middle
    elif len(children) == 3:
        children = children[1:]
    parts = [part for child in children if (part := read_chain(child, content, depth + 1)) != UNKNOWN]
    return "|".join(dict.fromkeys(parts)) or UNKNOWN


def read_bytes(node: tree_sitter.Node, content: bytes) -> bytes:
    """Return the bytes of a node, cut to what is read of an expression."""
    start, end = node.start_byte, node.end_byte
    return content[start : end if end - start <= MAX_EXPRESSION_BYTES else start + MAX_EXPRESSION_BYTES]


def read_text(node: tree_sitter.Node, content: bytes) -> str:
    """Return the text of a node, cut to what is read of an expression."""
    return read_bytes(node, content).decode("utf-8", "replace")


def read_member(node: tree_sitter.Node, raw: bytes, content: bytes) -> tuple[str, str, int]:
    """Read ``a.b.c`` as the last name, what it is a member of, and the length of the name in bytes."""
    text = raw.decode("utf-8", "replace")
    through, _, name = text.rpartition(".")
    if node.type in _MEMBER_FIELDS and not _PLAIN_CHAIN.match(text):
        return _read_member_fields(node, content)
    return name, through, len(name.encode())


def read_long_member(node: tree_sitter.Node, content: bytes) -> tuple[str, str, int]:
    """Read a member access that is too long to be read as text; other long expressions have no member."""
    return _read_member_fields(node, content) if node.type in _MEMBER_FIELDS else ("", "", 0)


def _read_member_fields(node: tree_sitter.Node, content: bytes) -> tuple[str, str, int]:
    """Read a member and its object from the fields of the node."""
    around, member = (node.child_by_field_name(field) for field in _MEMBER_FIELDS[node.type])
    through = read_chain(around, content) if around is not None else ""
    name = read_text(member, content) if member is not None else ""
    return name, through, len(name.encode())
