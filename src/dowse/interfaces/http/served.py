"""The repositories that an HTTP server serves, and which of them a caller may ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dowse.engine import Engine
from dowse.errors import DowseError, RootError, UsageError
from dowse.interfaces.http.access import Caller, Permission
from dowse.interfaces.http.index_builds import IndexBuilding, IndexBuilds
from dowse.interfaces.http.problems import HttpProblem
from dowse.interfaces.workspace import Workspace
from dowse.multi_repo import Repositories
from dowse.types.answers import RepositoryReport


@dataclass(frozen=True, slots=True)
class Served:
    """What a server offers: its repositories, whether it may be told to index, and a folder of saved evaluations."""

    workspace: Workspace
    repositories: Mapping[str, Path]  # as the server was started: a name stays with its folder
    may_index: bool = False
    evaluations: Path | None = None
    editor_url: str = ""  # what opens a place in an editor: vscode://file{path}:{line}
    builds: IndexBuilds = field(default_factory=IndexBuilds)

    def folders(self, caller: Caller) -> dict[str, Path]:
        """List the repositories that a caller may ask, by name; the folder of one may be gone."""
        allowed = caller.repositories
        return {
            name: folder for name, folder in self.repositories.items() if allowed is None or name in allowed
        }

    def engine(self, caller: Caller, name: str = "", **settings: Any) -> Engine:
        """Return the engine of a repository, whether it has an index or not; without a name, of the only one."""
        known = self._choose(caller, [name] if name else [])
        if len(known) > 1:
            raise UsageError(f"say which repository: one of {', '.join(known)}")
        (folder,) = known.values()
        return self._open(folder, **settings)

    def ready_engine(self, caller: Caller, name: str = "", **settings: Any) -> Engine:
        """Return the engine of a repository that has an index; one that is missing is built."""
        engine = self.engine(caller, name, **settings)
        self.builds.wait_for(engine, name or engine.root.name)
        return engine

    def find_target(
        self, caller: Caller, names: Sequence[str] = (), **settings: Any
    ) -> Engine | Repositories:
        """Find what a search is for: a repository, or several together; those that cannot be asked are reported."""
        known = self._choose(caller, names)
        if len(known) == 1:
            return self.ready_engine(caller, *known, **settings)
        engines: dict[str, Engine] = {}
        problems: list[RepositoryReport] = []
        errors: list[Exception] = []
        for name, folder in known.items():
            try:
                engines[name] = self._open(folder, **settings)
                self.builds.wait_for(engines[name], name)
            except (DowseError, IndexBuilding) as error:
                engines.pop(name, None)
                problems.append(RepositoryReport(name, str(folder), problem=str(error)))
                errors.append(error)
        if not engines:
            raise errors[0]
        return Repositories(engines, problems)

    def _choose(self, caller: Caller, names: Sequence[str]) -> dict[str, Path]:
        """Return the folders of some repositories, or of all that the caller may ask."""
        known = self.folders(caller)
        for name in names:
            if name not in known:
                raise RootError(
                    f"there is no repository '{name}' here: known are {', '.join(known) or 'none'}"
                )
        if not known:
            raise HttpProblem(403, "this token is for none of the repositories that are served")
        return {name: folder for name, folder in known.items() if not names or name in names}

    def _open(self, folder: Path, **settings: Any) -> Engine:
        engine = self.workspace.get_engine(folder, **settings)
        engine.force_check()
        return engine

    def require_index(self, caller: Caller) -> None:
        """Raise an error unless the caller may have something indexed."""
        if not self.may_index:
            raise HttpProblem(403, "this server only reads: start it with --allow-index to index from here")
        if Permission.INDEX not in caller.permissions:
            raise HttpProblem(403, "this token may only read: give it the scope 'index'")
