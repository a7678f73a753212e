"""Access control of servers (MCP, HTTP): which folders (roots) a client may search, and the pool of their engines.

This is the only place that decides what is allowed: the folders that the server was started with, and, where the client
is the user's own program on this machine, those that the client says it works on. A configuration file in a tree cannot
widen that.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from dowse import roots
from dowse.errors import DowseError, RootError, UsageError
from dowse.lru import LruCache

if TYPE_CHECKING:
    from dowse.engine import Engine

MAX_CACHED_ROOT_SETS = 1000
"""Sets of client roots whose repositories are cached."""


MAX_SIBLINGS = 12
"""Engines with other settings of answers that are kept: each has a cache of its own."""


@dataclass(frozen=True, slots=True)
class ServerScope:
    """The folders and settings a server was started with, which bound what its clients may search."""

    roots: tuple[str, ...] = ()
    trust_client: bool = True  # whether folders that the client names are allowed by that
    read_only: bool = False
    allow_home: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)  # settings
    names: Mapping[str, Path] = field(
        default_factory=dict
    )  # what folders are called, if not by their own name


class Workspace:
    """The engines of a server: one for each folder, shared by all clients."""

    def __init__(self, allowed: ServerScope) -> None:
        self.allowed = allowed
        self._engines: dict[Path, Engine] = {}
        self._siblings: LruCache[tuple[Path, tuple[tuple[str, Any], ...]], Engine] = LruCache(MAX_SIBLINGS)
        self._folders: dict[tuple[str, ...], dict[str, Path]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close every index."""
        with self._lock:
            for engine in self._engines.values():
                engine.close()
            self._engines.clear()
            self._siblings.clear()

    def folders(self, client_roots: Sequence[str]) -> dict[str, Path]:
        """Find the repositories of a client by name: its roots, or what the server was given, or where it runs.

        They are looked for once, and again while one of them is missing.
        """
        key = tuple(client_roots)
        known = self._folders.get(key)
        if known is None or not all(map(os.path.isdir, known.values())):
            problems: list[str] = []
            known = self._name_folders(self._find_folders(client_roots, problems))
            if not problems and len(self._folders) < MAX_CACHED_ROOT_SETS:
                self._folders[key] = known
        return dict(known)

    def _find_folders(self, client_roots: Sequence[str], problems: list[str]) -> list[Path]:
        given = self._filter_usable(self.allowed.roots, problems)
        requested = self._filter_usable(filter(None, map(uri_to_path, client_roots)), problems)
        if not self.allowed.trust_client:
            limits = given or self._find_working_root()
            requested = [
                folder for folder in requested if any(folder.is_relative_to(limit) for limit in limits)
            ]
        found = requested or given
        if not found and (self.allowed.roots or (client_roots and self.allowed.trust_client)):
            raise RootError("; ".join(problems) or "none of the folders of this client can be searched")
        return found or self._find_working_root()

    def choose_engines(self, client_roots: Sequence[str], repository: str) -> dict[str, Engine]:
        """Return the engines that a call searches: of one repository by its name or path, or all."""
        folders = self.folders(client_roots)
        if repository:
            known = folders | self._find_linked_repositories(folders)
            matches = {name: folder for name, folder in known.items() if repository in (name, str(folder))}
            if not matches:
                raise UsageError(f"there is no repository '{repository}' here: known are {', '.join(known)}")
            folders = matches
        return {name: self.get_engine(folder) for name, folder in folders.items()}

    def get_engine(self, folder: Path, **settings: Any) -> Engine:
        """Return the engine of a folder, opened on first use.

        For settings of answers other than the server's, one that shares the index with it.
        """
        from dowse.engine import Engine

        if not os.path.isdir(folder):
            raise RootError(f"{folder} is not there any more: nothing can be searched in it")
        with self._lock:
            engine = self._engines.get(folder)
            if engine is None:
                allowed = self.allowed
                engine = Engine.open(
                    folder, allow_home=allowed.allow_home, read_only=allowed.read_only, **allowed.given
                )
                self._engines[folder] = engine
            if not settings:
                return engine
            key = folder, tuple(sorted(settings.items()))
            sibling = self._siblings.get(key)
            if sibling is None:
                self._siblings.put(key, sibling := engine.with_settings(**settings))
            return sibling

    def list_folders(self) -> set[Path]:
        """List the folders that are searched here: those that the server was given, and those that clients named."""
        try:
            given = self.folders(()).values()
        except RootError:
            given = {}.values()
        with self._lock:
            return {*given, *self._engines}

    def _find_working_root(self) -> list[Path]:
        return [roots.resolve_root(None, allow_home=self.allowed.allow_home)]

    def _filter_usable(self, paths: Any, problems: list[str]) -> list[Path]:
        """Return the folders that can be searched; add to the problems why the others cannot."""
        usable = []
        for path in paths:
            try:
                usable.append(roots.resolve_root(path, allow_home=self.allowed.allow_home))
            except DowseError as error:
                problems.append(str(error))
        return usable

    def _name_folders(self, folders: Sequence[Path]) -> dict[str, Path]:
        from dowse.multi_repo import name_folders

        return name_folders(folders, self.allowed.names)

    def _find_linked_repositories(self, folders: Mapping[str, Path]) -> dict[str, Path]:
        """Return the repositories that settings name: the user's own anywhere, a tree's only inside of it."""
        linked: dict[str, Path] = {}
        for folder in folders.values():
            for name, path in self.get_engine(folder).settings.repositories.items():
                linked.setdefault(name, (folder / Path(path).expanduser()).resolve())
        return linked


def uri_to_path(uri: str) -> str:
    """Return the path of a ``file:`` URI; empty if it is not on this machine."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    if os.name == "nt":
        from urllib.request import url2pathname  # slow to load, and of use only here

        path = url2pathname(parts.path)
    return "" if "\0" in path else path
