"""How Terraform names modules and files."""

from __future__ import annotations

from dowse.graph.import_rules.by_link import Linked
from dowse.graph.import_rules.rule import FOLDER, MODULE, Value
from dowse.graph.symbol_table import Tree


class Terraform(Linked):
    """Modules and files of Terraform."""

    languages = ("hcl",)
    from_root = False

    def folder(self, tree: Tree, path: str) -> list[Value]:
        """A module is its folder: every file of Terraform in it."""
        files = [name for name in tree.files_in(path) if name.endswith((".tf", ".tofu"))]
        return [Value(MODULE, name) for name in files] or [Value(FOLDER, path)]
