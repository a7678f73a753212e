"""Lexical scoping: find what a name is bound to (local scopes, parameters, imports, the package, builtins, globals).

One half of name resolution; ``evaluator.py`` is the other half (chains of members and calls). The two call each other:
a name may be bound to an expression, and an expression begins with a name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field

from dowse.graph.import_rules import DIALECTS, get_dialect
from dowse.graph.import_rules.rule import (
    CLASS,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MODULE,
    Dialect,
    ImportedName,
    Value,
)
from dowse.graph.lookup_memo import LookupMemo
from dowse.graph.scopes import FILE, RECEIVERS, FileScopes, Scope

MAX_VALUES = 8
"""An expression that may be more things than this counts as unknown."""

Values = frozenset[Value]
NO_VALUES: Values = frozenset()

_IMPLICIT_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
"""Methods whose first parameter is the class without a decorator saying so."""

_SELF_TYPES = frozenset(
    {"Self", "typing.Self", "t.Self", "te.Self", "typing_extensions.Self", "this", "static", "self"}
)


@dataclass
class ScopeLookup(LookupMemo, ABC):
    """Finds what names are bound to, in the files of one tree."""

    _imports: dict[str, dict[int, dict[str, list[ImportedName]]]] = field(default_factory=dict)
    _bindings_here: dict[tuple[object, ...], Values] = field(default_factory=dict)  # of the current file

    # --- what the evaluator provides ---

    @abstractmethod
    def evaluate(self, file: FileScopes, from_scope: int, chain: str, fuel: int) -> Values:
        """Find what a chain of names and calls may be, seen from a scope."""

    @abstractmethod
    def get_member(self, value: Value, name: str, fuel: int, *, is_property: bool = True) -> Values:
        """Find what ``value.name`` may be."""

    @abstractmethod
    def get_class_member(self, value: Value, name: str, fuel: int) -> Values:
        """Find a member of a class or one of its bases."""

    @abstractmethod
    def linearize(self, of: Value) -> list[Value]:
        """List a class and its ancestors in the order in which members are looked up."""

    # --- names in scopes ---

    def look_up(self, file: FileScopes, from_scope: int, name: str, fuel: int) -> Values | None:
        """Find what a name means in a scope and the scopes around it, memoized; None if it is bound nowhere."""
        if not self._memo_depth:
            return self.find_name(file, from_scope, name, fuel)
        key = ("name", file.path, from_scope, name, fuel)
        return self.memoize(key, lambda: self.find_name(file, from_scope, name, fuel))

    def find_name(
        self, file: FileScopes, from_scope: int, name: str, fuel: int, *, is_called: bool = False
    ) -> Values | None:
        """Find what a name means in a scope and the scopes around it; None if it is bound nowhere."""
        dialect = get_dialect(file.language)
        if (receiver := self._find_receiver(file, dialect, from_scope, name)) is not None:
            return receiver
        scope, first = from_scope, True
        inherited: Values | None = None  # by an enclosing class, from a base outside of the tree
        while True:
            row = file.scopes[scope]
            if first or not row.is_class or dialect.class_scope_visible:
                found = self.find_binding(file, scope, name, fuel)
                if found is None and row.is_class and dialect.implicit_receiver:
                    found, external = self._find_implicit_member(file, scope, name, fuel)
                    inherited = inherited or external
                if found is not None:
                    return found
            if scope == FILE:
                break
            scope, first = row.parent, False
        if inherited and not is_called:
            inherited = frozenset({Value(EXTERNAL, name)})  # it may also be a type that needs no import
        return self._find_unbound(file, dialect, name, fuel, inherited)

    def _find_implicit_member(
        self, file: FileScopes, scope: int, name: str, fuel: int
    ) -> tuple[Values | None, Values | None]:
        """Find a member of the enclosing class; second, one that a base outside of the tree may have."""
        enclosing = Value(INSTANCE, file.path, scope)
        found = self.get_class_member(enclosing, name, fuel) or None
        bases = (base for base in self.linearize(enclosing._replace(kind=CLASS)) if base.kind == EXTERNAL)
        is_guess = any(found == make_external_member(base, name) for base in bases)
        return (None, found) if is_guess else (found, None)

    def _find_receiver(self, file: FileScopes, dialect: Dialect, from_scope: int, name: str) -> Values | None:
        """Find the object of the enclosing method, or its class, in languages that have a word for it."""
        if name == dialect.self_type_word and (enclosing := file.find_enclosing_class(from_scope)):
            return frozenset({Value(CLASS, file.path, enclosing)})
        if dialect.declares_receiver or name not in RECEIVERS:
            return None
        enclosing = file.find_enclosing_class(from_scope)
        return frozenset({Value(INSTANCE, file.path, enclosing)}) if enclosing else None

    def _find_unbound(
        self, file: FileScopes, dialect: Dialect, name: str, fuel: int, inherited: Values | None
    ) -> Values | None:
        """Find a name that the file does not bind: in its package, in the language, or in the whole tree."""
        for imported in self._collect_imports(file).get(FILE, {}).get("*", ()):
            for module in self.locate_modules(file, imported.module):
                if found := self.get_member(module, name, fuel - 1):
                    return found
        if dialect.folder_is_namespace and (found := self._find_in_folder(file, name)):
            return found
        if name in dialect.builtins:
            return frozenset({Value(EXTERNAL, name)})
        if dialect.unbound_may_be_module and (modules := self.locate_modules(file, name)):
            return limit_values(modules)
        if dialect.global_types or dialect.global_functions:
            key = ("anywhere", file.language, name)
            found = self.memoize(key, lambda: self._find_anywhere(dialect, name))
            if inherited:  # a method of the base is likelier than some function of that name
                found = frozenset(value for value in found if value.kind == CLASS)
            return found or inherited
        return inherited

    def _find_in_folder(self, file: FileScopes, name: str) -> Values:
        folder = file.path.rpartition("/")[0]
        for path in self.tree.list_files(folder):
            if path != file.path and self.tree.languages[path] == file.language:
                other = self.tree.get_file(path)
                if scope := other.scopes[FILE].members.get(name):
                    return frozenset({make_definition_value(other, scope)})
        return NO_VALUES

    def _find_anywhere(self, dialect: Dialect, name: str) -> Values:
        found = set()
        for path, scope in self.tree.find_definitions(dialect.family or dialect.languages, name):
            other = self.tree.get_file(path)
            row = other.scopes[scope]
            wanted = dialect.global_types if not row.is_function else dialect.global_functions
            if wanted and not other.scopes[row.parent].is_class:
                found.add(make_definition_value(other, scope))
        return limit_values(found)

    # --- bindings ---

    def find_binding(self, file: FileScopes, scope: int, name: str, fuel: int) -> Values | None:
        """Find what a name is bound to in this very scope; None if it is not bound there."""
        row = file.scopes[scope]
        bindings = self._collect_imports(file).get(scope)
        imported = bindings.get(name, ()) if bindings else ()
        if not (imported or name in row.members or name in row.binds or name in row.parameters):
            return None
        if self._memo_depth:
            return self._evaluate_binding(file, scope, name, imported, fuel)
        key = (file.path, scope, name, fuel)
        found = self._bindings_here.get(key)
        if found is None:
            found = self._bindings_here[key] = self._evaluate_binding(file, scope, name, imported, fuel)
        return found

    def _evaluate_binding(
        self, file: FileScopes, scope: int, name: str, imported: Iterable[ImportedName], fuel: int
    ) -> Values:
        row = file.scopes[scope]
        found: set[Value] = set()
        if name in row.parameters:
            found |= self._evaluate_parameter(file, scope, name, fuel)
        if (member := row.members.get(name)) is not None:
            is_class = row.is_class and _is_constructor(file, member)
            found.add(Value(CLASS, file.path, scope) if is_class else make_definition_value(file, member))
        for each in imported:
            found |= self.evaluate_import(file, each, fuel - 1)
        for detail in dict.fromkeys(row.binds.get(name, ())):
            found |= self.evaluate_detail(file, scope, detail, fuel - 1)
        return limit_values(found)

    def evaluate_detail(self, file: FileScopes, from_scope: int, detail: str, fuel: int) -> Values:
        """Evaluate the right side of a binding: a chain, or ``:`` and a type."""
        if detail.startswith(":"):
            return self.evaluate_type(file, from_scope, detail[1:], fuel)
        return self.evaluate(file, from_scope, detail, fuel)

    def evaluate_type(self, file: FileScopes, from_scope: int, declared: str, fuel: int) -> Values:
        """Find what something of a declared type may be."""
        found: set[Value] = set()
        for name, kind in get_dialect(file.language).parse_type(declared):
            if name in _SELF_TYPES and (enclosing := file.find_enclosing_class(from_scope)):
                found.add(Value(kind, file.path, enclosing))
                continue
            for value in self.evaluate(file, from_scope, name, fuel):
                if value.kind == CLASS:
                    found.add(value._replace(kind=kind))
                elif value.kind == EXTERNAL:
                    found.add(value)
        return limit_values(found)

    def _evaluate_parameter(self, file: FileScopes, scope: int, name: str, fuel: int) -> Values:
        row = file.scopes[scope]
        enclosing = file.scopes[row.parent]
        is_first = row.receiver == name and get_dialect(file.language).declares_receiver
        if is_first and enclosing.is_class and "staticmethod" not in row.decorators:
            last = row.qualified.rpartition(".")[2]
            is_of_class = "classmethod" in row.decorators or last in _IMPLICIT_CLASS_METHODS
            return frozenset({Value(CLASS if is_of_class else INSTANCE, file.path, row.parent)})
        return self.evaluate_detail(file, row.parent, row.parameters[name], fuel - 1)

    # --- imports and modules ---

    def _collect_imports(self, file: FileScopes) -> dict[int, dict[str, list[ImportedName]]]:
        """Collect the names that the imports of a file bind, by scope."""
        found = self._imports.get(file.path)
        if found is None:
            found = self._imports[file.path] = {}
            dialect = get_dialect(file.language)
            for mention in file.imports:
                for imported in dialect.parse_import(mention):
                    local = (
                        "*" if imported.member == "*" and not imported.local.strip("*") else imported.local
                    )
                    found.setdefault(mention.scope, {}).setdefault(local, []).append(imported)
        return found

    def locate_modules(self, file: FileScopes, module: str) -> list[Value]:
        """Find the modules that an import names."""
        dialect = get_dialect(file.language)
        location = file.path.rpartition("/")[0] if dialect.imports_alike_in_folder else file.path
        key = ("module", file.language, location, module)
        return self.memoize(key, lambda: dialect.locate(self.tree, file, module))

    def evaluate_import(self, file: FileScopes, imported: ImportedName, fuel: int) -> Values:
        """Find what an imported name may be."""
        if fuel <= 0:
            return NO_VALUES
        modules = self.locate_modules(file, imported.module)
        if not modules:
            return frozenset({Value(EXTERNAL, ".".join(filter(None, [imported.module, imported.member])))})
        if not imported.member:
            return limit_values(
                v for module in modules for v in (module, *self._evaluate_module(module, fuel))
            )
        found = limit_values(modules)
        for part in imported.member.split("."):
            found = limit_values(v for value in found for v in self.get_member(value, part, fuel))
        if not found and imported.member == "default":
            found = limit_values(v for module in modules for v in self._evaluate_module(module, fuel))
        return found

    def _evaluate_module(self, module: Value, fuel: int) -> Values:
        """Find what a whole module is as a value, in languages where it is one."""
        if module.kind != MODULE or fuel <= 0:
            return NO_VALUES
        file = self.tree.get_file(module.location)
        name = get_dialect(file.language).module_value_name
        return (self.find_binding(file, FILE, name, fuel) if name else None) or NO_VALUES

    def find_module_member(self, module: Value, name: str, fuel: int) -> Values:
        """Find a name that a module defines or imports, or a module inside of it."""
        if module.kind == MODULE:
            file = self.tree.get_file(module.location)
            found = self.find_binding(file, FILE, name, fuel)
            if found is None:
                found = self._find_starred(file, name, fuel)
            if found:
                return found
        language = self.tree.languages[module.location] if module.kind == MODULE else ""
        dialects = [get_dialect(language)] if language else DIALECTS
        for dialect in dialects:
            if inner := dialect.find_submodule(self.tree, module, name):
                return frozenset({inner})
        return NO_VALUES

    def _find_starred(self, file: FileScopes, name: str, fuel: int) -> Values | None:
        if fuel <= 0:
            return None
        for imported in self._collect_imports(file).get(FILE, {}).get("*", ()):
            for module in self.locate_modules(file, imported.module):
                if found := self.get_member(module, name, fuel - 1):
                    return found
        return None


def limit_values(values: Iterable[Value]) -> Values:
    """Collect values; return none if there are too many to say anything."""
    found = frozenset(values)
    return found if len(found) <= MAX_VALUES else NO_VALUES


def make_definition_value(file: FileScopes, scope: int) -> Value:
    """Return the class or function that a scope defines."""
    row: Scope = file.scopes[scope]
    return Value(FUNCTION if row.is_function else CLASS, file.path, scope)


def make_external_member(of: Value, name: str) -> Values:
    """Return a member of something outside of the tree."""
    return frozenset({Value(EXTERNAL, f"{of.location}.{name}")})


def _is_constructor(file: FileScopes, scope: int) -> bool:
    """Tell whether a method has the name of its class, in languages where that makes it a constructor."""
    *_, enclosing, name = ("", *file.scopes[scope].qualified.split("."))
    return enclosing == name and name in get_dialect(file.language).list_constructor_names(name)
