"""Incremental build of the code graph: resolve only files that changed, and files that looked up a name that changed.

Every file keeps the lookups its edges depend on, so an update gives the same graph as a full build, which is an update
of an empty graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from posixpath import dirname
from typing import NamedTuple

from dowse.gc_pause import gc_paused
from dowse.graph import scopes
from dowse.graph.import_rules import BY_LANGUAGE
from dowse.graph.resolve import Resolver
from dowse.graph.scopes import FileScopes
from dowse.graph.symbol_table import SymbolTable
from dowse.stores.protocol import Snapshot
from dowse.types.graph_values import Edge, Node
from dowse.types.source import Role
from dowse.types.stored import FileReferences


class FileGraph(NamedTuple):
    """The nodes and edges of one file, and the lookups its edges depend on."""

    content_hash: bytes
    language: str
    role: Role
    interface: bytes
    nodes: tuple[Node, ...]
    names: tuple[tuple[str, int], ...]  # the last part of each definition's name, and its scope
    edges: tuple[Edge, ...]
    lookups: frozenset[str]


FileGraphs = Mapping[str, FileGraph]


def update_graph(snapshot: Snapshot, known: FileGraphs) -> FileGraphs:
    """Update the code graph incrementally to another generation; return the same object if nothing has changed."""
    manifest = snapshot.manifest()
    changed = {
        path
        for path, file in manifest.items()
        if path not in known or known[path].content_hash != file.content_hash
    }
    gone = known.keys() - manifest.keys()
    if not changed and not gone:
        return known
    with gc_paused():
        return _Update(snapshot, known, changed, gone).run()


class _Update:
    """One update of a graph: the rows that are read from the index, and the files that are resolved."""

    def __init__(self, snapshot: Snapshot, known: FileGraphs, changed: set[str], gone: Iterable[str]) -> None:
        self.snapshot = snapshot
        self.known = known
        self.gone = set(gone)
        everything = len(changed) > len(known)
        self.rows: dict[str, FileReferences] = {
            row.path: row for row in snapshot.references(None if everything else changed)
        }
        self.changed = changed
        self.fresh = {path: _read_scopes(self.rows[path]) for path in changed}
        kept = {p: f.language for p, f in known.items() if p not in self.gone and p not in changed}
        languages = kept | {path: file.language for path, file in self.fresh.items()}
        self.tree = SymbolTable(languages, self._load, self._iter_definitions)

    def run(self) -> FileGraphs:
        """Return the graph of every file, in order of path."""
        stale = self._find_stale()
        resolver = Resolver(self.tree)
        files: dict[str, FileGraph] = {}
        for path in sorted(self.tree.languages):
            files[path] = self._resolve_file(resolver, path) if path in stale else self.known[path]
        return files

    def _resolve_file(self, resolver: Resolver, path: str) -> FileGraph:
        file = self._load(path)
        self.tree.lookups = set()
        edges = resolver.resolve_edges(file) if file.language in BY_LANGUAGE else []
        row = self.rows[path]
        return FileGraph(
            row.content_hash,
            row.language,
            row.role,
            file.interface,
            file.nodes,
            file.names,
            tuple(edges),
            frozenset(self.tree.lookups - {path}),
        )

    def _find_stale(self) -> set[str]:
        """Find the files to resolve: those that changed, and those that looked up something that changed."""
        keys = self._collect_changed_keys()
        return self.changed | {
            path
            for path, file in self.known.items()
            if path not in self.gone and not keys.isdisjoint(file.lookups)
        }

    def _collect_changed_keys(self) -> set[str]:
        keys: set[str] = set()
        for path in self.gone | self.changed:
            old, new = self.known.get(path), self.fresh.get(path)
            if old is None or new is None or old.language != new.language:
                name = path.rpartition("/")[2]
                keys |= {path, f"top:{name}", f"dir:{dirname(path)}"}
            if old is None or new is None or old.interface != new.interface:
                keys.add(path)
                before = {name for name, _ in old.names} if old else set()
                after = {name for name, _ in new.names} if new else set()
                keys |= {f"name:{name}" for name in before ^ after}
        for folder in _list_folders(self.known) ^ _list_folders(self.tree.languages):
            keys |= {f"dir:{folder}", f"top:{folder.rpartition('/')[2]}"}
        return keys

    def _load(self, path: str) -> FileScopes:
        file = self.fresh.get(path)
        if file is None:
            if path not in self.rows:
                self.rows[path] = next(iter(self.snapshot.references({path})))
            file = self.fresh[path] = _read_scopes(self.rows[path])
        return file

    def _iter_definitions(self) -> Iterator[tuple[str, str, str, int]]:
        for path, language in sorted(self.tree.languages.items()):
            names = self.fresh[path].names if path in self.changed else self.known[path].names
            yield from ((language, name, path, scope) for name, scope in names)


def _read_scopes(row: FileReferences) -> FileScopes:
    return scopes.read_scopes(row.path, row.language, row.packed)


def _list_folders(paths: Iterable[str]) -> set[str]:
    folders: set[str] = set()
    for path in paths:
        folder = dirname(path)
        while folder not in folders:
            folders.add(folder)
            folder = dirname(folder)
    return folders
