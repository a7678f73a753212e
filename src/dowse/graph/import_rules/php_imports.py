"""Import resolution for PHP: classes by namespace, and files that are required or included."""

from __future__ import annotations

from posixpath import dirname, join, normpath

from dowse.graph.import_rules.by_namespace import NamespaceDialect
from dowse.graph.import_rules.rule import MODULE, Value
from dowse.graph.scopes import FileScopes
from dowse.graph.symbol_table import SymbolTable


class Php(NamespaceDialect):
    """PHP: namespaces, and files that are required."""

    languages = ("php",)
    super_words = frozenset({"parent"})
    implicit_receiver = False
    global_functions = True

    def list_constructor_names(self, name: str) -> tuple[str, ...]:
        """Return ``__construct``."""
        return ("__construct",)

    def locate(self, tree: SymbolTable, file: FileScopes, module: str) -> list[Value]:
        """Find a file that is required, or a class."""
        if module.endswith(".php"):
            path = normpath(join(dirname(file.path), module.lstrip("/")))
            return [Value(MODULE, path)] if tree.exists(path) else []
        return super().locate(tree, file, module)
