"""The table of API operations: path, parameters, answer and function of each, for the server and its description."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dowse.engine import Engine
from dowse.interfaces.call_context import Call
from dowse.interfaces.http.access import Caller, Permission
from dowse.interfaces.http.json_schemas import Schema
from dowse.interfaces.http.parameters import Parameter
from dowse.interfaces.http.served import Served

API_PATH = "/api/v1"

REPOSITORY = Parameter("repository", "The repository to ask, by its name (default: the only one).")


REFRESH = Parameter("refresh", "Look for changed files first.", "boolean")

SETTINGS = ("hybrid", "refresh", "cache", "profile")
"""Parameters that stand for settings; not given, they are as the server's settings say."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One request to an operation: what is served, who asks, the parameters, and a way to stop."""

    served: Served
    caller: Caller
    values: Mapping[str, Any]
    call: Call = field(default_factory=Call)

    @property
    def engine(self) -> Engine:
        """The engine of the repository that the request names, with an index."""
        return self.served.ready_engine(self.caller, self.values["repository"] or "", **self.settings)

    @property
    def bare_engine(self) -> Engine:
        """The engine of that repository, whether it has an index or not."""
        return self.served.engine(self.caller, self.values["repository"] or "", **self.settings)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that the request changes."""
        given = {name: self.values.get(name) for name in SETTINGS}
        off = {"term_graph": ""} if self.values.get("term_graph") else {}
        return {name: value for name, value in given.items() if value is not None} | off


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """The answer of an operation: its JSON values, the generations it was made of, and where the next page begins."""

    values: Mapping[str, Any]
    generations: tuple[int, ...] | None = None  # None: it depends on more than the index
    next_start: int | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the API."""

    path: str
    summary: str
    run: Callable[[ApiCall], ApiAnswer]
    answer: Schema
    parameters: Sequence[Parameter] = ()
    command: str = ""  # the command whose --json is the same
    has_body: bool = False  # may also be asked with a JSON body: for long texts
    only_body: bool = False  # changes something
    permission: Permission = Permission.READ

    @property
    def name(self) -> str:
        """The name of the operation in the description and in the metrics."""
        return self.path.strip("/").replace("/", "_")

    @property
    def methods(self) -> tuple[str, ...]:
        """The HTTP methods that it answers."""
        if self.only_body:
            return ("POST",)
        return ("GET", "POST") if self.has_body else ("GET",)


def indexed(values: Mapping[str, Any], *engines: Engine) -> ApiAnswer:
    """Answer with values that change with the index only."""
    return ApiAnswer(values, tuple(engine.generation() for engine in engines))


def list_operations() -> tuple[Operation, ...]:
    """List all operations, in the order of the description."""
    return tuple(operation for group in group_operations().values() for operation in group)


def group_operations() -> dict[str, tuple[Operation, ...]]:
    """Group the operations by what they are about."""
    from dowse.interfaces.http import (
        graph_operations,
        history_operations,
        index_operations,
        search_operations,
    )

    return {
        "Search": search_operations.OPERATIONS,
        "Entities and the code graph": graph_operations.OPERATIONS,
        "History": history_operations.OPERATIONS,
        "Indexes": index_operations.OPERATIONS,
    }
