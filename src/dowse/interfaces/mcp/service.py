"""MCP request dispatch (JSON-RPC methods: tools, resources, prompts), whatever transport carries the requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from dowse import __version__
from dowse.errors import DowseError, UsageError
from dowse.interfaces.call_context import Call
from dowse.interfaces.mcp import prompts
from dowse.interfaces.mcp.arguments import complete_arguments, suggest_name, validate_arguments
from dowse.interfaces.mcp.session import ClientSession
from dowse.interfaces.mcp.tools import (
    DEFAULT_BUDGET_TOKENS,
    INSTRUCTIONS,
    TOOLS,
    Tool,
)
from dowse.interfaces.workspace import ServerScope, Workspace

INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
METHOD_NOT_FOUND = -32601
RESOURCE_NOT_FOUND = -32002

URI_SCHEME = "dowse"

PAGE_SIZE = 100
"""Resources on a page."""

RESOURCE_BUDGET = 50_000
"""Tokens of a resource, more than of a tool: a person asked for this file."""


class ProtocolError(Exception):
    """A request that cannot be answered, as JSON-RPC reports it."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a server answers unless a call says otherwise."""

    budget: int = DEFAULT_BUDGET_TOKENS
    memory: bool = True  # code that was sent is not sent again
    profile: str = "dowse"


class Service:
    """The MCP server without its transport. Calls may come from several threads."""

    def __init__(self, allowed: ServerScope, options: ServerOptions | None = None) -> None:
        self.workspace = Workspace(allowed)
        self.options = options or ServerOptions()
        self._methods: Mapping[str, Callable[[ClientSession, Mapping[str, Any], Call], dict[str, Any]]] = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read_resource,
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
            "ping": lambda session, params, call: {},
        }

    def close(self) -> None:
        """Close every index."""
        self.workspace.close()

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools of the profile."""
        return {name: tool for name, tool in TOOLS.items() if self.options.profile == tool.profile}

    @property
    def about(self) -> dict[str, Any]:
        """What the server says of itself."""
        return {
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "dowse", "title": "dowse code search", "version": __version__},
            "instructions": INSTRUCTIONS,
        }

    def is_quick(self, method: str) -> bool:
        """Tell whether a request is answered at once, without looking at a folder."""
        return method not in ("tools/call", "resources/read", "resources/list")

    def answer(
        self, session: ClientSession, method: str, params: Mapping[str, Any], call: Call | None = None
    ) -> dict[str, Any]:
        """Return the result of a request."""
        if method not in self._methods:
            raise ProtocolError(METHOD_NOT_FOUND, f"unknown method: {method}")
        try:
            return self._methods[method](session, params, call or Call())
        except DowseError as error:
            raise ProtocolError(INVALID_PARAMS, str(error)) from error

    # --- tools ---

    def _list_tools(self, session: ClientSession, params: Mapping[str, Any], call: Call) -> dict[str, Any]:
        return {"tools": [tool.describe() for tool in self.tools.values()]}

    def _call_tool(self, session: ClientSession, params: Mapping[str, Any], call: Call) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments", {})
        tool = self.tools.get(name) if isinstance(name, str) else None
        if tool is None:
            guess = suggest_name(name, self.tools) if isinstance(name, str) else ""
            hint = f"did you mean '{guess}'? Known" if guess else "known"
            raise ProtocolError(INVALID_PARAMS, f"unknown tool {name!r}: {hint} are {', '.join(self.tools)}")
        if not isinstance(arguments, Mapping):
            raise ProtocolError(INVALID_PARAMS, "'arguments' must be an object")
        from dowse.interfaces.agents import savings
        from dowse.interfaces.mcp import handlers, responses

        arguments, changed = complete_arguments(tool, arguments)
        if problem := validate_arguments(tool, arguments):
            return responses.error_answer(problem).result()
        options = self.options
        context = handlers.Context(self.workspace, session, call, options.budget, options.memory)
        home = import_module(f"dowse.interfaces.mcp.{tool.module}")
        run: Callable[..., responses.Answer] = getattr(home, tool.name)
        try:
            answer = run(context, arguments).add_lines(changed)
        except DowseError as error:
            return responses.error_answer(str(error)).result()
        roots = [engine.root for engine in self.workspace.choose_engines(session.roots or (), "").values()]
        savings.log_call(tool.name, answer.text, answer.values, roots)
        return answer.result()

    # --- resources ---

    def _list_resources(
        self, session: ClientSession, params: Mapping[str, Any], call: Call
    ) -> dict[str, Any]:
        """List the files of existing indexes, a page at a time; nothing is indexed for it."""
        from dowse.types.stored import IndexState

        engines = self.workspace.choose_engines(session.roots or (), "")
        start = _parse_cursor(params.get("cursor"))
        found = (
            {"uri": self._uri(name, file.path), "name": file.path, "mimeType": "text/plain"}
            for name, engine in engines.items()
            if engine.status().state is IndexState.CURRENT
            for file in engine.files()
        )
        page = list(islice(found, start, start + PAGE_SIZE + 1))
        result: dict[str, Any] = {"resources": page[:PAGE_SIZE]}
        return result | ({"nextCursor": str(start + PAGE_SIZE)} if len(page) > PAGE_SIZE else {})

    @staticmethod
    def _uri(repository: str, path: str) -> str:
        return f"{URI_SCHEME}://{quote(repository, safe='')}/{quote(path)}"

    def _list_templates(
        self, session: ClientSession, params: Mapping[str, Any], call: Call
    ) -> dict[str, Any]:
        rows = (
            ("file", "{+path}", "A file as it is indexed."),
            ("lines", "{+path}:{first}-{last}", "Some lines of a file."),
            ("definition", "{+path}:{name}", "A class, function or other definition, by its qualified name."),
        )
        return {
            "resourceTemplates": [
                {
                    "uriTemplate": f"{URI_SCHEME}://{{repo}}/{template}",
                    "name": name,
                    "description": description,
                    "mimeType": "text/plain",
                }
                for name, template, description in rows
            ]
        }

    def _read_resource(self, session: ClientSession, params: Mapping[str, Any], call: Call) -> dict[str, Any]:
        uri = params.get("uri")
        parts = urlsplit(uri) if isinstance(uri, str) and len(uri) < PAGE_SIZE * PAGE_SIZE else None
        if parts is None or parts.scheme != URI_SCHEME:
            raise ProtocolError(INVALID_PARAMS, f"a resource here looks like {URI_SCHEME}://repository/path")
        from dowse.search.output.budget import pack

        (engine,) = self.workspace.choose_engines(session.roots or (), unquote(parts.netloc)).values()
        try:
            found = engine.read(unquote(parts.path).lstrip("/"), progress=call.progress)
        except UsageError as error:
            raise ProtocolError(RESOURCE_NOT_FOUND, str(error)) from error
        whole = len(found) == 1 and pack(found, RESOURCE_BUDGET)
        text = found[0].text if whole and not whole.cut else pack(found, RESOURCE_BUDGET).text
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}

    # --- prompts ---

    def _list_prompts(self, session: ClientSession, params: Mapping[str, Any], call: Call) -> dict[str, Any]:
        return {"prompts": prompts.list_prompts()}

    def _get_prompt(self, session: ClientSession, params: Mapping[str, Any], call: Call) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments", {})
        if name not in prompts.PROMPTS:
            raise ProtocolError(
                INVALID_PARAMS, f"unknown prompt {name!r}: known are {', '.join(prompts.PROMPTS)}"
            )
        if not isinstance(arguments, Mapping) or not all(isinstance(v, str) for v in arguments.values()):
            raise ProtocolError(INVALID_PARAMS, "'arguments' must be an object with strings")
        prompt = prompts.PROMPTS[name]
        for argument, _, required in prompt.arguments:
            if required and not arguments.get(argument):
                raise ProtocolError(INVALID_PARAMS, f"prompt {name!r} needs '{argument}'")
        text = prompts.fill_prompt(name, arguments, graph="graph" in self.tools)
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": prompt.description, "messages": [message]}


def _parse_cursor(cursor: object) -> int:
    if cursor is None:
        return 0
    if not (isinstance(cursor, str) and cursor.isascii() and cursor.isdigit() and len(cursor) < 9):
        raise ProtocolError(INVALID_PARAMS, "this cursor is not from this server: start without one")
    return int(cursor)
