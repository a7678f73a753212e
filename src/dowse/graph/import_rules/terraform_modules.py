"""Module resolution for Terraform: modules are folders."""

from __future__ import annotations

from dowse.graph.import_rules.format_links import EntityLinks
from dowse.graph.import_rules.rule import FOLDER, MODULE, Value
from dowse.graph.symbol_table import SymbolTable


class Terraform(EntityLinks):
    """Terraform: modules are folders, files are named by path, entities of the folder by address."""

    languages = ("hcl", "terraform")
    from_root = False

    def resolve_folder(self, tree: SymbolTable, path: str) -> list[Value]:
        """List every Terraform file of a folder, because a module is a folder."""
        files = [name for name in tree.list_files(path) if name.endswith((".tf", ".tofu"))]
        return [Value(MODULE, name) for name in files] or [Value(FOLDER, path)]
