"""Links of formats (``code/formats``): entities by their hierarchical names, files and folders by their paths.

The detail of a link says where an entity of that name is looked for: in the file, its folder, its Helm chart or the
tree. Of several in a tree, those in the nearest folder count.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from posixpath import dirname, join

from dowse.code.formats import FORMATS
from dowse.code.formats.reading import HANDLER, IN_CHART, IN_FILE, IN_FOLDER, IN_TREE, LABELS, SELECTOR
from dowse.graph.import_rules.by_link import LinkDialect
from dowse.graph.import_rules.rule import CLASS, FUNCTION, Value
from dowse.graph.scopes import FileScopes, Mention
from dowse.graph.symbol_table import DefinitionSite, SymbolTable

MAX_MEANINGS = 6
"""Entities of one name that a link may mean; of more, nothing is said."""

_CODE_FORMATS = frozenset({"jupyter", "vue", "svelte", "astro", "terraform"})
"""Formats with a dialect of their own, or that of the language of their code."""

_NAMES = frozenset({"", "name", "module", "baseUrl"})
"""Details of links that say what a package is called, for the languages that import it."""

_HANDLER_LANGUAGES = (
    "python", "javascript", "typescript", "tsx", "go", "java", "kotlin", "csharp", "ruby", "php", "rust", "scala",
    "swift", "elixir",
)  # fmt: skip
"""Languages in which what a server does is written."""

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_CHART_FILES = ("Chart.yaml", "Chart.yml")


class EntityLinks(LinkDialect):
    """Formats of configuration, infrastructure and schemas; some have a dialect of their own."""

    languages = ("go-module", *(row.name for row in FORMATS if row.name not in _CODE_FORMATS))

    def resolve_link(self, tree: SymbolTable, file: FileScopes, link: Mention) -> list[Value]:
        """Find the entity, file or folder that a link names."""
        if link.detail == IN_FILE:
            scope = file.find_scope(link.target)
            return [Value(CLASS, file.path, scope)] if scope else []
        if link.detail == SELECTOR:
            return list(_select_by_labels(tree, file, link.target, self.languages))
        if link.detail == LABELS:
            return []
        if link.detail == HANDLER:
            return _find_handlers(tree, link.target)
        if link.detail in _NAMES:
            return []
        if link.detail not in (IN_FOLDER, IN_CHART, IN_TREE):
            return super().resolve_link(tree, file, link)
        sites = [
            site
            for site in tree.find_definitions(self.languages, link.target.rpartition(".")[2])
            if tree.get_file(site.path).scopes[site.scope].qualified == link.target
        ]
        found = self._select_near(tree, file.path, link.detail, sites)
        return [Value(CLASS, *site) for site in found] if len(found) <= MAX_MEANINGS else []

    def _select_near(
        self, tree: SymbolTable, path: str, detail: str, sites: Sequence[DefinitionSite]
    ) -> list[DefinitionSite]:
        """Select the definitions that a link from a file may mean by where they are."""
        if own := [site for site in sites if site.path == path]:
            return own
        if detail == IN_FOLDER:
            return [site for site in sites if dirname(site.path) == dirname(path)]
        if detail == IN_CHART:
            chart = _find_chart(tree, path)
            return [site for site in sites if _find_chart(tree, site.path) == chart]
        shared = [_count_shared_folders(site.path, path) for site in sites]
        nearest = max(shared, default=0)
        return [site for site, count in zip(sites, shared, strict=True) if count == nearest]


def _find_handlers(tree: SymbolTable, name: str) -> list[Value]:
    """Find the functions of a name in code, however its words are joined; none if there are many."""
    words = [word.lower() for part in _WORD_START.split(name) for word in part.split("_") if word]
    capitals = [word.capitalize() for word in words]
    names = dict.fromkeys((name, "_".join(words), "".join([*words[:1], *capitals[1:]]), "".join(capitals)))
    found = [
        site
        for each in names
        for site in tree.find_definitions(_HANDLER_LANGUAGES, each)
        if tree.get_file(site.path).scopes[site.scope].is_function
    ]
    return [Value(FUNCTION, *site) for site in found] if len(found) == 1 else []


def _select_by_labels(
    tree: SymbolTable, file: FileScopes, selector: str, languages: Container[str]
) -> Iterator[Value]:
    """Select the entities in the folder of a file that have all labels of a selector."""
    wanted = set(selector.split(","))
    others = tree.list_files(dirname(file.path))
    in_file = any(link.detail == LABELS and wanted <= set(link.target.split(",")) for link in file.links)
    for path in [file.path] if in_file else others:
        if tree.languages[path] in languages:
            for link in tree.get_file(path).links:
                if link.detail == LABELS and link.scope and wanted <= set(link.target.split(",")):
                    yield Value(CLASS, path, link.scope)


def _find_chart(tree: SymbolTable, path: str) -> str:
    """Find the folder of the Helm chart that a file belongs to."""
    folder = dirname(path)
    while folder and not any(tree.exists(join(folder, name)) for name in _CHART_FILES):
        folder = dirname(folder)
    return folder


def _count_shared_folders(path: str, other: str) -> int:
    """Count the folders that two paths begin with."""
    count = 0
    for one, two in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if one != two:
            break
        count += 1
    return count
