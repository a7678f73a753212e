"""Which folders a client may ask about, and their engines.

What is allowed is decided here and nowhere else: the folders that the server was started with, and, where the client
is the user's own program on this machine, those that the client says it works on. A configuration file in a tree
cannot widen that.
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

if TYPE_CHECKING:
    from dowse.engine import Engine

REMEMBERED = 1000
"""Sets of folders, as clients give them, whose repositories are remembered."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a server was started with."""

    roots: tuple[str, ...] = ()
    trust_client: bool = True  # whether folders that the client names are allowed by that
    read_only: bool = False
    any_root: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)  # settings


class Workspace:
    """The engines of a server: one for each folder, shared by all clients."""

    def __init__(self, allowed: Allowed) -> None:
        self.allowed = allowed
        self._engines: dict[Path, Engine] = {}
        self._folders: dict[tuple[str, ...], dict[str, Path]] = {}
        self._guard = threading.Lock()

    def close(self) -> None:
        """Let go of every index."""
        with self._guard:
            for engine in self._engines.values():
                engine.close()
            self._engines.clear()

    def folders(self, client_roots: Sequence[str]) -> dict[str, Path]:
        """The repositories of a client by name: its roots, or what the server was given, or where it runs.

        They are looked for once, and again while one of them is missing.
        """
        key = tuple(client_roots)
        known = self._folders.get(key)
        if known is None or not all(map(os.path.isdir, known.values())):
            problems: list[str] = []
            known = self._named(self._found(client_roots, problems))
            if not problems and len(self._folders) < REMEMBERED:
                self._folders[key] = known
        return dict(known)

    def _found(self, client_roots: Sequence[str], problems: list[str]) -> list[Path]:
        given = self._usable(self.allowed.roots, problems)
        asked = self._usable(filter(None, map(path_of_uri, client_roots)), problems)
        if not self.allowed.trust_client:
            limits = given or self._here()
            asked = [folder for folder in asked if any(folder.is_relative_to(limit) for limit in limits)]
        found = asked or given
        if not found and (self.allowed.roots or (client_roots and self.allowed.trust_client)):
            raise RootError("; ".join(problems) or "none of the folders of this client can be searched")
        return found or self._here()

    def chosen(self, client_roots: Sequence[str], wanted: str) -> dict[str, Engine]:
        """The engines that a call asks: of one repository by its name or path, or all."""
        folders = self.folders(client_roots)
        if wanted:
            known = folders | self._linked(folders)
            matches = {name: folder for name, folder in known.items() if wanted in (name, str(folder))}
            if not matches:
                raise UsageError(f"there is no repository '{wanted}' here: known are {', '.join(known)}")
            folders = matches
        return {name: self.engine(folder) for name, folder in folders.items()}

    def engine(self, folder: Path) -> Engine:
        """The engine of a folder, made when first asked for."""
        from dowse.engine import Engine

        if not os.path.isdir(folder):
            raise RootError(f"{folder} is not there any more: nothing can be searched in it")
        with self._guard:
            engine = self._engines.get(folder)
            if engine is None:
                allowed = self.allowed
                engine = Engine.open(
                    folder, any_root=allowed.any_root, read_only=allowed.read_only, **allowed.given
                )
                self._engines[folder] = engine
        return engine

    def _here(self) -> list[Path]:
        return [roots.root_of(None, any_root=self.allowed.any_root)]

    def _usable(self, paths: Any, problems: list[str]) -> list[Path]:
        """The folders that can be searched; why the others cannot goes to the problems."""
        usable = []
        for path in paths:
            try:
                usable.append(roots.root_of(path, any_root=self.allowed.any_root))
            except DowseError as error:
                problems.append(str(error))
        return usable

    def _named(self, folders: Sequence[Path]) -> dict[str, Path]:
        from dowse.multi_repo import names_for

        return names_for(folders, {})

    def _linked(self, folders: Mapping[str, Path]) -> dict[str, Path]:
        """Return the repositories that settings name: the user's own anywhere, a tree's only inside of it."""
        linked: dict[str, Path] = {}
        for folder in folders.values():
            for name, path in self.engine(folder).settings.repositories.items():
                linked.setdefault(name, (folder / Path(path).expanduser()).resolve())
        return linked


def path_of_uri(uri: str) -> str:
    """The path of a ``file:`` address; empty if it is none of this machine."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    if os.name == "nt":
        from urllib.request import url2pathname  # slow to load, and of use only here

        path = url2pathname(parts.path)
    return "" if "\0" in path else path
