"""Module resolution for Terraform: modules are folders."""

from __future__ import annotations

from dowse.graph.import_rules.by_link import LinkDialect
from dowse.graph.import_rules.rule import FOLDER, MODULE, Value
from dowse.graph.symbol_table import SymbolTable


class Terraform(LinkDialect):
    """Terraform: modules are folders, files are named by path."""

    languages = ("hcl",)
    from_root = False

    def resolve_folder(self, tree: SymbolTable, path: str) -> list[Value]:
        """List every Terraform file of a folder, because a module is a folder."""
        files = [name for name in tree.list_files(path) if name.endswith((".tf", ".tofu"))]
        return [Value(MODULE, name) for name in files] or [Value(FOLDER, path)]
