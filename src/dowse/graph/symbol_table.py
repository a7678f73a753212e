"""Symbol table of a source tree: files, folders and definitions by name, with a record of every lookup (dependency
tracking).

Everything that the edges of a file depend on is read through here; after a change, the files that looked up what
changed are resolved again. Keys of the record: a path (whether it exists, and what it offers), ``dir:`` and a folder,
``name:`` and the name of a definition, ``top:`` and the name of a file or folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import dirname
from typing import NamedTuple

from dowse.graph.scopes import FileScopes


class DefinitionSite(NamedTuple):
    """Where a definition is: its file, and its scope there."""

    path: str
    scope: int


@dataclass
class SymbolTable:
    """Paths, folders and names of a source tree; files are read when they are needed."""

    languages: Mapping[str, str]  # path to language
    load_file: Callable[[str], FileScopes]
    iter_definitions: Callable[
        [], Iterator[tuple[str, str, str, int]]
    ]  # language, name, path, scope of every definition
    lookups: set[str] = field(default_factory=set)
    _files: dict[str, FileScopes] = field(default_factory=dict)
    _folders: set[str] = field(default_factory=set)
    _by_folder: dict[str, list[str]] = field(default_factory=dict)
    _parents_by_folder_name: dict[str, list[str]] = field(default_factory=dict)
    _by_file_name: dict[str, list[str]] = field(default_factory=dict)
    _names: dict[tuple[str, str], list[DefinitionSite]] | None = None

    def __post_init__(self) -> None:
        for path in sorted(self.languages):
            folder = dirname(path)
            self._by_folder.setdefault(folder, []).append(path)
            self._by_file_name.setdefault(path.rpartition("/")[2], []).append(path)
            while folder not in self._folders:
                self._folders.add(folder)
                above = dirname(folder)
                if folder:
                    self._parents_by_folder_name.setdefault(folder.rpartition("/")[2], []).append(above)
                folder = above

    def exists(self, path: str) -> bool:
        """Tell whether there is a file."""
        self.lookups.add(path)
        return path in self.languages

    def is_folder(self, path: str) -> bool:
        """Tell whether there is a folder."""
        self.lookups.add(f"dir:{path}")
        return path in self._folders

    def list_files(self, folder: str) -> list[str]:
        """List the files directly in a folder, in order."""
        self.lookups.add(f"dir:{folder}")
        return self._by_folder.get(folder, [])

    def find_folder_parents(self, name: str) -> list[str]:
        """Find the folders that contain a folder of that name."""
        self.lookups.add(f"top:{name}")
        return self._parents_by_folder_name.get(name, [])

    def find_files(self, name: str) -> list[str]:
        """Find the files of that name, in order."""
        self.lookups.add(f"top:{name}")
        return self._by_file_name.get(name, [])

    def get_file(self, path: str) -> FileScopes:
        """Return the tables of a file that exists."""
        self.lookups.add(path)
        found = self._files.get(path)
        if found is None:
            found = self._files[path] = self.load_file(path)
        return found

    def find_definitions(self, languages: Iterable[str], name: str) -> list[DefinitionSite]:
        """Find every definition of that name in these languages."""
        self.lookups.add(f"name:{name}")
        if self._names is None:
            self._names = {}
            for language, defined, path, scope in self.iter_definitions():
                self._names.setdefault((language, defined), []).append(DefinitionSite(path, scope))
        return [site for language in languages for site in self._names.get((language, name), ())]
