"""Include resolution for C, C++ and Objective-C: ``#include`` headers, and functions visible through the linker."""

from __future__ import annotations

from posixpath import dirname, join, normpath

from dowse.graph.import_rules.by_namespace import NamespaceDialect
from dowse.graph.import_rules.rule import MODULE, ImportedName, Value
from dowse.graph.scopes import FileScopes, Mention
from dowse.graph.symbol_table import SymbolTable


class CFamily(NamespaceDialect):
    """C, C++ and Objective-C: includes name files, and every definition that is linked is visible."""

    languages = ("c", "cpp", "objective-c")
    family = languages
    super_words = frozenset()
    global_types = True
    global_functions = True
    folder_is_namespace = False
    header_suffixes = (".h", ".hh", ".hpp", ".hxx", ".h++", ".cuh")

    def parse_import(self, mention: Mention) -> list[ImportedName]:
        """Bind everything in a header."""
        return [ImportedName("*", mention.target, "*")]

    def locate(self, tree: SymbolTable, file: FileScopes, module: str) -> list[Value]:
        """Find a header beside the file, or the only one with that path."""
        beside = normpath(join(dirname(file.path), module))
        if tree.exists(beside):
            return [Value(MODULE, beside)]
        named = tree.find_files(module.rpartition("/")[2])
        fits = [path for path in named if f"/{path}".endswith(f"/{module}")]
        return [Value(MODULE, fits[0])] if len(fits) == 1 else []
