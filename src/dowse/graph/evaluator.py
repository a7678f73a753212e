"""Type inference for name resolution: what an expression (a chain of members and calls) evaluates to.

Follows declared types, return values and base classes (C3 linearization). Every step that leaves the expression uses up
*fuel*, and results are memoized with the fuel they had: evaluation ends for circular definitions too, and gives the
same result in whatever order files are resolved.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dowse.graph.import_rules import get_dialect
from dowse.graph.import_rules.rule import (
    CLASS,
    CONTAINER,
    EXTERNAL,
    FOLDER,
    FUNCTION,
    INSTANCE,
    MODULE,
    SUPER,
    Value,
)
from dowse.graph.scope_lookup import (
    NO_VALUES,
    ScopeLookup,
    Values,
    limit_values,
    make_definition_value,
    make_external_member,
)
from dowse.graph.scopes import FILE, FileScopes

FUEL_STEPS = 7
"""Steps from a call to the definition it means: real chains take up to five."""

MAX_INHERITANCE_DEPTH = 20
"""Levels of base classes that are followed."""

_CHAIN_PART = re.compile(r"\(\)|\[\]|!|[^.()\[\]!]+")
_UNWRAP_METHODS = frozenset({"unwrap", "expect"})
"""Methods that return what their object holds."""
_PROPERTY_DECORATORS = frozenset({
    "property", "cached_property", "functools.cached_property", "abc.abstractproperty", "classproperty",
    "lazyproperty", "reify", "hybrid_property",
})  # fmt: skip
_CONTEXT_DECORATORS = frozenset(
    {"contextmanager", "contextlib.contextmanager", "asynccontextmanager", "contextlib.asynccontextmanager"}
)


@dataclass
class Evaluator(ScopeLookup):
    """Abstract interpreter of expressions: infers what a chain of names and calls may be, in the files of one tree."""

    def begin_file(self) -> None:
        """Clear what holds for one file only: its lookups were recorded for that file."""
        self._bindings_here.clear()
        self._recorded_sets.clear()

    def evaluate(self, file: FileScopes, from_scope: int, chain: str, fuel: int) -> Values:
        """Find what a chain of names and calls may be, seen from a scope."""
        if "|" in chain:
            return limit_values(
                v for part in chain.split("|") for v in self.evaluate(file, from_scope, part, fuel)
            )
        if fuel <= 0 or not chain or chain[0] == "?":
            return NO_VALUES
        if chain.isidentifier() and chain not in get_dialect(file.language).super_words:
            return self.look_up(file, from_scope, chain, fuel) or NO_VALUES
        chain = chain.replace("::", ".")
        if (above := self._evaluate_super(file, from_scope, chain)) is not None:
            values, rest = above
        else:
            first, *rest = _CHAIN_PART.findall(chain) or [""]
            values = self.look_up(file, from_scope, first, fuel) or NO_VALUES
        for part in rest:
            if not values:
                return NO_VALUES
            if part == "()":
                values = limit_values(v for value in values for v in self._evaluate_call(value, fuel))
            elif part == "[]":
                values = limit_values(v for value in values for v in self._iterate(value))
            elif part == "!":
                values = limit_values(v for value in values for v in self._unwrap(value))
            else:
                values = limit_values(v for value in values for v in self.get_member(value, part, fuel))
        return values

    def _evaluate_super(
        self, file: FileScopes, from_scope: int, chain: str
    ) -> tuple[Values, list[str]] | None:
        """Evaluate ``super()`` at the start of a chain; return its value and the rest of the chain."""
        word = chain.partition(".")[0]
        if word not in get_dialect(file.language).super_words or not (
            method := file.find_enclosing_method(from_scope)
        ):
            return None
        rest = _CHAIN_PART.findall(chain[len(word) :])
        return frozenset({Value(SUPER, file.path, file.scopes[method].parent)}), rest

    # --- members ---

    def get_member(self, value: Value, name: str, fuel: int, *, is_property: bool = True) -> Values:
        """Find what ``value.name`` may be."""
        if fuel <= 0:
            return NO_VALUES
        if value.kind in (MODULE, FOLDER):
            return self.memoize(
                ("member", value, name, fuel), lambda: self.find_module_member(value, name, fuel)
            )
        if value.kind == EXTERNAL:
            return (
                frozenset({value._replace(location=f"{value.location}.{name}")})
                if value.location
                else NO_VALUES
            )
        if value.kind == CONTAINER and name in _UNWRAP_METHODS:
            return frozenset({value})
        if value.kind not in (CLASS, INSTANCE, SUPER):
            return NO_VALUES
        found = self.get_class_member(value, name, fuel)
        if is_property and value.kind != CLASS:
            return limit_values(v for method in found for v in self._read_property(method, fuel))
        return found

    def _read_property(self, method: Value, fuel: int) -> Values:
        """Find what reading a member of an object gives: for a property, what it returns."""
        if method.kind == FUNCTION:
            row = self.tree.get_file(method.location).scopes[method.scope]
            if row.decorators & _PROPERTY_DECORATORS:
                return self._evaluate_return(method, fuel - 1)
        return frozenset({method})

    def get_class_member(self, value: Value, name: str, fuel: int) -> Values:
        """Find a member of a class or of one of its bases."""
        return self.memoize(("class", value, name, fuel), lambda: self._find_inherited(value, name, fuel))

    def _find_inherited(self, value: Value, name: str, fuel: int) -> Values:
        order = self.linearize(Value(CLASS, value.location, value.scope))
        has_one_class = get_dialect(self.tree.languages[value.location]).single_inheritance
        external = NO_VALUES
        for ancestor in order[1:] if value.kind == SUPER else order:
            if ancestor.kind == EXTERNAL:
                external = external or make_external_member(ancestor, name)
                if has_one_class:
                    continue
                return external
            file = self.tree.get_file(ancestor.location)
            found = self.find_binding(file, ancestor.scope, name, fuel)
            if found is None:
                found = self._find_in_other_files(file, ancestor.scope, name)
            if found is None:
                found = self._evaluate_attribute(file, ancestor.scope, name, fuel)
            elif not found:
                found |= self._evaluate_attribute(file, ancestor.scope, name, fuel) or NO_VALUES
            if found is not None:
                return found
        return external

    def _find_in_other_files(self, file: FileScopes, scope: int, name: str) -> Values | None:
        """Find a method that is written in another file than its type."""
        dialect = get_dialect(file.language)
        if not dialect.folder_is_namespace:
            return None
        qualified = f"{file.scopes[scope].qualified}.{name}"
        for path in self.tree.list_files(file.path.rpartition("/")[0]):
            if self.tree.languages[path] == file.language:
                other = self.tree.get_file(path)
                if found := other.scopes[FILE].members.get(qualified):
                    return frozenset({make_definition_value(other, found)})
        return None

    def _evaluate_attribute(self, file: FileScopes, scope: int, name: str, fuel: int) -> Values | None:
        details = file.scopes[scope].attributes.get(name)
        if details is None or fuel <= 0:
            return None
        pairs = dict.fromkeys(details)
        return limit_values(
            v
            for detail, from_scope in pairs
            for v in self.evaluate_detail(file, from_scope, detail, fuel - 1)
        )

    # --- base classes ---

    def linearize(self, of: Value, height: int = MAX_INHERITANCE_DEPTH) -> list[Value]:
        """List a class and its ancestors in the order in which members are looked up (C3)."""
        return self.memoize(("order", of, height), lambda: self._compute_order(of, height))

    def _compute_order(self, of: Value, height: int) -> list[Value]:
        if height <= 0 or of.kind != CLASS:
            return [of]
        file = self.tree.get_file(of.location)
        row = file.scopes[of.scope]
        bases: list[Value] = []
        for name in dict.fromkeys(row.bases):
            values = self.evaluate(file, row.parent, name, FUEL_STEPS)
            classes = sorted(value for value in values if value.kind in (CLASS, EXTERNAL))
            bases += classes[:1] or [Value(EXTERNAL, name)]
        bases = [base for base in bases if base != of and base.location != "object"]
        lines = [self.linearize(base, height - 1) for base in bases]
        return [of, *_merge_c3([list(line) for line in lines] + [bases], of)]

    # --- calls ---

    def _evaluate_call(self, value: Value, fuel: int) -> Values:
        """Find what ``value()`` may be."""
        if value.kind == CLASS:
            return frozenset({value._replace(kind=INSTANCE)})
        if value.kind == EXTERNAL:
            return (
                frozenset({value._replace(location=f"{value.location}()")}) if value.location else NO_VALUES
            )
        if value.kind == CONTAINER:  # ``optional.unwrap()``
            return self._iterate(value)
        if value.kind == FUNCTION:
            return self._evaluate_return(value, fuel - 1)
        if value.kind == INSTANCE:
            methods = self.get_class_member(value, "__call__", fuel)
            return limit_values(
                v
                for method in methods
                if method.kind == FUNCTION
                for v in self._evaluate_return(method, fuel - 1)
            )
        return NO_VALUES

    def _unwrap(self, value: Value) -> Values:
        return frozenset({value}) if value.kind == EXTERNAL else self._iterate(value)

    def _iterate(self, value: Value) -> Values:
        return frozenset({value._replace(kind=INSTANCE)}) if value.kind == CONTAINER else NO_VALUES

    def _evaluate_return(self, function: Value, fuel: int) -> Values:
        """Find what a function returns: as it declares, or as its return statements say."""
        if fuel <= 0:
            return NO_VALUES
        return self.memoize(("returns", function, fuel), lambda: self._compute_return(function, fuel))

    def _compute_return(self, function: Value, fuel: int) -> Values:
        file = self.tree.get_file(function.location)
        row = file.scopes[function.scope]
        if row.declared and (found := self.evaluate_type(file, row.parent, row.declared, fuel)):
            is_context = bool(row.decorators & _CONTEXT_DECORATORS)
            return frozenset(
                v._replace(kind=INSTANCE) if is_context and v.kind == CONTAINER else v for v in found
            )
        results = (
            row.yields if row.decorators & _CONTEXT_DECORATORS else row.returns if not row.yields else ()
        )
        return limit_values(
            v for chain in dict.fromkeys(results) for v in self.evaluate(file, function.scope, chain, fuel)
        )


def _merge_c3(lines: list[list[Value]], of: Value) -> list[Value]:
    """Merge the orders of the bases by C3; where they contradict each other, take the first head."""
    merged: list[Value] = []
    while lines := [line for line in lines if line]:
        heads = (line[0] for line in lines if not any(line[0] in other[1:] for other in lines))
        head = next(heads, lines[0][0])
        if head not in merged and head != of:
            merged.append(head)
        lines = [[value for value in line if value != head] for line in lines]
    return merged
