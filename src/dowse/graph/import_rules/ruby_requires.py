"""Import resolution for Ruby: ``require`` and ``require_relative``, and constants that are visible everywhere."""

from __future__ import annotations

from posixpath import dirname, join, normpath

from dowse.graph.import_rules.by_namespace import NamespaceDialect
from dowse.graph.import_rules.rule import MODULE, ImportedName, Value
from dowse.graph.scopes import FileScopes, Mention
from dowse.graph.symbol_table import SymbolTable


class Ruby(NamespaceDialect):
    """Ruby: files are required, and constants are visible everywhere."""

    languages = ("ruby",)
    global_types = True
    folder_is_namespace = False

    def list_constructor_names(self, name: str) -> tuple[str, ...]:
        """Return ``initialize``, which ``new`` calls."""
        return ("initialize",)

    def parse_import(self, mention: Mention) -> list[ImportedName]:
        """Bind everything that a required file defines."""
        return [ImportedName("*", mention.target, "*")]

    def locate(self, tree: SymbolTable, file: FileScopes, module: str) -> list[Value]:
        """Find the file that is required: beside this one, below ``lib``, or the only one with that path."""
        name = module if module.endswith(".rb") else f"{module}.rb"
        beside = normpath(join(dirname(file.path), name))
        if tree.exists(beside):
            return [Value(MODULE, beside)]
        fits = [path for path in tree.find_files(name.rpartition("/")[2]) if f"/{path}".endswith(f"/{name}")]
        roots = [path for path in fits if f"/{path}".endswith(f"/lib/{name}")] or fits
        return [Value(MODULE, roots[0])] if len(roots) == 1 else []
