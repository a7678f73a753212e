"""What one file defines and mentions, in tables by scope: the form in which names are looked up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from dowse.code.references import unpack
from dowse.types import Kind, Node, Outline, Reference, ReferenceKind

CLASSES = frozenset({Kind.CLASS, Kind.INTERFACE, Kind.TRAIT, Kind.STRUCT, Kind.ENUM, Kind.IMPL, Kind.TYPE})
FUNCTIONS = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.MACRO})
NODES = CLASSES | FUNCTIONS | {Kind.MODULE}
"""The kinds that are nodes of the graph; a variable is part of what it stands in."""

FILE = 0
"""The scope of a file itself; the n-th entity has scope n + 1."""

RECEIVERS = frozenset({"self", "this", "cls"})
"""First names of chains that stand for the object a method is called on, in languages that do not declare it."""


_EXPORTS = frozenset({"", "exports", "module.exports"})
"""What a definition of a file may be written under without belonging to anything else."""


class Call(NamedTuple):
    """A call as written. ``inside`` is the scope it counts for, ``sight`` the one its names are looked up from."""

    inside: int
    sight: int
    name: str
    through: str
    line: int


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
    members: dict[str, int] = field(default_factory=dict)
    binds: dict[str, list[str]] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, list[tuple[str, int]]] = field(default_factory=dict)  # with the scope of the value
    returns: list[str] = field(default_factory=list)
    yields: list[str] = field(default_factory=list)
    declared: str = ""  # the type that a function says it returns
    bases: list[str] = field(default_factory=list)
    decorators: set[str] = field(default_factory=set)

    @property
    def is_class(self) -> bool:
        """Whether its functions are methods."""
        return self.kind in CLASSES

    @property
    def is_function(self) -> bool:
        """Whether it can be called."""
        return self.kind in FUNCTIONS

    @property
    def receiver(self) -> str:
        """The first parameter of a function."""
        return next(iter(self.parameters), "")


@dataclass(slots=True)
class FileScopes:
    """A file as the resolver sees it."""

    path: str
    language: str
    scopes: list[Scope]
    nodes: list[Node]
    calls: list[Call]
    bases: list[Base]
    imports: list[Mention]
    links: list[Mention]
    interface: bytes  # equal: nobody else's names change their meaning

    def id(self, scope: int) -> str:
        """The node that a scope is."""
        return f"{self.path}:{self.scopes[scope].qualified}" if scope else self.path

    def enclosing_class(self, scope: int) -> int:
        """The class around a scope, or the scope of the file."""
        while scope and not self.scopes[scope].is_class:
            scope = self.scopes[scope].parent
        return scope

    def method_around(self, scope: int) -> int:
        """The method that a scope is or lies in, or the scope of the file."""
        while scope and not (
            self.scopes[scope].is_function and self.scopes[self.scopes[scope].parent].is_class
        ):
            scope = self.scopes[scope].parent
        return scope


def read(path: str, language: str, packed: bytes) -> FileScopes:
    """The tables of a file."""
    entities, references = unpack(packed)
    own = _canonical(entities)
    scopes = _scopes(entities, own)
    file = FileScopes(path, language, scopes, _nodes(path, entities, own), [], [], [], [], b"")
    owners = _owners(entities, own)
    digest = blake2b(digest_size=8)
    digest.update(repr([(s.kind.value, s.qualified, s.parent) for s in scopes]).encode())
    public: list[tuple[object, ...]] = []
    called: set[tuple[int, int, str, str]] = set()
    for reference in references:
        scope, above = owners[reference.line] if reference.line < len(owners) else (FILE, False)
        _add(file, reference, scope, above, called)
        if reference.kind is not ReferenceKind.CALL:
            public.append((reference.kind.value, reference.target, reference.detail, scope))
    digest.update(repr(public).encode())
    file.interface = digest.digest()
    return file


def _canonical(entities: Sequence[Outline]) -> list[int]:
    """For each entity its scope: that of the first of the same qualified name; -1 for what is none."""
    first: dict[str, int] = {}
    own = []
    for index, entity in enumerate(entities):
        own.append(first.setdefault(entity.qualified, index + 1) if entity.kind in NODES else -1)
    return own


def _scopes(entities: Sequence[Outline], own: Sequence[int]) -> list[Scope]:
    scopes = [Scope(Kind.FILE, "", FILE)]
    by_name = {entity.qualified: scope for entity, scope in zip(entities, own, strict=True) if scope > 0}
    for index, entity in enumerate(entities):
        outer = entity.qualified.rpartition(".")[0].removesuffix(".prototype")
        parent = by_name.get(outer, FILE)
        scopes.append(Scope(entity.kind, entity.qualified, parent if parent != index + 1 else FILE))
    for number, scope in enumerate(scopes):
        if number and own[number - 1] == number:
            outer, _, name = scope.qualified.rpartition(".")
            local = name if scope.parent or outer in _EXPORTS else scope.qualified
            scopes[scope.parent].members[local] = number
    return scopes


def _nodes(path: str, entities: Sequence[Outline], own: Sequence[int]) -> list[Node]:
    return [
        Node(f"{path}:{e.qualified}", e.kind, e.start_line, e.end_line, e.line)
        for index, e in enumerate(entities)
        if own[index] == index + 1
    ]


def _owners(entities: Sequence[Outline], own: Sequence[int]) -> list[tuple[int, bool]]:
    """For each line the innermost scope, and whether the line is above the definition's own (a decorator)."""
    last = max((e.end_line for e in entities), default=0)
    owners = [(FILE, False)] * (last + 1)
    for entity, scope in zip(entities, own, strict=True):
        if scope > 0:
            above, within = entity.line - entity.start_line, entity.end_line - entity.line + 1
            owners[entity.start_line : entity.line] = [(scope, True)] * above
            owners[entity.line : entity.end_line + 1] = [(scope, False)] * within
    return owners


def _add(
    file: FileScopes, reference: Reference, inside: int, above: bool, called: set[tuple[int, int, str, str]]
) -> None:
    kind, target, line, detail = reference
    scope = file.scopes[inside]
    sight = scope.parent if above else inside
    if kind is ReferenceKind.CALL:
        if (key := (inside, sight, target, detail)) not in called:  # the first of equal calls says it all
            called.add(key)
            file.calls.append(Call(inside, sight, target, detail, line))
    elif kind is ReferenceKind.BIND:
        _bind(file, target, detail, sight)
    elif kind is ReferenceKind.FIELD:
        around = file.enclosing_class(inside)
        file.scopes[around].attributes.setdefault(target, []).append((detail, around))
    elif kind is ReferenceKind.PARAMETER:
        scope.parameters.setdefault(target, detail)
    elif kind is ReferenceKind.DECORATOR:
        scope.decorators.add(f"{detail}.{target}" if detail else target)
        file.calls.append(Call(inside, scope.parent if inside else FILE, target, detail, line))
    elif kind is ReferenceKind.RETURN:
        if detail:
            scope.declared = detail[1:]
        else:
            scope.returns.append(target)
    elif kind is ReferenceKind.YIELD:
        scope.yields.append(target)
    elif kind is ReferenceKind.INHERIT:
        around = file.enclosing_class(inside)
        file.scopes[around].bases.append(target)
        file.bases.append(Base(around, target, line))
    elif kind is ReferenceKind.IMPORT:
        file.imports.append(Mention(sight, target, detail, line))
    else:
        file.links.append(Mention(sight, target, detail, line))


def _bind(file: FileScopes, target: str, detail: str, sight: int) -> None:
    if target == "default":
        sight = FILE  # what a module exports, written on the first line of a definition
    if "." not in target:
        file.scopes[sight].binds.setdefault(target, []).append(detail)
        return
    first, _, rest = target.partition(".")
    if target == "module.exports" or target.rpartition(".")[0] in _EXPORTS:
        name = target if target == "module.exports" else target.rpartition(".")[2]
        file.scopes[FILE].binds.setdefault(name, []).append(detail)
        return
    if "." in rest:
        return
    method = file.method_around(sight)
    if method and (first in RECEIVERS or first == file.scopes[method].receiver):
        around = file.scopes[file.scopes[method].parent]
        around.attributes.setdefault(rest, []).append((detail, sight))
    elif not method:
        file.scopes[FILE].binds.setdefault(target, []).append(detail)


def names(file: FileScopes) -> Iterator[tuple[str, int]]:
    """Every definition by its last name, with its scope."""
    for number, scope in enumerate(file.scopes):
        name = scope.qualified.rpartition(".")[2]
        members = file.scopes[scope.parent].members
        if number and number in (members.get(name), members.get(scope.qualified)):
            yield name, number
