"""Names to entities: follows what a name is bound to, through scopes, imports, types and base classes.

Every step that leaves the expression it stands in (what a name is bound to, what a function returns) uses up
*fuel*, and results are remembered together with the fuel they were computed with: following ends, also in
circles, and comes to the same end in whatever order files are resolved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from dowse.graph.import_rules import DIALECTS, dialect_of
from dowse.graph.import_rules.rule import (
    ABOVE,
    CLASS,
    EACH,
    FOLDER,
    FUNCTION,
    INSTANCE,
    MODULE,
    OUTSIDE,
    Dialect,
    Imported,
    Value,
)
from dowse.graph.scopes import FILE, RECEIVERS, FileScopes, Mention, Scope
from dowse.graph.symbol_table import Tree
from dowse.types import Certainty, Edge, Kind, Relation

FUEL = 7
"""Steps from a call to what it means: real chains take up to five."""

HEIGHT = 20
"""Levels of inheritance."""

MANY = 8
"""More things than this that an expression may be are as good as none."""

T = TypeVar("T")
Values = frozenset[Value]
NOTHING: Values = frozenset()

_PARTS = re.compile(r"\(\)|\[\]|!|[^.()\[\]!]+")
_OPENING = frozenset({"unwrap", "expect"})
"""Methods that return what their object holds."""
_PROPERTIES = frozenset({
    "property", "cached_property", "functools.cached_property", "abc.abstractproperty", "classproperty",
    "lazyproperty", "reify", "hybrid_property",
})  # fmt: skip
_CONTEXTS = frozenset(
    {"contextmanager", "contextlib.contextmanager", "asynccontextmanager", "contextlib.asynccontextmanager"}
)
_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_SELF_TYPES = frozenset(
    {"Self", "typing.Self", "t.Self", "te.Self", "typing_extensions.Self", "this", "static", "self"}
)


class Memo(NamedTuple):
    """A result and what it depended on."""

    value: Any
    looked_at: frozenset[str]


class Ends(NamedTuple):
    """What is known of the other end of an edge, and the ids or outside names there."""

    certainty: Certainty | None
    targets: tuple[str, ...] = ()


NO_ENDS = Ends(None)


@dataclass
class Resolver:
    """Resolves the files of one tree."""

    tree: Tree
    _memo: dict[tuple[object, ...], Memo] = field(default_factory=dict)
    _imports: dict[str, dict[int, dict[str, list[Imported]]]] = field(default_factory=dict)
    _known_ends: dict[tuple[Values, Relation], Ends] = field(default_factory=dict)
    _chains: dict[tuple[int, str], Values] = field(
        default_factory=dict
    )  # of the file being resolved: what these
    _bound_here: dict[tuple[object, ...], Values] = field(
        default_factory=dict
    )  # looked at counts for it anyway,
    _member_ends: dict[tuple[Values, str], Ends] = field(default_factory=dict)  # and only once
    _key_sets: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)
    _counted: set[int] = field(default_factory=set)  # the sets of keys that are in what was looked at, by id
    _depth: int = 0  # results that are being computed to be remembered

    # --- edges ---

    def edges(self, file: FileScopes) -> list[Edge]:
        """What a file imports, inherits from and calls."""
        self._chains.clear()
        self._bound_here.clear()
        self._member_ends.clear()
        self._counted.clear()
        found = [
            *self._link_edges(file),
            *self._import_edges(file),
            *self._inherit_edges(file),
            *self._call_edges(file),
            *self._declare_edges(file),
        ]
        return list(dict.fromkeys(found))

    def _link_edges(self, file: FileScopes) -> Iterator[Edge]:
        dialect = dialect_of(file.language)
        for link in file.links:
            for value in dialect.linked(self.tree, file, link.target):
                yield Edge(file.path, value.place, Relation.REFERENCES, Certainty.RESOLVED, link.line)

    def _import_edges(self, file: FileScopes) -> Iterator[Edge]:
        dialect = dialect_of(file.language)
        for mention in file.imports:
            targets = sorted(self._imported_nodes(file, dialect, mention))
            for target in targets:
                if target != file.path and not target.startswith(f"{file.path}:"):
                    yield Edge(file.path, target, Relation.IMPORTS, Certainty.RESOLVED, mention.line)
            if not targets:
                name = mention.target
                yield Edge(file.path, name, Relation.IMPORTS, Certainty.EXTERNAL, mention.line)

    def _imported_nodes(self, file: FileScopes, dialect: Dialect, mention: Mention) -> set[str]:
        nodes: set[str] = set()
        for located in self._modules(file, mention.target):
            nodes |= self._file_of(located)
        for imported in dialect.imported(mention):
            if imported.member and imported.member != "*":
                values = self._import_value(file, imported, FUEL - 1)
                if not values and "." in imported.member:  # of something that is no node, its module
                    values = self._import_value(file, _holder(imported), FUEL - 1)
                for value in values:
                    nodes |= self._file_of(value)
        return nodes

    def _file_of(self, value: Value) -> set[str]:
        if value.sort == MODULE:
            return {value.place}
        if value.sort in (CLASS, FUNCTION):
            return {self.tree.file(value.place).ids[value.scope]}
        return set()

    def _inherit_edges(self, file: FileScopes) -> Iterator[Edge]:
        for base in file.bases:
            sight = file.scopes[base.scope].parent
            ends = self._ends(self.evaluate(file, sight, base.name, FUEL), Relation.INHERITS)
            if ends.certainty is not None:
                yield _edge(file.ids[base.scope], ends, base.name, Relation.INHERITS, base.line)

    def _call_edges(self, file: FileScopes) -> Iterator[Edge]:
        for (inside, sight, name, through), line in (*file.calls.items(), *file.decorators):
            if through:
                written = f"{through}.{name}"
                ends = self._called_on(file, sight, through, name)
            else:
                written = name
                values = self._called(file, sight, name)
                ends = self._ends(values or NOTHING, Relation.INVOKES)
                if ends.certainty is None and values is not None:
                    continue
            yield _edge(file.ids[inside], ends, written, Relation.INVOKES, line)

    def _declare_edges(self, file: FileScopes) -> Iterator[Edge]:
        if not file.path.endswith(dialect_of(file.language).headers):
            return
        lines = {node.id: node.line for node in file.nodes}
        for _, scope in file.names:
            declared = _definition(file, scope)
            if declared.sort == FUNCTION and (defined := self._defined(declared)) != declared:
                source, target = file.ids[scope], self.tree.file(defined.place).ids[defined.scope]
                yield Edge(source, target, Relation.DECLARES, Certainty.RESOLVED, lines[source])

    def _called(self, file: FileScopes, sight: int, name: str) -> Values | None:
        """What a call of a name may call; none if the name is not bound anywhere."""
        name = name.replace("::", ".")
        if "." in name:
            return self.evaluate(file, sight, name, FUEL)
        return self._find(file, sight, name, FUEL, is_called=True)

    def _called_on(self, file: FileScopes, sight: int, through: str, name: str) -> Ends:
        """What ``through.name()`` may call."""
        if through == "?":
            return NO_ENDS
        values = self._chains.get((sight, through))
        if values is None:
            values = self._chains[sight, through] = self.evaluate(file, sight, through, FUEL)
        if not values:
            return NO_ENDS
        ends = self._member_ends.get((values, name))
        if ends is None:
            members = (self._member(value, name, FUEL, is_property=False) for value in values)
            called = _few(member for found in members for member in found)
            ends = self._member_ends[values, name] = self._ends(called, Relation.INVOKES)
        return ends

    def _ends(self, values: Values, relation: Relation) -> Ends:
        """The other end of an edge to what a mention may mean."""
        if not values:
            return NO_ENDS
        key = (values, relation)
        found = self._known_ends.get(key)
        if found is None:
            targets = tuple(sorted({target for value in values for target in self._target(value, relation)}))
            outside = tuple(sorted(value.place for value in values if value.sort == OUTSIDE))
            if targets:
                found = Ends(Certainty.RESOLVED if len(targets) == 1 else Certainty.AMBIGUOUS, targets)
            else:
                found = Ends(Certainty.EXTERNAL, outside) if outside else NO_ENDS
            if not any(
                value.sort == INSTANCE or self._is_declared(value) for value in values
            ):  # whether these can be called and where they are defined, files decide
                self._known_ends[key] = found
        return found

    def _target(self, value: Value, relation: Relation) -> Iterator[str]:
        if value.sort == CLASS or (value.sort == FUNCTION and relation is Relation.INVOKES):
            place, scope = self._defined(value)[1:]
            yield self.tree.file(place).ids[scope]
        elif value.sort == INSTANCE and relation is Relation.INVOKES:
            for method in self._class_member(value, "__call__", FUEL):
                if method.sort == FUNCTION:
                    yield self.tree.file(method.place).ids[method.scope]

    # --- declarations ---

    def _is_declared(self, value: Value) -> bool:
        """Whether something is a function in a header."""
        if value.sort != FUNCTION:
            return False
        return value.place.endswith(dialect_of(self.tree.languages[value.place]).headers)

    def _defined(self, value: Value) -> Value:
        """Of a function that a header declares, its definition if there is one that it can be; else itself."""
        if not self._is_declared(value):
            return value
        return self._remembered(("defined", value), lambda: self._definition_of(value))

    def _definition_of(self, declared: Value) -> Value:
        """The function of that name; of several the one that sees the header, or whose file is named like it."""
        file = self.tree.file(declared.place)
        found = dict(self._functions_outside_of_headers(file, declared.scope))
        if len(found) > 1:  # functions of one file only and those of other programs do not see it
            found = {path: value for path, value in found.items() if self._includes(path, file.path)} or found
        if len(found) > 1:
            found = {path: value for path, value in found.items() if _stem(path) == _stem(file.path)}
        return next(iter(found.values())) if len(found) == 1 else declared

    def _functions_outside_of_headers(self, file: FileScopes, scope: int) -> Iterator[tuple[str, Value]]:
        row, dialect = file.scopes[scope], dialect_of(file.language)
        if row.kind is Kind.MACRO:
            return
        for path, number in self.tree.named(dialect.family, row.qualified.rpartition(".")[2]):
            other = self.tree.file(path)
            found = other.scopes[number]
            is_function = found.is_function and found.kind is not Kind.MACRO
            is_outside = not path.endswith(dialect.headers)
            if is_function and is_outside and _is_same_name(found.qualified, row.qualified):
                yield path, _definition(other, number)

    def _includes(self, path: str, header: str) -> bool:
        file = self.tree.file(path)
        return any(
            module.place == header for each in file.imports for module in self._modules(file, each.target)
        )

    # --- expressions ---

    def evaluate(self, file: FileScopes, sight: int, chain: str, fuel: int) -> Values:
        """What a chain of names and calls may be, seen from a scope."""
        if "|" in chain:
            return _few(v for part in chain.split("|") for v in self.evaluate(file, sight, part, fuel))
        if fuel <= 0 or not chain or chain[0] == "?":
            return NOTHING
        if chain.isidentifier() and chain not in dialect_of(file.language).supers:
            return self._lookup(file, sight, chain, fuel) or NOTHING
        chain = chain.replace("::", ".")
        if (above := self._above(file, sight, chain)) is not None:
            values, rest = above
        else:
            first, *rest = _PARTS.findall(chain) or [""]
            values = self._lookup(file, sight, first, fuel) or NOTHING
        for part in rest:
            if not values:
                return NOTHING
            if part == "()":
                values = _few(v for value in values for v in self._call(value, fuel))
            elif part == "[]":
                values = _few(v for value in values for v in self._each(value))
            elif part == "!":
                values = _few(v for value in values for v in self._held(value))
            else:
                values = _few(v for value in values for v in self._member(value, part, fuel))
        return values

    def _above(self, file: FileScopes, sight: int, chain: str) -> tuple[Values, list[str]] | None:
        """``super().x`` as the object itself, seen from the class above, and what is left of the chain."""
        word = chain.partition(".")[0]
        if word not in dialect_of(file.language).supers or not (method := file.method_around(sight)):
            return None
        rest = _PARTS.findall(chain[len(word) :])
        return frozenset({Value(ABOVE, file.path, file.scopes[method].parent)}), rest

    def _lookup(self, file: FileScopes, sight: int, name: str, fuel: int) -> Values | None:
        """What a name means in a scope and the ones around it; none if it is not bound in the file."""
        if not self._depth:
            return self._find(file, sight, name, fuel)
        key = ("name", file.path, sight, name, fuel)
        return self._remembered(key, lambda: self._find(file, sight, name, fuel))

    def _find(
        self, file: FileScopes, sight: int, name: str, fuel: int, *, is_called: bool = False
    ) -> Values | None:
        dialect = dialect_of(file.language)
        if (receiver := self._receiver(file, dialect, sight, name)) is not None:
            return receiver
        scope, first = sight, True
        inherited: Values | None = None  # by a class around from a base whose members nobody knows
        while True:
            row = file.scopes[scope]
            if first or not row.is_class or dialect.class_scope_visible:
                found = self._bound(file, scope, name, fuel)
                if found is None and row.is_class and dialect.implicit_receiver:
                    found, perhaps = self._implicit(file, scope, name, fuel)
                    inherited = inherited or perhaps
                if found is not None:
                    return found
            if scope == FILE:
                break
            scope, first = row.parent, False
        if inherited and not is_called:
            inherited = frozenset({Value(OUTSIDE, name)})  # may as well be a type that needs no import
        return self._beyond(file, dialect, name, fuel, inherited)

    def _implicit(
        self, file: FileScopes, scope: int, name: str, fuel: int
    ) -> tuple[Values | None, Values | None]:
        """A member of the class around; apart from it, one that a base outside of the tree may have."""
        around = Value(INSTANCE, file.path, scope)
        found = self._class_member(around, name, fuel) or None
        bases = (base for base in self.order(around._replace(sort=CLASS)) if base.sort == OUTSIDE)
        is_guess = any(found == _outside_member(base, name) for base in bases)
        return (None, found) if is_guess else (found, None)

    def _receiver(self, file: FileScopes, dialect: Dialect, sight: int, name: str) -> Values | None:
        """The object of the method around, or its class, in languages that have a word for it."""
        if name == dialect.own_type and (around := file.enclosing_class(sight)):
            return frozenset({Value(CLASS, file.path, around)})
        if dialect.declares_receiver or name not in RECEIVERS:
            return None
        around = file.enclosing_class(sight)
        return frozenset({Value(INSTANCE, file.path, around)}) if around else None

    def _beyond(
        self, file: FileScopes, dialect: Dialect, name: str, fuel: int, inherited: Values | None
    ) -> Values | None:
        """What a name means that the file does not bind: of its package, of the language, or of the whole tree."""
        for imported in self._bindings(file).get(FILE, {}).get("*", ()):
            for module in self._modules(file, imported.module):
                if found := self._member(module, name, fuel - 1):
                    return found
        if dialect.shared_folder and (found := self._in_folder(file, name)):
            return found
        if name in dialect.builtins:
            return frozenset({Value(OUTSIDE, name)})
        if dialect.names_modules and (modules := self._modules(file, name)):
            return _few(modules)
        if dialect.global_types or dialect.global_functions:
            key = ("anywhere", file.language, name)
            found = self._remembered(key, lambda: self._anywhere(dialect, name))
            if inherited:  # a method of the base is likelier than some function of that name
                found = frozenset(value for value in found if value.sort == CLASS)
            return found or inherited
        return inherited

    def _in_folder(self, file: FileScopes, name: str) -> Values:
        folder = file.path.rpartition("/")[0]
        for path in self.tree.files_in(folder):
            if path != file.path and self.tree.languages[path] == file.language:
                other = self.tree.file(path)
                if scope := other.scopes[FILE].members.get(name):
                    return frozenset({_definition(other, scope)})
        return NOTHING

    def _anywhere(self, dialect: Dialect, name: str) -> Values:
        found = set()
        for path, scope in self.tree.named(dialect.family or dialect.languages, name):
            other = self.tree.file(path)
            row = other.scopes[scope]
            wanted = dialect.global_types if not row.is_function else dialect.global_functions
            if wanted and not other.scopes[row.parent].is_class:
                found.add(_definition(other, scope))
        return _few(found)

    def _bound(self, file: FileScopes, scope: int, name: str, fuel: int) -> Values | None:
        """What a name is bound to in this very scope; none if it is not."""
        row = file.scopes[scope]
        bindings = self._bindings(file).get(scope)
        imported = bindings.get(name, ()) if bindings else ()
        if not (imported or name in row.members or name in row.binds or name in row.parameters):
            return None
        if self._depth:
            return self._bound_to(file, scope, name, imported, fuel)
        key = (file.path, scope, name, fuel)
        found = self._bound_here.get(key)
        if found is None:
            found = self._bound_here[key] = self._bound_to(file, scope, name, imported, fuel)
        return found

    def _bound_to(
        self, file: FileScopes, scope: int, name: str, imported: Iterable[Imported], fuel: int
    ) -> Values:
        row = file.scopes[scope]
        found: set[Value] = set()
        if name in row.parameters:
            found |= self._parameter(file, scope, name, fuel)
        if (member := row.members.get(name)) is not None:
            is_class = row.is_class and _is_constructor(file, member)
            found.add(Value(CLASS, file.path, scope) if is_class else _definition(file, member))
        for each in imported:
            found |= self._import_value(file, each, fuel - 1)
        for detail in dict.fromkeys(row.binds.get(name, ())):
            found |= self._value(file, scope, detail, fuel - 1)
        return _few(found)

    def _value(self, file: FileScopes, sight: int, detail: str, fuel: int) -> Values:
        """What a binding binds to: a chain, or ``:`` and a type."""
        if detail.startswith(":"):
            return self._typed(file, sight, detail[1:], fuel)
        return self.evaluate(file, sight, detail, fuel)

    def _typed(self, file: FileScopes, sight: int, declared: str, fuel: int) -> Values:
        found: set[Value] = set()
        for name, sort in dialect_of(file.language).type_names(declared):
            if name in _SELF_TYPES and (around := file.enclosing_class(sight)):
                found.add(Value(sort, file.path, around))
                continue
            for value in self.evaluate(file, sight, name, fuel):
                if value.sort == CLASS:
                    found.add(value._replace(sort=sort))
                elif value.sort == OUTSIDE:
                    found.add(value)
        return _few(found)

    def _parameter(self, file: FileScopes, scope: int, name: str, fuel: int) -> Values:
        row = file.scopes[scope]
        around = file.scopes[row.parent]
        is_first = row.receiver == name and dialect_of(file.language).declares_receiver
        if is_first and around.is_class and "staticmethod" not in row.decorators:
            last = row.qualified.rpartition(".")[2]
            is_of_class = "classmethod" in row.decorators or last in _CLASS_METHODS
            return frozenset({Value(CLASS if is_of_class else INSTANCE, file.path, row.parent)})
        return self._value(file, row.parent, row.parameters[name], fuel - 1)

    # --- modules ---

    def _bindings(self, file: FileScopes) -> dict[int, dict[str, list[Imported]]]:
        """The names that a file's imports bind, by scope."""
        found = self._imports.get(file.path)
        if found is None:
            found = self._imports[file.path] = {}
            dialect = dialect_of(file.language)
            for mention in file.imports:
                for imported in dialect.imported(mention):
                    local = (
                        "*" if imported.member == "*" and not imported.local.strip("*") else imported.local
                    )
                    found.setdefault(mention.scope, {}).setdefault(local, []).append(imported)
        return found

    def _modules(self, file: FileScopes, module: str) -> list[Value]:
        """What an import names."""
        dialect = dialect_of(file.language)
        place = file.path.rpartition("/")[0] if dialect.same_in_folder else file.path
        key = ("module", file.language, place, module)
        return self._remembered(key, lambda: dialect.locate(self.tree, file, module))

    def _import_value(self, file: FileScopes, imported: Imported, fuel: int) -> Values:
        if fuel <= 0:
            return NOTHING
        modules = self._modules(file, imported.module)
        if not modules:
            return frozenset({Value(OUTSIDE, ".".join(filter(None, [imported.module, imported.member])))})
        if not imported.member:
            return _few(v for module in modules for v in (module, *self._whole(module, fuel)))
        found = _few(modules)
        for part in imported.member.split("."):
            found = _few(v for value in found for v in self._member(value, part, fuel))
        if not found and imported.member == "default":
            found = _few(v for module in modules for v in self._whole(module, fuel))
        return found

    def _whole(self, module: Value, fuel: int) -> Values:
        """What a module is as a value, in languages where it is one."""
        if module.sort != MODULE or fuel <= 0:
            return NOTHING
        file = self.tree.file(module.place)
        name = dialect_of(file.language).whole
        return (self._bound(file, FILE, name, fuel) if name else None) or NOTHING

    def _module_member(self, module: Value, name: str, fuel: int) -> Values:
        """A name of a module, its own or imported there, or a module inside of it."""
        if module.sort == MODULE:
            file = self.tree.file(module.place)
            found = self._bound(file, FILE, name, fuel)
            if found is None:
                found = self._starred(file, name, fuel)
            if found:
                return found
        language = self.tree.languages[module.place] if module.sort == MODULE else ""
        dialects = [dialect_of(language)] if language else DIALECTS
        for dialect in dialects:
            if inner := dialect.submodule(self.tree, module, name):
                return frozenset({inner})
        return NOTHING

    def _starred(self, file: FileScopes, name: str, fuel: int) -> Values | None:
        if fuel <= 0:
            return None
        for imported in self._bindings(file).get(FILE, {}).get("*", ()):
            for module in self._modules(file, imported.module):
                if found := self._member(module, name, fuel - 1):
                    return found
        return None

    # --- objects ---

    def _member(self, value: Value, name: str, fuel: int, *, is_property: bool = True) -> Values:
        """``value.name``."""
        if fuel <= 0:
            return NOTHING
        if value.sort in (MODULE, FOLDER):
            return self._remembered(
                ("member", value, name, fuel), lambda: self._module_member(value, name, fuel)
            )
        if value.sort == OUTSIDE:
            return frozenset({value._replace(place=f"{value.place}.{name}")}) if value.place else NOTHING
        if value.sort == EACH and name in _OPENING:
            return frozenset({value})
        if value.sort not in (CLASS, INSTANCE, ABOVE):
            return NOTHING
        found = self._class_member(value, name, fuel)
        if is_property and value.sort != CLASS:
            return _few(v for method in found for v in self._got(method, fuel))
        return found

    def _got(self, method: Value, fuel: int) -> Values:
        """A member as an object has it: of a property, what it returns."""
        if method.sort == FUNCTION:
            row = self.tree.file(method.place).scopes[method.scope]
            if row.decorators & _PROPERTIES:
                return self._returned(method, fuel - 1)
        return frozenset({method})

    def _class_member(self, value: Value, name: str, fuel: int) -> Values:
        return self._remembered(("class", value, name, fuel), lambda: self._inherited(value, name, fuel))

    def _inherited(self, value: Value, name: str, fuel: int) -> Values:
        order = self.order(Value(CLASS, value.place, value.scope))
        has_one_class = dialect_of(self.tree.languages[value.place]).one_base_class
        perhaps = NOTHING
        for ancestor in order[1:] if value.sort == ABOVE else order:
            if ancestor.sort == OUTSIDE:
                perhaps = perhaps or _outside_member(ancestor, name)
                if has_one_class:
                    continue
                return perhaps
            file = self.tree.file(ancestor.place)
            found = self._bound(file, ancestor.scope, name, fuel)
            if found is None:
                found = self._elsewhere(file, ancestor.scope, name)
            if found is None:
                found = self._attribute(file, ancestor.scope, name, fuel)
            elif not found:
                found |= self._attribute(file, ancestor.scope, name, fuel) or NOTHING
            if found is not None:
                return found
        return perhaps

    def _elsewhere(self, file: FileScopes, scope: int, name: str) -> Values | None:
        """A method that is written in another file than its type."""
        dialect = dialect_of(file.language)
        if not dialect.shared_folder:
            return None
        qualified = f"{file.scopes[scope].qualified}.{name}"
        for path in self.tree.files_in(file.path.rpartition("/")[0]):
            if self.tree.languages[path] == file.language:
                other = self.tree.file(path)
                if found := other.scopes[FILE].members.get(qualified):
                    return frozenset({_definition(other, found)})
        return None

    def _attribute(self, file: FileScopes, scope: int, name: str, fuel: int) -> Values | None:
        details = file.scopes[scope].attributes.get(name)
        if details is None or fuel <= 0:
            return None
        pairs = dict.fromkeys(details)
        return _few(v for detail, sight in pairs for v in self._value(file, sight, detail, fuel - 1))

    def order(self, of: Value, height: int = HEIGHT) -> list[Value]:
        """A class and its ancestors in the order members are looked up; where that is not possible, by depth."""
        return self._remembered(("order", of, height), lambda: self._linearised(of, height))

    def _linearised(self, of: Value, height: int) -> list[Value]:
        if height <= 0 or of.sort != CLASS:
            return [of]
        file = self.tree.file(of.place)
        row = file.scopes[of.scope]
        bases: list[Value] = []
        for name in dict.fromkeys(row.bases):
            values = self.evaluate(file, row.parent, name, FUEL)
            classes = sorted(value for value in values if value.sort in (CLASS, OUTSIDE))
            bases += classes[:1] or [Value(OUTSIDE, name)]
        bases = [base for base in bases if base != of and base.place != "object"]
        lines = [self.order(base, height - 1) for base in bases]
        return [of, *_merged([list(line) for line in lines] + [bases], of)]

    def _call(self, value: Value, fuel: int) -> Values:
        """``value()``."""
        if value.sort == CLASS:
            return frozenset({value._replace(sort=INSTANCE)})
        if value.sort == OUTSIDE:
            return frozenset({value._replace(place=f"{value.place}()")}) if value.place else NOTHING
        if value.sort == EACH:  # ``held.unwrap()``
            return self._each(value)
        if value.sort == FUNCTION:
            return self._returned(value, fuel - 1)
        if value.sort == INSTANCE:
            methods = self._class_member(value, "__call__", fuel)
            return _few(
                v for method in methods if method.sort == FUNCTION for v in self._returned(method, fuel - 1)
            )
        return NOTHING

    def _held(self, value: Value) -> Values:
        return frozenset({value}) if value.sort == OUTSIDE else self._each(value)

    def _each(self, value: Value) -> Values:
        return frozenset({value._replace(sort=INSTANCE)}) if value.sort == EACH else NOTHING

    def _returned(self, function: Value, fuel: int) -> Values:
        """What a function returns: as it declares, or as its return statements say."""
        if fuel <= 0:
            return NOTHING
        return self._remembered(("returns", function, fuel), lambda: self._returns(function, fuel))

    def _returns(self, function: Value, fuel: int) -> Values:
        file = self.tree.file(function.place)
        row = file.scopes[function.scope]
        if row.declared and (found := self._typed(file, row.parent, row.declared, fuel)):
            is_context = bool(row.decorators & _CONTEXTS)
            return frozenset(v._replace(sort=INSTANCE) if is_context and v.sort == EACH else v for v in found)
        results = row.yields if row.decorators & _CONTEXTS else row.returns if not row.yields else ()
        return _few(
            v for chain in dict.fromkeys(results) for v in self.evaluate(file, function.scope, chain, fuel)
        )

    def _remembered(self, key: tuple[object, ...], compute: Callable[[], T]) -> T:
        """A result computed once, with what it looked at counted for everyone who asks."""
        tree = self.tree
        memo = self._memo.get(key)
        if memo is None:
            outer = tree.looked_at, self._counted
            tree.looked_at, self._counted = set(), set()
            self._depth += 1
            value = compute()
            self._depth -= 1
            memo = self._memo[key] = Memo(value, self._interned(tree.looked_at))
            tree.looked_at, self._counted = outer
        if (number := id(memo.looked_at)) not in self._counted:
            self._counted.add(number)
            tree.looked_at |= memo.looked_at
        result: T = memo.value
        return result

    def _interned(self, keys: set[str]) -> frozenset[str]:
        """Equal sets once: most results look at the same few files."""
        frozen = frozenset(keys)
        return self._key_sets.setdefault(frozen, frozen)


def _edge(source: str, ends: Ends, written: str, relation: Relation, line: int) -> Edge:
    """The edge from a mention to its ends; to a name, if nothing is known of them."""
    certainty, targets = ends
    if certainty is Certainty.RESOLVED:
        return Edge(source, targets[0], relation, certainty, line)
    if certainty is Certainty.EXTERNAL:
        return Edge(source, targets[0] or written, relation, certainty, line)
    return Edge(source, written.rpartition(".")[2], relation, Certainty.AMBIGUOUS, line, targets)


def _holder(imported: Imported) -> Imported:
    return imported._replace(member=imported.member.rpartition(".")[0])


def _definition(file: FileScopes, scope: int) -> Value:
    row: Scope = file.scopes[scope]
    return Value(FUNCTION if row.is_function else CLASS, file.path, scope)


def _is_constructor(file: FileScopes, scope: int) -> bool:
    """Whether a method has the name of its class, in languages where it then makes objects."""
    *_, around, name = ("", *file.scopes[scope].qualified.split("."))
    return around == name and name in dialect_of(file.language).constructors(name)


def _is_same_name(one: str, other: str) -> bool:
    """Whether two qualified names can mean the same: one may leave out the namespaces."""
    return f".{one}".endswith(f".{other}") or f".{other}".endswith(f".{one}")


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _outside_member(of: Value, name: str) -> Values:
    return frozenset({Value(OUTSIDE, f"{of.place}.{name}")})


def _few(values: Iterable[Value]) -> Values:
    found = frozenset(values)
    return found if len(found) <= MANY else NOTHING


def _merged(lines: list[list[Value]], of: Value) -> list[Value]:
    """C3; of orders that contradict each other, the first that comes."""
    merged: list[Value] = []
    while lines := [line for line in lines if line]:
        heads = (line[0] for line in lines if not any(line[0] in other[1:] for other in lines))
        head = next(heads, lines[0][0])
        if head not in merged and head != of:
            merged.append(head)
        lines = [[value for value in line if value != head] for line in lines]
    return merged
