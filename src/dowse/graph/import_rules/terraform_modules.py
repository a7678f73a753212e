"""How Terraform names modules and files."""

from __future__ import annotations

from dowse.graph.import_rules.by_link import LinkDialect
from dowse.graph.import_rules.rule import FOLDER, MODULE, Value
from dowse.graph.symbol_table import SymbolTable


class Terraform(LinkDialect):
    """Modules and files of Terraform."""

    languages = ("hcl",)
    from_root = False

    def resolve_folder(self, tree: SymbolTable, path: str) -> list[Value]:
        """A module is its folder: every file of Terraform in it."""
        files = [name for name in tree.list_files(path) if name.endswith((".tf", ".tofu"))]
        return [Value(MODULE, name) for name in files] or [Value(FOLDER, path)]
