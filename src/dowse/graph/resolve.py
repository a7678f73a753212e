"""Reference resolution: turn the imports, calls, base classes and declarations of a file into edges of the code graph.

Links header declarations to definitions (C, C++), and marks each edge as resolved, ambiguous or external.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dowse.code.formats.reading import HANDLER, as_node_name
from dowse.graph.evaluator import FUEL_STEPS, Evaluator
from dowse.graph.import_rules import get_dialect
from dowse.graph.import_rules.rule import CLASS, EXTERNAL, FOLDER, FUNCTION, INSTANCE, MODULE, Dialect, Value
from dowse.graph.scope_lookup import NO_VALUES, Values, limit_values, make_definition_value
from dowse.graph.scopes import FILE, FileScopes, Mention
from dowse.graph.symbol_table import SymbolTable
from dowse.types.graph_values import Certainty, Edge, Relation
from dowse.types.source import Kind


class EdgeTargets(NamedTuple):
    """The other end of an edge: how certain it is, and the ids (or external names) there."""

    certainty: Certainty | None
    targets: tuple[str, ...] = ()


NO_TARGETS = EdgeTargets(None)


class Resolver:
    """Resolves the files of one tree, one after the other."""

    def __init__(self, tree: SymbolTable) -> None:
        self.tree = tree
        self.names = Evaluator(tree)
        self._targets_by_values: dict[tuple[Values, Relation], EdgeTargets] = {}
        self._chain_values: dict[tuple[int, str], Values] = {}  # of the file being resolved
        self._method_targets: dict[tuple[Values, str], EdgeTargets] = {}  # of the file being resolved

    def resolve_edges(self, file: FileScopes) -> list[Edge]:
        """Resolve what a file links to, imports, inherits from, calls and declares."""
        self.names.begin_file()
        self._chain_values.clear()
        self._method_targets.clear()
        found = [
            *self._resolve_links(file),
            *self._resolve_imports(file),
            *self._resolve_bases(file),
            *self._resolve_calls(file),
            *self._resolve_declarations(file),
        ]
        return list(dict.fromkeys(found))

    def _resolve_links(self, file: FileScopes) -> Iterator[Edge]:
        dialect = get_dialect(file.language)
        for link in file.links:
            if link.detail.startswith(f"{HANDLER} "):
                yield from self._resolve_handler(file, link)
                continue
            values = dialect.resolve_link(self.tree, file, link)
            source = file.ids[link.scope]
            entities = sorted({id for value in values for id in self._find_node_ids(value)} - {source})
            if len(entities) > 1 and all(value.kind == CLASS for value in values):
                target = link.target
                yield Edge(
                    source, target, Relation.REFERENCES, Certainty.AMBIGUOUS, link.line, tuple(entities)
                )
                continue
            for target in entities:
                yield Edge(source, target, Relation.REFERENCES, Certainty.RESOLVED, link.line)

    def _resolve_handler(self, file: FileScopes, link: Mention) -> Iterator[Edge]:
        """Resolve what handles a route: a function of the file, or whatever the name means there."""
        route = file.ids[file.find_scope(as_node_name(link.detail.removeprefix(f"{HANDLER} ")))]
        if scope := file.find_scope(link.target):
            yield Edge(route, file.ids[scope], Relation.INVOKES, Certainty.RESOLVED, link.line)
            return
        values = self.names.evaluate(file, FILE, link.target, FUEL_STEPS)
        found = self._find_targets(values, Relation.INVOKES)
        if found.certainty in (Certainty.RESOLVED, Certainty.AMBIGUOUS):
            yield _make_edge(route, found, link.target, Relation.INVOKES, link.line)

    def _resolve_imports(self, file: FileScopes) -> Iterator[Edge]:
        dialect = get_dialect(file.language)
        for mention in file.imports:
            targets = sorted(self._find_imported_nodes(file, dialect, mention))
            for target in targets:
                if target != file.path and not target.startswith(f"{file.path}:"):
                    yield Edge(file.path, target, Relation.IMPORTS, Certainty.RESOLVED, mention.line)
            if not targets:
                name = mention.target
                yield Edge(file.path, name, Relation.IMPORTS, Certainty.EXTERNAL, mention.line)

    def _find_imported_nodes(self, file: FileScopes, dialect: Dialect, mention: Mention) -> set[str]:
        nodes: set[str] = set()
        for located in self.names.locate_modules(file, mention.target):
            nodes |= self._find_node_ids(located)
        for imported in dialect.parse_import(mention):
            if imported.member and imported.member != "*":
                values = self.names.evaluate_import(file, imported, FUEL_STEPS - 1)
                if not values and "." in imported.member:  # the member is no node: take what holds it
                    holder = imported._replace(member=imported.member.rpartition(".")[0])
                    values = self.names.evaluate_import(file, holder, FUEL_STEPS - 1)
                for value in values:
                    nodes |= self._find_node_ids(value)
        return nodes

    def _find_node_ids(self, value: Value) -> set[str]:
        """Find the graph node of a value: a file, a class or a function."""
        if value.kind in (MODULE, FOLDER):
            return {value.location}
        if value.kind in (CLASS, FUNCTION):
            return {self.tree.get_file(value.location).ids[value.scope]}
        return set()

    def _resolve_bases(self, file: FileScopes) -> Iterator[Edge]:
        for base in file.bases:
            from_scope = file.scopes[base.scope].parent
            targets = self._find_targets(
                self.names.evaluate(file, from_scope, base.name, FUEL_STEPS), Relation.INHERITS
            )
            if targets.certainty is not None:
                yield _make_edge(file.ids[base.scope], targets, base.name, Relation.INHERITS, base.line)

    def _resolve_calls(self, file: FileScopes) -> Iterator[Edge]:
        for (inside, from_scope, name, through), line in (*file.calls.items(), *file.decorators):
            if through:
                written = f"{through}.{name}"
                targets = self._resolve_method_call(file, from_scope, through, name)
            else:
                written = name
                values = self._evaluate_callee(file, from_scope, name)
                targets = self._find_targets(values or NO_VALUES, Relation.INVOKES)
                if targets.certainty is None and values is not None:
                    continue
            yield _make_edge(file.ids[inside], targets, written, Relation.INVOKES, line)

    def _resolve_declarations(self, file: FileScopes) -> Iterator[Edge]:
        if not file.path.endswith(get_dialect(file.language).header_suffixes):
            return
        lines = {node.id: node.line for node in file.nodes}
        for _, scope in file.names:
            declared = make_definition_value(file, scope)
            if declared.kind == FUNCTION and (defined := self._follow_declaration(declared)) != declared:
                source, target = file.ids[scope], self.tree.get_file(defined.location).ids[defined.scope]
                yield Edge(source, target, Relation.DECLARES, Certainty.RESOLVED, lines[source])

    # --- targets ---

    def _evaluate_callee(self, file: FileScopes, from_scope: int, name: str) -> Values | None:
        """Find what a call of a name may call; None if the name is not bound anywhere."""
        name = name.replace("::", ".")
        if "." in name:
            return self.names.evaluate(file, from_scope, name, FUEL_STEPS)
        return self.names.find_name(file, from_scope, name, FUEL_STEPS, is_called=True)

    def _resolve_method_call(self, file: FileScopes, from_scope: int, through: str, name: str) -> EdgeTargets:
        """Find what ``through.name()`` may call."""
        if through == "?":
            return NO_TARGETS
        values = self._chain_values.get((from_scope, through))
        if values is None:
            values = self._chain_values[from_scope, through] = self.names.evaluate(
                file, from_scope, through, FUEL_STEPS
            )
        if not values:
            return NO_TARGETS
        targets = self._method_targets.get((values, name))
        if targets is None:
            members = (self.names.get_member(value, name, FUEL_STEPS, is_property=False) for value in values)
            called = limit_values(member for found in members for member in found)
            targets = self._method_targets[values, name] = self._find_targets(called, Relation.INVOKES)
        return targets

    def _find_targets(self, values: Values, relation: Relation) -> EdgeTargets:
        """Find the targets of an edge from the values that a mention may mean."""
        if not values:
            return NO_TARGETS
        key = (values, relation)
        found = self._targets_by_values.get(key)
        if found is None:
            targets = tuple(
                sorted({target for value in values for target in self._iter_target_ids(value, relation)})
            )
            outside = tuple(sorted(value.location for value in values if value.kind == EXTERNAL))
            if targets:
                found = EdgeTargets(Certainty.RESOLVED if len(targets) == 1 else Certainty.AMBIGUOUS, targets)
            else:
                found = EdgeTargets(Certainty.EXTERNAL, outside) if outside else NO_TARGETS
            # The targets of these depend on other files, whose lookups must be recorded each time.
            if not any(value.kind == INSTANCE or self._is_declaration(value) for value in values):
                self._targets_by_values[key] = found
        return found

    def _iter_target_ids(self, value: Value, relation: Relation) -> Iterator[str]:
        if value.kind == CLASS or (value.kind == FUNCTION and relation is Relation.INVOKES):
            location, scope = self._follow_declaration(value)[1:]
            yield self.tree.get_file(location).ids[scope]
        elif value.kind == INSTANCE and relation is Relation.INVOKES:
            for method in self.names.get_class_member(value, "__call__", FUEL_STEPS):
                if method.kind == FUNCTION:
                    yield self.tree.get_file(method.location).ids[method.scope]

    # --- declarations ---

    def _is_declaration(self, value: Value) -> bool:
        """Tell whether a value is a function in a header."""
        if value.kind != FUNCTION:
            return False
        return value.location.endswith(get_dialect(self.tree.languages[value.location]).header_suffixes)

    def _follow_declaration(self, value: Value) -> Value:
        """Follow a function that a header declares to its definition; return it unchanged if there is none."""
        if not self._is_declaration(value):
            return value
        return self.names.memoize(("defined", value), lambda: self._find_definition(value))

    def _find_definition(self, declared: Value) -> Value:
        """Find the function of that name; of several, the one that includes the header or shares its file name."""
        file = self.tree.get_file(declared.location)
        found = dict(self._find_implementations(file, declared.scope))
        if len(found) > 1:  # static functions and those of other programs do not include it
            found = {
                path: value for path, value in found.items() if self._includes_header(path, file.path)
            } or found
        if len(found) > 1:
            found = {path: value for path, value in found.items() if _get_stem(path) == _get_stem(file.path)}
        return next(iter(found.values())) if len(found) == 1 else declared

    def _find_implementations(self, file: FileScopes, scope: int) -> Iterator[tuple[str, Value]]:
        row, dialect = file.scopes[scope], get_dialect(file.language)
        if row.kind is Kind.MACRO:
            return
        for path, number in self.tree.find_definitions(dialect.family, row.qualified.rpartition(".")[2]):
            other = self.tree.get_file(path)
            found = other.scopes[number]
            is_function = found.is_function and found.kind is not Kind.MACRO
            is_outside = not path.endswith(dialect.header_suffixes)
            if is_function and is_outside and _is_same_name(found.qualified, row.qualified):
                yield path, make_definition_value(other, number)

    def _includes_header(self, path: str, header: str) -> bool:
        file = self.tree.get_file(path)
        return any(
            module.location == header
            for each in file.imports
            for module in self.names.locate_modules(file, each.target)
        )


def _make_edge(source: str, targets: EdgeTargets, written: str, relation: Relation, line: int) -> Edge:
    """Make the edge from a mention to its targets; to a bare name if none are known."""
    certainty, ids = targets
    if certainty is Certainty.RESOLVED:
        return Edge(source, ids[0], relation, certainty, line)
    if certainty is Certainty.EXTERNAL:
        return Edge(source, ids[0] or written, relation, certainty, line)
    return Edge(source, written.rpartition(".")[2], relation, Certainty.AMBIGUOUS, line, ids)


def _is_same_name(one: str, other: str) -> bool:
    """Tell whether two qualified names can mean the same: one may omit the namespaces."""
    return f".{one}".endswith(f".{other}") or f".{other}".endswith(f".{one}")


def _get_stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
