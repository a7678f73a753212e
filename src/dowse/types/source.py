"""Source code types: entities (symbols), chunks, references, token fields, and the parsed file that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from dowse.frozen import frozen


class Kind(StrEnum):
    """What an entity is. Languages map their own words onto these."""

    DIRECTORY = "directory"
    FILE = "file"
    MODULE = "module"
    CLASS = "class"
    INTERFACE = "interface"
    TRAIT = "trait"
    STRUCT = "struct"
    ENUM = "enum"
    IMPL = "impl"
    TYPE = "type"
    FUNCTION = "function"
    METHOD = "method"
    CONSTANT = "constant"
    VARIABLE = "variable"
    MACRO = "macro"
    BLOCK = "block"
    SECTION = "section"
    RESOURCE = "resource"
    CONTAINER = "container"
    SERVICE = "service"
    WORKFLOW = "workflow"
    JOB = "job"
    STEP = "step"
    STAGE = "stage"
    ROUTE = "route"
    CELL = "cell"
    COMPONENT = "component"
    TEMPLATE = "template"
    KEY = "key"
    DEPENDENCY = "dependency"


class ParseHealth(StrEnum):
    """How well a file's text was understood."""

    OK = "ok"
    PARTIAL = "partial"
    FAILED = "failed"
    NO_GRAMMAR = "no grammar"
    OVER_BUDGET = "over budget"  # taking it apart took too much time or memory: cut by lines


class Entity(NamedTuple):
    """A definition in a file (symbol): name, kind, lines, signature, docstring. Lines are 1-based and inclusive."""

    name: str
    qualified: str
    kind: Kind
    start_line: int
    end_line: int
    line: int
    parent: int | None
    signature: str
    doc: str


class Outline(NamedTuple):
    """What the graph knows of an entity."""

    qualified: str
    kind: Kind
    start_line: int
    end_line: int
    line: int


class Chunk(NamedTuple):
    """A run of lines that is retrieved as one; ``entity`` is the innermost entity around all of it.

    ``start`` and ``end`` are byte offsets into the content: more precise than lines where one line is
    longer than a chunk.
    """

    start_line: int
    end_line: int
    start: int
    end: int
    entity: int | None


class ReferenceKind(StrEnum):
    """How one place mentions another, and what its own names stand for."""

    IMPORT = "import"
    CALL = "call"
    DECORATOR = "decorator"
    INHERIT = "inherit"
    BIND = "bind"
    FIELD = "field"
    PARAMETER = "parameter"
    RETURN = "return"
    YIELD = "yield"
    LINK = "link"


Reference = tuple[str, int, str]
"""A mention of something, as written: its name, its line, and details: the names that are imported, what a call goes
through (``self.pool``), what a name is bound to (``Pool()``, or ``:Pool`` for a type that is declared). A plain
tuple, because a tree has hundreds of thousands."""

References = Mapping[ReferenceKind, Sequence[Reference]]
"""What a file mentions, in order of position."""


class ChunkTerms(NamedTuple):
    """The tokens of one chunk by field, each a string of tokens separated by single spaces."""

    name: str
    path: str
    signature: str
    doc: str
    body: str
    literal: str  # hashes of the n-grams of messages: see ``code/string_literals.py``


@frozen
class ParsedFile:
    """What is known of a file's content, whatever its path and checkout."""

    language: str
    health: ParseHealth
    entities: Sequence[Entity]
    chunks: Sequence[Chunk]


Definitions = tuple[tuple[int, ...], ...]
"""For each chunk of a file, the places of the entities whose line of definition it holds."""


class MaskedSecret(NamedTuple):
    """A secret that was blanked out before indexing: where, and by which rule. Never its value."""

    path: str
    line: int
    rule: str


class Role(StrEnum):
    """What part a file plays in its tree, judged by its path and the beginning of its content."""

    SOURCE = "source"
    TEST = "test"
    EXAMPLE = "example"
    GENERATED = "generated"
    VENDORED = "vendored"
    DOCS = "docs"
    CONFIG = "config"
    DATA = "data"
    SCHEMA = "schema"
    DECLARATION = "declaration"
    LEGACY = "legacy"
