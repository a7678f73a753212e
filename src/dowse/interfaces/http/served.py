"""The repositories that an HTTP server serves, and which of them a caller may ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse.engine import Engine
from dowse.errors import RootError, UsageError
from dowse.interfaces.http.access import Caller, Permission
from dowse.interfaces.http.problems import HttpProblem
from dowse.interfaces.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Served:
    """What a server offers: its repositories, whether it may be told to index, and a folder of saved evaluations."""

    workspace: Workspace
    may_index: bool = False
    evaluations: Path | None = None
    editor_url: str = ""  # what opens a place in an editor: vscode://file{path}:{line}

    def folders(self, caller: Caller) -> dict[str, Path]:
        """List the repositories that a caller may ask, by name."""
        known = self.workspace.folders(())
        if caller.repositories is None:
            return known
        return {name: folder for name, folder in known.items() if name in caller.repositories}

    def engines(self, caller: Caller, names: Sequence[str] = (), **settings: Any) -> dict[str, Engine]:
        """Return the engines of some repositories, or of all that the caller may ask."""
        known = self.folders(caller)
        for name in names:
            if name not in known:
                raise RootError(
                    f"there is no repository '{name}' here: known are {', '.join(known) or 'none'}"
                )
        if not known:
            raise HttpProblem(403, "this token is for none of the repositories that are served")
        chosen = {name: folder for name, folder in known.items() if not names or name in names}
        engines = {name: self.workspace.get_engine(folder, **settings) for name, folder in chosen.items()}
        for engine in engines.values():
            engine.force_check()
        return engines

    def engine(self, caller: Caller, name: str = "", **settings: Any) -> Engine:
        """Return the engine of a repository; without a name, of the only one."""
        names = [name] if name else []
        if not names and len(known := self.folders(caller)) > 1:
            raise UsageError(f"say which repository: one of {', '.join(known)}")
        (engine,) = self.engines(caller, names, **settings).values()
        return engine

    def require_index(self, caller: Caller) -> None:
        """Raise an error unless the caller may have something indexed."""
        if not self.may_index:
            raise HttpProblem(403, "this server only reads: start it with --allow-index to index from here")
        if Permission.INDEX not in caller.permissions:
            raise HttpProblem(403, "this token may only read: give it the scope 'index'")
