"""Resolution of file links: formats that mention files by path (Markdown, YAML, Dockerfiles, Terraform).

Paths that are not in the tree, and URLs, make no edges.
"""

from __future__ import annotations

from posixpath import dirname, join, normpath

from dowse.graph.import_rules.rule import FOLDER, MODULE, Dialect, Value
from dowse.graph.scopes import FileScopes, Mention
from dowse.graph.symbol_table import SymbolTable

_ENTRY_FILES = (
    "Dockerfile", "action.yml", "action.yaml", "main.tf", "Chart.yaml", "kustomization.yaml", "kustomization.yml",
    "package.json", "pyproject.toml", "Cargo.toml", "go.mod", "README.md", "index.md",
)  # fmt: skip
"""The files that a link to a folder means, in order of preference."""


class LinkDialect(Dialect):
    """A format whose mentions are paths, relative to the folder of the file or to the root."""

    from_root = True

    def resolve_link(self, tree: SymbolTable, file: FileScopes, link: Mention) -> list[Value]:
        """Find the file or folder that a path names."""
        target = link.target.strip().strip("'\"").rstrip("/")
        bases = [dirname(file.path), *([""] if self.from_root else [])]
        for base in bases:
            path = normpath(join(base, target.lstrip("/") if not base else target))
            if path in (".", "..") or path.startswith("../") or path == file.path:
                continue
            if tree.exists(path):
                return [Value(MODULE, path)]
            if "/" in target and tree.is_folder(path):
                return self.resolve_folder(tree, path)
        return []

    def resolve_folder(self, tree: SymbolTable, path: str) -> list[Value]:
        """Find what a folder stands for: its entry file, or the folder itself."""
        for name in _ENTRY_FILES:
            if tree.exists(join(path, name)):
                return [Value(MODULE, join(path, name))]
        return [Value(FOLDER, path)]
