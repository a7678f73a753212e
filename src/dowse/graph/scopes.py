"""Scope tables of one file: what each scope defines, binds, calls, imports and inherits, for name lookup.

Built from the packed references of the index. Also hashes the interface that other files can see, so that they are
resolved again only if it changes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from dowse.code.references import unpack
from dowse.errors import IndexCorrupt
from dowse.types.graph_values import Node
from dowse.types.source import Kind, Outline, Reference, ReferenceKind, References

CLASSES = frozenset({Kind.CLASS, Kind.INTERFACE, Kind.TRAIT, Kind.STRUCT, Kind.ENUM, Kind.IMPL, Kind.TYPE})
FUNCTIONS = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.MACRO})
FILE = 0
"""The scope of a file itself; the n-th entity has scope n + 1."""

MAX_FILE_LINES = 5_000_000
"""Lines of a file: memory is allocated for each, and no indexed file has so many. More means corruption."""

RECEIVERS = frozenset({"self", "this", "cls"})
"""Words for the object that a method is called on, in languages that do not declare it as a parameter."""


_EXPORT_OBJECTS = frozenset({"", "exports", "module.exports"})
"""Prefixes of a definition's name that mean the module itself (CommonJS)."""


Call = tuple[int, int, str, str]
"""A call as written: the scope that contains it, the scope its names are looked up from, the name, and the expression
before the dot. A plain tuple, because a tree has hundreds of thousands."""


class Base(NamedTuple):
    """A base type as written, of the class at ``scope``."""

    scope: int
    name: str
    line: int


class Mention(NamedTuple):
    """An import or a link as written."""

    scope: int
    target: str
    detail: str
    line: int


@dataclass(slots=True)
class Scope:
    """The names of one scope and what they are bound to."""

    kind: Kind
    qualified: str
    parent: int
    is_class: bool  # its functions are methods
    is_function: bool  # it can be called
    members: dict[str, int] = field(default_factory=dict)
    binds: dict[str, list[str]] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, list[tuple[str, int]]] = field(default_factory=dict)  # with the scope of the value
    returns: list[str] = field(default_factory=list)
    yields: list[str] = field(default_factory=list)
    declared: str = ""  # the declared return type of a function
    bases: list[str] = field(default_factory=list)
    decorators: set[str] = field(default_factory=set)

    @property
    def receiver(self) -> str:
        """The first parameter of a function."""
        return next(iter(self.parameters), "")


@dataclass(slots=True)
class FileScopes:
    """The scope tables of one file, as the resolver reads them."""

    path: str
    language: str
    scopes: list[Scope]
    ids: list[str]  # the node id of each scope
    nodes: tuple[Node, ...]
    names: tuple[tuple[str, int], ...]  # the last part of each definition's name, and its scope
    calls: dict[Call, int] = field(default_factory=dict)  # equal calls once, with the line of the first
    decorators: list[tuple[Call, int]] = field(default_factory=list)
    bases: list[Base] = field(default_factory=list)
    imports: list[Mention] = field(default_factory=list)
    links: list[Mention] = field(default_factory=list)
    by_qualified: dict[str, int] | None = None  # the first scope of each name, once somebody asks
    interface: bytes = b""  # hash; while it is unchanged, no name in another file changes its meaning

    def find_scope(self, qualified: str) -> int:
        """Return the scope of the definition of that qualified name, or the scope of the file."""
        if self.by_qualified is None:
            self.by_qualified = {}
            for number, scope in enumerate(self.scopes):
                self.by_qualified.setdefault(scope.qualified, number)
        return self.by_qualified.get(qualified, FILE)

    def find_enclosing_class(self, scope: int) -> int:
        """Return the class around a scope, or the scope of the file."""
        while scope and not self.scopes[scope].is_class:
            scope = self.scopes[scope].parent
        return scope

    def find_enclosing_method(self, scope: int) -> int:
        """Return the method that a scope is or is inside of, or the scope of the file."""
        while scope and not (
            self.scopes[scope].is_function and self.scopes[self.scopes[scope].parent].is_class
        ):
            scope = self.scopes[scope].parent
        return scope


LineScopes = Sequence[tuple[int, int]]
"""For each line the innermost scope, and the scope that names are looked up from."""


def read_scopes(path: str, language: str, packed: bytes) -> FileScopes:
    """Read the tables of a file from its packed references."""
    try:
        entities, references = unpack(packed)
        _validate(entities, references)
        return _build_tables(path, language, entities, references)
    except (zlib.error, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        what = f"what {path} mentions is corrupt in the index ({error})"
        raise IndexCorrupt.beyond_repair(what) from error


def _validate(entities: Sequence[Outline], references: References) -> None:
    """Raise ``ValueError`` for values of wrong types, and for lines that no file has."""
    lines = [line for entity in entities for line in entity[2:]]
    for rows in references.values():
        for name, line, detail in rows:
            if type(name) is not str or type(detail) is not str:
                raise ValueError("a name is no text")
            lines.append(line)
    if not all(type(line) is int and 0 <= line <= MAX_FILE_LINES for line in lines):
        raise ValueError("a line is none")
    if not all(type(entity.qualified) is str for entity in entities):
        raise ValueError("a name is no text")


def _build_tables(
    path: str, language: str, entities: Sequence[Outline], references: References
) -> FileScopes:
    own = _number_scopes(entities)
    scopes = _build_scopes(entities, own)
    ids = [path, *(f"{path}:{entity.qualified}" for entity in entities)]
    file = FileScopes(path, language, scopes, ids, _build_nodes(ids, entities, own), _collect_names(scopes))
    last = max((rows[-1][1] for rows in references.values() if rows), default=0)
    line_scopes = _map_lines(entities, own, scopes, last)
    for kind, fill in _FILLERS.items():
        if rows := references.get(kind):
            fill(file, line_scopes, rows)
    file.interface = _hash_interface(file)
    return file


def _number_scopes(entities: Sequence[Outline]) -> list[int]:
    """Assign a scope to each entity: entities of one qualified name share that of the first."""
    first: dict[str, int] = {}
    return [first.setdefault(entity.qualified, number) for number, entity in enumerate(entities, 1)]


def _build_scopes(entities: Sequence[Outline], own: Sequence[int]) -> list[Scope]:
    scopes = [Scope(Kind.FILE, "", FILE, is_class=False, is_function=False)]
    by_name = {entity.qualified: scope for entity, scope in zip(entities, own, strict=True)}
    for number, (qualified, kind, *_) in enumerate(entities, 1):
        outer = qualified.rpartition(".")[0].removesuffix(".prototype")
        parent = by_name.get(outer, FILE)
        scopes.append(
            Scope(kind, qualified, parent if parent != number else FILE, kind in CLASSES, kind in FUNCTIONS)
        )
    for number in dict.fromkeys(own):
        scope = scopes[number]
        outer, _, name = scope.qualified.rpartition(".")
        local = name if scope.parent or outer in _EXPORT_OBJECTS else scope.qualified
        scopes[scope.parent].members[local] = number
    return scopes


def _build_nodes(ids: Sequence[str], entities: Sequence[Outline], own: Sequence[int]) -> tuple[Node, ...]:
    """Make one node per scope; a function has the lines of its longest definition, not of a forward declaration."""
    shown: dict[int, Outline] = {}
    for number, entity in zip(own, entities, strict=True):
        known = shown.setdefault(number, entity)
        if known.kind in FUNCTIONS and _count_lines(entity) > _count_lines(known):
            shown[number] = entity._replace(kind=known.kind)
    return tuple(Node(ids[number], *entity[1:]) for number, entity in shown.items())


def _count_lines(entity: Outline) -> int:
    return entity.end_line - entity.start_line


def _collect_names(scopes: Sequence[Scope]) -> tuple[tuple[str, int], ...]:
    """List every definition by its last name, in order of scopes."""
    members = ((number, local) for scope in scopes for local, number in scope.members.items())
    return tuple((local.rpartition(".")[2], number) for number, local in sorted(members))


def _map_lines(
    entities: Sequence[Outline], own: Sequence[int], scopes: Sequence[Scope], last: int
) -> LineScopes:
    """Map lines to scopes; lines above a definition's own line (decorators) look names up outside of it."""
    last = max(last, *(entity.end_line for entity in entities)) if entities else last
    line_scopes = [(FILE, FILE)] * (last + 1)
    for (_, kind, start, end, line), scope in zip(entities, own, strict=True):
        if kind is Kind.COMPONENT or (kind is Kind.ROUTE and scopes[line_scopes[line][0]].is_function):
            continue  # these name code that is in the scope of the file or of a function
        line_scopes[start:line] = [(scope, scopes[scope].parent)] * (line - start)
        line_scopes[line : end + 1] = [(scope, scope)] * (end - line + 1)
    return line_scopes


def _hash_interface(file: FileScopes) -> bytes:
    """Hash what other files can see of a file: everything but its calls and line numbers."""
    visible = [
        (
            scope.kind, scope.qualified, scope.parent, scope.binds, scope.parameters, scope.attributes, scope.returns,
            scope.yields, scope.declared, scope.bases, sorted(scope.decorators),
        )
        for scope in file.scopes
    ]  # fmt: skip
    imports = [(mention.scope, mention.target, mention.detail) for mention in file.imports]
    links = [(mention.target, mention.detail) for mention in file.links]  # the names of packages
    return blake2b(json.dumps([visible, imports, links]).encode(), digest_size=8).digest()


# --- references, by kind ---


def _add_calls(file: FileScopes, line_scopes: LineScopes, rows: Sequence[Reference]) -> None:
    first = file.calls.setdefault
    for name, line, through in rows:
        first((*line_scopes[line], name, through), line)


def _add_decorators(file: FileScopes, line_scopes: LineScopes, rows: Sequence[Reference]) -> None:
    for name, line, through in rows:
        inside, _ = line_scopes[line]
        scope = file.scopes[inside]
        scope.decorators.add(f"{through}.{name}" if through else name)
        file.decorators.append(((inside, scope.parent, name, through), line))


def _add_bindings(file: FileScopes, line_scopes: LineScopes, rows: Sequence[Reference]) -> None:
    for target, line, detail in rows:
        _bind(file, target, detail, line_scopes[line][1])


def _add_fields(file: FileScopes, line_scopes: LineScopes, rows: Sequence[Reference]) -> None:
    for target, line, detail in rows:
        enclosing = file.find_enclosing_class(line_scopes[line][0])
        file.scopes[enclosing].attributes.setdefault(target, []).append((detail, enclosing))


def _add_parameters(file: FileScopes, line_scopes: LineScopes, rows: Sequence[Reference]) -> None:
    for target, line, detail in rows:
        file.scopes[line_scopes[line][0]].parameters.setdefault(target, detail)


def _add_returns(file: FileScopes, line_scopes: LineScopes, rows: Sequence[Reference]) -> None:
    for target, line, detail in rows:
        scope = file.scopes[line_scopes[line][0]]
        if detail:
            scope.declared = detail[1:]
        else:
            scope.returns.append(target)


def _add_yields(file: FileScopes, line_scopes: LineScopes, rows: Sequence[Reference]) -> None:
    for target, line, _ in rows:
        file.scopes[line_scopes[line][0]].yields.append(target)


def _add_bases(file: FileScopes, line_scopes: LineScopes, rows: Sequence[Reference]) -> None:
    for target, line, _ in rows:
        enclosing = file.find_enclosing_class(line_scopes[line][0])
        file.scopes[enclosing].bases.append(target)
        file.bases.append(Base(enclosing, target, line))


def _add_imports(file: FileScopes, line_scopes: LineScopes, rows: Sequence[Reference]) -> None:
    file.imports += (Mention(line_scopes[line][1], target, detail, line) for target, line, detail in rows)


def _add_links(file: FileScopes, line_scopes: LineScopes, rows: Sequence[Reference]) -> None:
    file.links += (Mention(line_scopes[line][1], target, detail, line) for target, line, detail in rows)


_FILLERS: dict[ReferenceKind, Callable[[FileScopes, LineScopes, Sequence[Reference]], None]] = {
    ReferenceKind.PARAMETER: _add_parameters,
    ReferenceKind.CALL: _add_calls,
    ReferenceKind.DECORATOR: _add_decorators,
    ReferenceKind.BIND: _add_bindings,
    ReferenceKind.FIELD: _add_fields,
    ReferenceKind.RETURN: _add_returns,
    ReferenceKind.YIELD: _add_yields,
    ReferenceKind.INHERIT: _add_bases,
    ReferenceKind.IMPORT: _add_imports,
    ReferenceKind.LINK: _add_links,
}
"""Parameters come first: they tell which bindings of a method are attributes of its object."""


def _bind(file: FileScopes, target: str, detail: str, from_scope: int) -> None:
    if target == "default":
        from_scope = FILE  # a default export is written on the first line of a definition
    if "." not in target:
        file.scopes[from_scope].binds.setdefault(target, []).append(detail)
        return
    first, _, rest = target.partition(".")
    if target == "module.exports" or target.rpartition(".")[0] in _EXPORT_OBJECTS:
        name = target if target == "module.exports" else target.rpartition(".")[2]
        file.scopes[FILE].binds.setdefault(name, []).append(detail)
        return
    if "." in rest:
        return
    method = file.find_enclosing_method(from_scope)
    if method and (first in RECEIVERS or first == file.scopes[method].receiver):
        enclosing = file.scopes[file.scopes[method].parent]
        enclosing.attributes.setdefault(rest, []).append((detail, from_scope))
    elif not method:
        file.scopes[FILE].binds.setdefault(target, []).append(detail)
