"""Import resolution by namespace: languages whose imports name packages and classes, not files (Java, Kotlin, C#, PHP).

A definition is found by its name, and disambiguated by how well its path matches the namespace.
"""

from __future__ import annotations

import re
from posixpath import join

from dowse.graph.import_rules.rule import CLASS, FOLDER, FUNCTION, Dialect, ImportedName, Value, find_member
from dowse.graph.scopes import FileScopes, Mention
from dowse.graph.symbol_table import DefinitionSite, SymbolTable

_SEPARATORS = re.compile(r"::|\\|\.|/")


class NamespaceDialect(Dialect):
    """A language whose imports are dotted names: the last part is defined in a file below folders named by the rest."""

    folder_is_namespace = True
    implicit_receiver = True

    def parse_import(self, mention: Mention) -> list[ImportedName]:
        """Bind the last part of a name, its alias, or everything below it."""
        if mention.detail == "*":
            return [ImportedName("*", mention.target, "*")]
        parts = split_name(mention.target)
        alias = mention.detail.removeprefix("* as ")
        return [ImportedName(alias or parts[-1], mention.target)] if parts else []

    def locate(self, tree: SymbolTable, file: FileScopes, module: str) -> list[Value]:
        """Find the definitions that a name may mean, preferring those in the folders it names."""
        parts = split_name(module)
        if not parts:
            return []
        sites = _keep_outermost(tree, tree.find_definitions(self.family or self.languages, parts[-1]))
        near = [site for site in sites if _count_matching_parts(site.path, parts[:-1]) > 0] or (
            sites if len(parts) == 1 else []
        )
        if not near:
            return self._find_folder(tree, parts)
        best = max(_count_matching_parts(site.path, parts[:-1]) for site in near)
        return [
            _make_value(tree, site) for site in near if _count_matching_parts(site.path, parts[:-1]) == best
        ]

    def _find_folder(self, tree: SymbolTable, parts: list[str]) -> list[Value]:
        for above in tree.find_folder_parents(parts[-1]):
            folder = join(above, parts[-1])
            if len(parts) > 1 and f"/{folder}".endswith("/" + "/".join(parts[-2:])):
                return [Value(FOLDER, folder)]
        return []

    def find_submodule(self, tree: SymbolTable, module: Value, name: str) -> Value | None:
        """Find a definition in one of the files of a folder."""
        if module.kind != FOLDER:
            return None
        own = self.family or self.languages
        files = (path for path in tree.list_files(module.location) if tree.languages[path] in own)
        return find_member(tree, files, name)


def split_name(name: str) -> list[str]:
    """Split a qualified name into its parts."""
    return [part for part in _SEPARATORS.split(name.strip().strip("\\;")) if part]


def _keep_outermost(tree: SymbolTable, sites: list[DefinitionSite]) -> list[DefinitionSite]:
    """Keep the definitions that are not inside of a class or function."""
    found = []
    for site in sites:
        file = tree.get_file(site.path)
        parent = file.scopes[file.scopes[site.scope].parent]
        if not (parent.is_class or parent.is_function):
            found.append(site)
    return found


def _count_matching_parts(path: str, parts: list[str]) -> int:
    """Count how many of the last parts of a name are the last folders (or the stem) of a path."""
    folders = path.rpartition(".")[0].lower().split("/")
    best = 0
    for end in (len(folders), len(folders) - 1):
        count = 0
        for part, folder in zip(reversed(parts), reversed(folders[:end]), strict=False):
            if part.lower() != folder:
                break
            count += 1
        best = max(best, count)
    return best


def _make_value(tree: SymbolTable, site: DefinitionSite) -> Value:
    row = tree.get_file(site.path).scopes[site.scope]
    return Value(FUNCTION if row.is_function else CLASS, site.path, site.scope)
