"""Reference extraction from a syntax tree: imports, calls, base classes, decorators, and what names are bound to.

The raw material of the call graph and of import resolution; which definition a reference means is resolved later, in
``graph``. Expressions are kept as chains (see ``expression_chains``). Also packs references for storage.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import itemgetter

import tree_sitter

from dowse.code import parsing
from dowse.code.expression_chains import (
    MAX_CHAIN_LINKS,
    MAX_EXPRESSION_BYTES,
    read_bytes,
    read_chain,
    read_long_member,
    read_member,
    read_text,
)
from dowse.code.languages.spec import Language
from dowse.code.parsing import Match
from dowse.serialization import as_json, deflate, from_json, inflate
from dowse.types.source import Entity, Kind, Outline, Reference, ReferenceKind, References

MAX_DETAIL_CHARS = 200
"""Longer types, import clauses and chains are cut: they cannot be resolved anyway."""

MAX_LINKED_BYTES = 200_000
"""Bytes of a text in which links are looked for."""

_MAX_CACHED_TEXTS = 1 << 12
"""Names and types that are cached: the files of a tree have the same ones again and again."""

OUTLINE_KINDS = frozenset(Kind) - {
    Kind.CONSTANT, Kind.VARIABLE, Kind.BLOCK, Kind.SECTION, Kind.CELL, Kind.DEPENDENCY,
}  # fmt: skip
"""The kinds that the graph has nodes for; a variable is part of the definition around it."""

_KINDS = {kind.value: kind for kind in ReferenceKind}
_LISTED_CAPTURE = "listed"
_LIST_NODES = frozenset({"use_list", "scoped_use_list", "use_as_clause", "use_wildcard"})
_WHOLE_CAPTURES = {"called": ReferenceKind.CALL, "decorated": ReferenceKind.DECORATOR}
_CAPTURE_KINDS = _KINDS | _WHOLE_CAPTURES | {_LISTED_CAPTURE: ReferenceKind.IMPORT}
_CHAIN_KINDS = frozenset({ReferenceKind.RETURN, ReferenceKind.YIELD})
_QUOTES = ('""', "''", "``", "<>")
_DETAIL_CAPTURES = (
    ("through", None), ("type", ":"), ("value", None), ("each", None),
    ("default", "default as "), ("namespace", "* as "), ("reexport", "export "), ("names", ""),
)  # fmt: skip
"""Captures beside the target, of which the first counts, and the prefix of its text; None if it is a chain."""
_CaptureRule = tuple[str, ReferenceKind, bool, bool, tuple[tuple[str, str | None], ...]]
"""A capture that is a reference, its kind, whether it spans all of ``a.b`` (others are ``b`` alone), whether it is a
chain, and the captures that may be beside it. A plain tuple, because it is unpacked for every match."""


def find(language: Language, matches: Sequence[Match], content: bytes) -> References:
    """Extract the references of a file, by kind in order of position, each once per line."""
    found: list[tuple[int, ReferenceKind, Reference]] = []
    reader = _NodeReader(content)
    rules = _capture_rules(language.grammar, language.definitions, language.references) if matches else []
    for pattern, captures in matches:
        for capture, kind, is_whole, is_chain, details in rules[pattern]:
            if (nodes := captures.get(capture)) is None:
                continue
            node = nodes[0]
            if is_whole:
                target, through, length = reader.read_member(node)
                line = node.end_point[0] - target.count("\n") + 1
                found.append((node.end_byte - length, kind, (target, line, through)))
                continue
            start = node.start_byte
            if is_chain:
                target = reader.read_chain(node)
            elif capture == _LISTED_CAPTURE:
                target = _read_listed(node, content)
            else:
                target = _TARGET_CACHE[content[start : min(nodes[-1].end_byte, start + MAX_EXPRESSION_BYTES)]]
            detail = _read_detail(captures, details, reader) if details else ""
            found.append((start, kind, (target, node.start_point[0] + 1, detail)))
    references = _group_by_kind(found)
    if language.links:
        references[ReferenceKind.LINK] = _find_links(language, content)
    return references


@cache
def _capture_rules(grammar: str, definitions: str, references: str) -> list[list[_CaptureRule]]:
    """Decide how the captures of each pattern of a language's queries are read."""
    rules: list[list[_CaptureRule]] = []
    for names in parsing.list_captures(grammar, definitions, references):
        details = tuple((name, prefix) for name, prefix in _DETAIL_CAPTURES if name in names)
        kinds = {name: kind for name in names if (kind := _CAPTURE_KINDS.get(name))}
        rules.append(
            [
                (name, kind, name in _WHOLE_CAPTURES, kind in _CHAIN_KINDS, details)
                for name, kind in kinds.items()
            ]
        )
    return rules


class _TextCache(dict[bytes, str]):
    """Names and types by their bytes, each read when it is first met."""

    def __init__(self, read: Callable[[bytes], str]) -> None:
        self._read = read

    def __missing__(self, raw: bytes) -> str:
        if len(self) >= _MAX_CACHED_TEXTS:
            self.clear()
        text = self[raw] = self._read(raw)
        return text


class _NodeReader:
    """Reads the nodes of a file, each expression once: a file has the same ones again and again."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._members: dict[bytes, tuple[str, str, int]] = {}
        self._chains: dict[tuple[bytes, int], str] = {}

    def read_line(self, node: tree_sitter.Node) -> str:
        """Read the text of a node on one line, cut if it is long."""
        return _LINE_CACHE[read_bytes(node, self._content)]

    def read_member(self, node: tree_sitter.Node) -> tuple[str, str, int]:
        """Read ``a.b.c`` as the last name, what it is a member of, and the length of the name in bytes."""
        start, end = node.start_byte, node.end_byte
        if end - start > MAX_EXPRESSION_BYTES:
            return read_long_member(node, self._content)
        raw = self._content[start:end]
        if (member := self._members.get(raw)) is None:
            member = self._members[raw] = read_member(node, raw, self._content)
        return member

    def read_chain(self, node: tree_sitter.Node) -> str:
        """Read an expression as a chain; cached by kind too, since equal texts can be different nodes."""
        start, end = node.start_byte, node.end_byte
        if end - start > MAX_EXPRESSION_BYTES:
            return read_chain(node, self._content)
        key = self._content[start:end], node.kind_id
        if (links := self._chains.get(key)) is None:
            links = self._chains[key] = read_chain(node, self._content)
        return links


def _group_by_kind(
    found: list[tuple[int, ReferenceKind, Reference]],
) -> dict[ReferenceKind, Sequence[Reference]]:
    """Group references by kind, in the order of their positions."""
    references: defaultdict[ReferenceKind, dict[Reference, None]] = defaultdict(dict)
    for _, kind, reference in sorted(found, key=itemgetter(0)):
        if reference[0]:  # empty where a broken file has nothing
            references[kind][reference] = None
    return {kind: tuple(rows) for kind, rows in references.items()}


def _find_links(language: Language, content: bytes) -> tuple[Reference, ...]:
    """Find the files that a text of configuration or prose mentions."""
    text = content[:MAX_LINKED_BYTES].decode("utf-8", "replace")
    found: dict[Reference, None] = {}
    for pattern in language.links:
        line, counted = 1, 0
        for match in _compile_pattern(pattern).finditer(text):
            line += text.count("\n", counted, match.start())
            counted = match.start()
            detail = match.groupdict().get("detail") or ""
            found[match["target"].strip(), line, detail] = None
    return tuple(sorted(found, key=itemgetter(1)))


@cache
def _compile_pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.M)


def _read_line(raw: bytes) -> str:
    """Decode a text on one line, cut if it is long."""
    text = raw.decode("utf-8", "replace")
    return (text if text.isidentifier() else " ".join(text.split()))[:MAX_DETAIL_CHARS]


def _read_target(raw: bytes) -> str:
    """Decode a name on one line, without quotes around it."""
    text = raw.decode("utf-8", "replace")
    if text.isidentifier():
        return text
    text = " ".join(text.split())
    return text[1:-1] if text[:1] + text[-1:] in _QUOTES else text


_LINE_CACHE = _TextCache(_read_line)
_TARGET_CACHE = _TextCache(_read_target)


def _read_listed(node: tree_sitter.Node, content: bytes) -> str:
    """Read a name in a list of imports, with the paths that the lists around it begin with."""
    parts = [read_text(node, content)]
    inner, around = node, node.parent
    while around is not None and around.type in _LIST_NODES and len(parts) <= MAX_CHAIN_LINKS:
        path = around.child_by_field_name("path")
        if path is not None and path != inner:
            parts.append(read_text(path, content))
        inner, around = around, around.parent
    return "::".join(reversed(parts))


def _read_detail(
    captures: dict[str, list[tree_sitter.Node]],
    details: Iterable[tuple[str, str | None]],
    reader: _NodeReader,
) -> str:
    """Read the detail of a reference: what is imported, the object of a call, what a name is bound to."""
    for name, prefix in details:
        if nodes := captures.get(name):
            if prefix is not None:
                return prefix + reader.read_line(nodes[0])
            return reader.read_chain(nodes[0]) + ("[]" if name == "each" else "")
    return ""


def pack(entities: Sequence[Entity], references: References) -> bytes:
    """Pack what the graph needs of a file into compressed bytes, which a store keeps as they are."""
    rows = [
        (e.qualified, e.kind, e.start_line, e.end_line, e.line) for e in entities if e.kind in OUTLINE_KINDS
    ]
    return deflate(as_json([rows, {kind.value: found for kind, found in references.items()}]))


def unpack(packed: bytes) -> tuple[list[Outline], References]:
    """Unpack the outlines and references of a file."""
    entities, references = from_json(inflate(packed))
    return (
        [Outline(name, _ENTITY_KINDS[kind], *lines) for name, kind, *lines in entities],
        {_KINDS[kind]: rows for kind, rows in references.items()},
    )


_ENTITY_KINDS = {kind.value: kind for kind in Kind}
