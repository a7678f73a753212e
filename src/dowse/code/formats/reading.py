"""What a format is given to read, and what it gives: entities with their hierarchy, references, and a syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import tree_sitter

from dowse.code import parsing, references, symbols
from dowse.code.formats.outline import OutlineNode
from dowse.code.languages.spec import Language
from dowse.types.source import Entity, Kind, ParseHealth, Reference, ReferenceKind, References

MAX_ITEMS = 5_000
"""Entities of one file; a file with more was made by a program."""

MAX_NAME_CHARS = 300
MAX_SIGNATURE_CHARS = 300
MAX_DOC_CHARS = 2_000

IN_FILE, IN_FOLDER, IN_CHART, IN_TREE = "@file", "@folder", "@chart", "@tree"
"""Details of links that name an entity of a format by its hierarchical name, and where it is looked for. A link with
any other detail names a path."""

HANDLER = "@handler"
"""Detail of links that name a function in code, written in any style: ``listUsers`` or ``list_users``. In code itself,
the name of the route that the function handles follows."""

SELECTOR, LABELS = "@selector", "@labels"
"""Details of links that name entities by labels (``app=web,tier=front``): which are meant, and which an entity has."""

_BLANKS = bytes(byte if byte in b"\r\n" else 32 for byte in range(256))


@dataclass(slots=True)
class Item:
    """An entity that a format found. Lines are 1-based and inclusive; who contains it follows from its lines."""

    kind: Kind
    name: str
    first: int
    last: int
    qualified: str = ""
    signature: str = ""
    doc: str = ""
    line: int = 0  # of the name
    parent: Item | None = None  # where it is known: what stands on one line is not always one in the other


def make_item(kind: Kind, node: OutlineNode, qualified: str, signature: str, name: str = "") -> Item:
    """Make an item of a node, with the comment above it; it is called like its key unless it has another name."""
    return Item(
        kind,
        name or node.key,
        node.first_row + 1,
        node.last_row + 1,
        qualified,
        " ".join(signature.split()),
        node.doc,
        node.row + 1,
    )


class EmbeddedCode(NamedTuple):
    """What a language found in its part of a file."""

    entities: tuple[Entity, ...]
    references: References
    tree: tree_sitter.Tree | None
    health: ParseHealth

    def items(self) -> list[Item]:
        """Return the entities as items, to be put among others."""
        return items_of(self.entities)


@dataclass(slots=True)
class FormatResult:
    """What a format found in a file."""

    items: list[Item] = field(default_factory=list)
    links: list[Reference] = field(default_factory=list)
    references: dict[ReferenceKind, Sequence[Reference]] = field(default_factory=dict)
    tree: tree_sitter.Tree | None = None  # where long entities are cut
    health: ParseHealth = ParseHealth.OK
    apart: frozenset[Kind] = frozenset()  # kinds of entities that share no chunk with their neighbours

    def link(self, target: str, row: int, detail: str) -> None:
        """Add a reference to a path or an entity, on a 0-based row."""
        if detail in (IN_FILE, IN_FOLDER, IN_CHART, IN_TREE):
            target = as_node_name(target)
        if target and len(target) <= MAX_NAME_CHARS and len(self.links) < MAX_ITEMS:
            self.links.append((target, row + 1, detail))

    def add_embedded(self, code: EmbeddedCode) -> None:
        """Take over what a language found."""
        self.items += code.items()
        for kind, rows in code.references.items():
            self.references[kind] = (*self.references.get(kind, ()), *rows)

    def collect_references(self) -> dict[ReferenceKind, Sequence[Reference]]:
        """Return the references of all kinds, links among them, in the order of lines."""
        links = dict.fromkeys((*self.references.get(ReferenceKind.LINK, ()), *self.links))
        found = {kind: rows for kind, rows in self.references.items() if rows}
        return found | {ReferenceKind.LINK: sorted(links, key=lambda row: row[1])} if links else found


@dataclass(frozen=True, slots=True)
class FormatSource:
    """A file to read: its content and name, and the languages that its parts may be in."""

    language: Language
    name: str  # of the file, without folders
    content: bytes
    languages: Mapping[str, Language]
    limits: parsing.ParseLimits | None = None

    def parse_as(self, language: str, content: bytes | None = None) -> EmbeddedCode:
        """Parse the content, or a part of it among blanks, as a language."""
        spec = self.languages[language]
        text = self.content if content is None else content
        tree, health = parsing.parse(spec, text, self.limits)
        found = parsing.run_queries(spec, None if health is ParseHealth.FAILED else tree)
        entities = symbols.find(spec, found.definitions, text)
        return EmbeddedCode(entities, references.find(spec, found.references, text), tree, health)

    def find_links(self, language: str) -> Sequence[Reference]:
        """Find the links that the patterns of a language find."""
        return references.find(self.languages[language], (), self.content).get(ReferenceKind.LINK, ())


FormatReader = Callable[[FormatSource], FormatResult]


def items_of(entities: Iterable[Entity]) -> list[Item]:
    """Return entities as items, to be put among others."""
    items: list[Item] = []
    for e in entities:
        item = Item(e.kind, e.name, e.start_line, e.end_line, e.qualified, e.signature, e.doc, e.line)
        item.parent = items[e.parent] if e.parent is not None else None
        items.append(item)
    return items


def keep_ranges(content: bytes, ranges: Iterable[tuple[int, int]]) -> bytes:
    """Blank out everything but some byte ranges, in order; line breaks stay, and so does every offset."""
    parts, end = [], 0
    for start, stop in ranges:
        parts += [content[end:start].translate(_BLANKS), content[start:stop]]
        end = stop
    parts.append(content[end:].translate(_BLANKS))
    return b"".join(parts)


def _is_beside(entity: Entity, item: Item) -> bool:
    """Return whether an item on the same line as an entity of its kind is beside it, not in it."""
    is_line = entity.start_line == entity.end_line == item.first == item.last
    return entity.kind is item.kind and (is_line or item.kind is Kind.ROUTE)


def as_node_name(name: str) -> str:
    """Return a hierarchical name as nodes of the code graph have it: a colon separates it from the path."""
    return name.replace(":", "/")


def nest_items(items: Iterable[Item]) -> tuple[Entity, ...]:
    """Order items by position and give each its parent: the innermost of those that begin before and end after."""
    entities: list[Entity] = []
    stack: list[tuple[int, int]] = []  # last line and index of what is open
    places: dict[int, int] = {}  # of items by identity
    ordered = sorted(items, key=lambda item: (item.first, -item.last))[:MAX_ITEMS]
    for item in ordered:
        while stack and (stack[-1][0] < item.first or _is_beside(entities[stack[-1][1]], item)):
            stack.pop()
        last = max(item.first, min(item.last, stack[-1][0]) if stack else item.last)
        parent = stack[-1][1] if stack else None
        if item.parent is not None:
            parent = places.get(id(item.parent), parent)
        places[id(item)] = len(entities)
        name = item.name[:MAX_NAME_CHARS]
        qualified = item.qualified[:MAX_NAME_CHARS] or name
        if item.kind in references.OUTLINE_KINDS:
            qualified = as_node_name(qualified)
        stack.append((last, len(entities)))
        signature = item.signature[:MAX_SIGNATURE_CHARS]
        line = min(max(item.line, item.first), last)
        entities.append(
            Entity(
                name,
                qualified,
                item.kind,
                item.first,
                last,
                line,
                parent,
                signature,
                item.doc[:MAX_DOC_CHARS],
            )
        )
    return tuple(entities)
