"""How PHP names classes and files."""

from __future__ import annotations

from posixpath import dirname, join, normpath

from dowse.graph.import_rules.by_namespace import Named
from dowse.graph.import_rules.rule import MODULE, Value
from dowse.graph.scopes import FileScopes
from dowse.graph.symbol_table import Tree


class Php(Named):
    """PHP, with namespaces and files that are required."""

    languages = ("php",)
    supers = frozenset({"parent"})
    implicit_receiver = False
    global_functions = True

    def constructors(self, name: str) -> tuple[str, ...]:
        """``__construct``."""
        return ("__construct",)

    def locate(self, tree: Tree, file: FileScopes, module: str) -> list[Value]:
        """A file that is required, or a class."""
        if module.endswith(".php"):
            path = normpath(join(dirname(file.path), module.lstrip("/")))
            return [Value(MODULE, path)] if tree.exists(path) else []
        return super().locate(tree, file, module)
