"""HTTP routes in code: what a web framework answers, as entities like ``GET /users/{id}``, with their handlers.

Flask, FastAPI, Django, Express, Fastify, NestJS, Spring, ASP.NET, Rails, Sinatra, net/http, gin, chi, echo, Laravel.
The file stays one of its language; routes are added to what it defines. Parameters of a path are written ``{id}``.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dowse.code.formats.reading import HANDLER, MAX_NAME_CHARS, Item, items_of, nest_items
from dowse.types.source import Entity, Kind, Reference, ReferenceKind, References

MAX_ROUTES = 2_000
"""Routes of one file."""

NEAR_DEFINITIONS = 4
"""Definitions after a decorator of which it may be one's."""

MAX_CALL_CHARS = 5_000
"""How far the end of a call is looked for."""

_METHODS = "get|post|put|delete|patch|head|options"
_CALLABLE_KINDS = frozenset({Kind.FUNCTION, Kind.METHOD})
_PARAMETER = re.compile(
    r"<(?:\w+:)?(\w+)>|:(\w+)(?:\([^)]*\))?\??|\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)|\{(\w+)(?::[^{}]*|\?)?\}|\*(\w+)"
)
_LAST_NAME = re.compile(r"(?P<name>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)\s*\)\s*[;,)]*\s*$")


class Route(NamedTuple):
    """A route as a file says it: where, by which method, for which path, and what handles it (empty: what follows)."""

    position: int
    end: int
    method: str
    path: str
    handler: str = ""


class _RoutedSource(NamedTuple):
    """A file in which routes are looked for."""

    text: str
    entities: Sequence[Entity]
    line_starts: Sequence[int]
    name_lines: Sequence[tuple[int, int]]  # of each definition the line of its name, in order, and its index

    def row_of(self, position: int) -> int:
        """Return the 0-based row of a position."""
        return bisect_right(self.line_starts, position) - 1

    def definition_at(self, position: int) -> Entity | None:
        """Find the definition that a decorator or an annotation stands above."""
        line = self.row_of(position) + 1
        first = bisect_left(self.name_lines, (line, 0))
        near = [self.entities[index] for _, index in self.name_lines[first : first + NEAR_DEFINITIONS]]
        found = [e for e in near if e.start_line <= line and e.kind is not Kind.VARIABLE]
        return found[0] if found else None


# --- Python ---

_PYTHON_DECORATOR = re.compile(
    rf"^[ \t]*@(?P<on>\w+(?:\.\w+)*)\.(?P<method>route|api_route|websocket|{_METHODS})"
    r"\(\s*(?:path\s*=\s*)?[rf]?[\"'](?P<path>[^\"'\n]*)[\"'](?P<rest>[^\n]*)",
    re.MULTILINE,
)
_PYTHON_PREFIX = re.compile(
    r"^(?P<name>\w+)\s*=\s*(?:APIRouter|Blueprint)\([^()]{0,300}?prefix\s*=\s*[\"'](?P<prefix>[^\"'\n]*)",
    re.MULTILINE,
)
_PYTHON_METHODS = re.compile(r"methods\s*=\s*[\[({](?P<methods>[^\])}\n]*)")
_DJANGO_PATH = re.compile(
    r"\b(?:re_path|path|url)\(\s*r?[\"'](?P<path>[^\"'\n]*)[\"']\s*,\s*(?P<handler>[A-Za-z_][\w.]*)(?P<call>\.as_view\(|\()?"
)


def _find_python(source: _RoutedSource) -> Iterator[Route]:
    prefixes = {found["name"]: found["prefix"] for found in _PYTHON_PREFIX.finditer(source.text)}
    for found in _PYTHON_DECORATOR.finditer(source.text):
        word, path = found["method"], found["path"]
        if not (path.startswith("/") or (not path and found["on"] in prefixes)):
            continue
        listed = _PYTHON_METHODS.search(found["rest"])
        methods = re.findall(r"\w+", listed["methods"]) if listed else []
        default = "GET" if word in ("route", "api_route") else word
        for method in methods or [default]:
            yield Route(found.start("on"), found.start("on"), method, prefixes.get(found["on"], "") + path)
    if "urlpatterns" in source.text:
        for found in _DJANGO_PATH.finditer(source.text):
            handler = "" if found["handler"] == "include" else found["handler"].removesuffix(".as_view")
            path = "/" + found["path"].removeprefix("^").removesuffix("$")
            yield Route(found.start(), found.end(), "ANY", path, handler or "include")


# --- JavaScript, TypeScript ---

_EXPRESS_CALL = re.compile(
    rf"\b(?P<on>[\w$]{{0,40}}(?:[Aa]pp|[Rr]outer|[Ss]erver|[Aa]pi|fastify|[Rr]outes))\.(?P<method>{_METHODS}|all)"
    r"\(\s*[\"'`](?P<path>/[^\"'`\n]*)[\"'`]\s*,"
)
_EXPRESS_ROUTE = re.compile(r"\.route\(\s*[\"'`](?P<path>/[^\"'`\n]*)[\"'`]\s*\)")
_CHAINED = re.compile(rf"\s*\.(?P<method>{_METHODS}|all)\((?P<handler>[^()\n]*)\)")
_NEST_METHOD = re.compile(
    r"@(?P<method>Get|Post|Put|Delete|Patch|Head|Options|All)\(\s*(?:[\"'`](?P<path>[^\"'`\n]*)[\"'`])?\s*\)"
)
_NEST_CONTROLLER = re.compile(r"@Controller\(\s*(?:\{\s*path:\s*)?[\"'`](?P<path>[^\"'`\n]*)[\"'`]")


def _find_javascript(source: _RoutedSource) -> Iterator[Route]:
    for found in _EXPRESS_CALL.finditer(source.text):
        end = _find_call_end(source.text, found.end())
        last = _LAST_NAME.search(source.text[max(found.end(), end - MAX_NAME_CHARS) : end])
        yield Route(found.start(), end, found["method"], found["path"], last["name"] if last else "?")
    for found in _EXPRESS_ROUTE.finditer(source.text):
        position = found.end()
        while chained := _CHAINED.match(source.text, position):
            position = chained.end()
            handler = chained["handler"].rpartition(",")[2].strip()
            yield Route(found.start(), position, chained["method"], found["path"], handler)
    if "@Controller" in source.text:
        prefixes = [(found.start(), found["path"]) for found in _NEST_CONTROLLER.finditer(source.text)]
        for found in _NEST_METHOD.finditer(source.text):
            prefix = next((path for start, path in reversed(prefixes) if start < found.start()), "")
            yield Route(
                found.start(), found.start(), found["method"], _join_path(prefix, found["path"] or "")
            )


# --- Java, Kotlin, C# ---

_SPRING_MAPPING = re.compile(
    r"@(?P<method>Get|Post|Put|Delete|Patch|Request)Mapping\b(?:\((?P<arguments>[^()]*(?:\([^()]*\)[^()]*)*)\))?"
)
_STRING = re.compile(r'"(?P<text>[^"\n]*)"')
_REQUEST_METHOD = re.compile(r"RequestMethod\.(\w+)")
_ASPNET_METHOD = re.compile(r'\[Http(?P<method>Get|Post|Put|Delete|Patch)(?:\(\s*"(?P<path>[^"\n]*)")?')
_ASPNET_ROUTE = re.compile(r'\[Route\(\s*"(?P<path>[^"\n]*)"')
_ASPNET_MAP = re.compile(r'\.Map(?P<method>Get|Post|Put|Delete|Patch)\(\s*"(?P<path>[^"\n]*)"\s*,')


def _find_spring(source: _RoutedSource) -> Iterator[Route]:
    prefixes: list[tuple[int, str]] = []  # last line of a class, and its path
    for found in _SPRING_MAPPING.finditer(source.text):
        arguments = found["arguments"] or ""
        said = _STRING.search(arguments)
        path = said["text"] if said else ""
        definition = source.definition_at(found.start())
        if definition is None:
            continue
        if definition.kind not in _CALLABLE_KINDS:
            prefixes.append((definition.end_line, path))
            continue
        method = found["method"]
        if method == "Request":
            named = _REQUEST_METHOD.search(arguments)
            method = named[1] if named else "ANY"
        prefix = next((one for end, one in reversed(prefixes) if definition.line <= end), "")
        yield Route(found.start(), found.start(), method, _join_path(prefix, path))


def _find_aspnet(source: _RoutedSource) -> Iterator[Route]:
    prefixes: list[tuple[int, str]] = []
    for found in _ASPNET_ROUTE.finditer(source.text):
        definition = source.definition_at(found.start())
        if definition and definition.kind not in _CALLABLE_KINDS:
            name = definition.name.removesuffix("Controller").lower()
            prefixes.append((definition.end_line, found["path"].replace("[controller]", name)))
    for found in _ASPNET_METHOD.finditer(source.text):
        definition = source.definition_at(found.start())
        if definition and definition.kind in _CALLABLE_KINDS:
            prefix = next((one for end, one in prefixes if definition.line <= end), "")
            yield Route(
                found.start(), found.start(), found["method"], _join_path(prefix, found["path"] or "")
            )
    for found in _ASPNET_MAP.finditer(source.text):
        end = _find_call_end(source.text, found.end())
        last = _LAST_NAME.search(source.text[max(found.end(), end - MAX_NAME_CHARS) : end])
        yield Route(found.start(), end, found["method"], found["path"], last["name"] if last else "?")


# --- Ruby, Go, PHP ---

_RUBY_ROUTE = re.compile(
    r"^[ \t]*(?P<method>get|post|put|patch|delete|match|resources?)\s*\(?\s*"
    r"[:\"'](?P<path>[^\"'\s,()]+)[\"']?(?P<rest>[^\n]*)",
    re.MULTILINE,
)
_RUBY_TARGET = re.compile(r"(?:to:|=>)\s*[\"'](?P<controller>[\w/]+)#(?P<action>\w+)[\"']")
_GO_CALL = re.compile(
    r"\.(?P<method>HandleFunc|Handle|GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS|Any|Get|Post|Put|Delete|Patch|Head|Options)"
    r"\(\s*\"(?:(?P<verb>[A-Z]+) )?(?P<path>/[^\"\n]*)\"\s*,"
)
_LARAVEL_CALL = re.compile(
    r"Route::(?P<method>get|post|put|patch|delete|any|options|resource|apiResource)\(\s*[\"'](?P<path>[^\"'\n]*)[\"']\s*,"
    r"(?P<rest>[^\n]*)"
)
_LARAVEL_HANDLER = re.compile(
    r"(?P<class>\w+)::class\s*(?:,\s*[\"'](?P<action>\w+))?|[\"'](?P<old>\w+)@(?P<name>\w+)"
)


def _find_ruby(source: _RoutedSource) -> Iterator[Route]:
    is_rails = "routes.draw" in source.text
    for found in _RUBY_ROUTE.finditer(source.text):
        word, path, rest = found["method"], found["path"], found["rest"]
        if not is_rails and not (path.startswith("/") and rest.rstrip().endswith(("do", "}"))):
            continue
        target = _RUBY_TARGET.search(rest)
        handler = f"{_as_class(target['controller'])}Controller.{target['action']}" if target else "?"
        method = "ANY" if word in ("match", "resource", "resources") else word
        if word.startswith("resource"):
            handler = f"{_as_class(path)}Controller"
        yield Route(found.start("method"), found.end(), method, path, handler)


def _as_class(name: str) -> str:
    return "".join(word.capitalize() for word in name.rpartition("/")[2].split("_"))


def _find_go(source: _RoutedSource) -> Iterator[Route]:
    for found in _GO_CALL.finditer(source.text):
        end = _find_call_end(source.text, found.end())
        last = _LAST_NAME.search(source.text[max(found.end(), end - MAX_NAME_CHARS) : end])
        word = found["method"]
        method = found["verb"] or ("ANY" if word.startswith("Handle") else word)
        yield Route(found.start(), end, method, found["path"], last["name"] if last else "?")


def _find_laravel(source: _RoutedSource) -> Iterator[Route]:
    for found in _LARAVEL_CALL.finditer(source.text):
        target = _LARAVEL_HANDLER.search(found["rest"])
        handler = "?"
        if target:
            handler = ".".join(
                filter(None, (target["class"] or target["old"], target["action"] or target["name"]))
            )
        method = "ANY" if found["method"] in ("any", "resource", "apiResource") else found["method"]
        yield Route(found.start(), found.end(), method, found["path"], handler)


_Finder = Callable[[_RoutedSource], Iterator[Route]]
_JAVASCRIPT_SIGNS = (b"express", b"outer.", b"fastify", b"@Controller", b"app.", b"koa", b"Hono")

FINDERS: Mapping[str, tuple[_Finder, tuple[bytes, ...]]] = {
    "python": (_find_python, (b'("/', b"('/", b"urlpatterns", b"APIRouter(")),
    "javascript": (_find_javascript, _JAVASCRIPT_SIGNS),
    "typescript": (_find_javascript, _JAVASCRIPT_SIGNS),
    "java": (_find_spring, (b"Mapping",)),
    "kotlin": (_find_spring, (b"Mapping",)),
    "csharp": (_find_aspnet, (b"[Http", b".MapGet", b".MapPost", b".MapPut", b".MapDelete", b".MapPatch")),
    "ruby": (_find_ruby, (b"routes.draw", b"sinatra", b"Sinatra")),
    "go": (_find_go, (b'("/', b'("GET /', b'("POST /', b'("PUT /', b'("DELETE /', b'("PATCH /')),
    "php": (_find_laravel, (b"Route::",)),
}
"""By language how routes are found, and texts of which a file with routes has one: others are not looked through."""


def may_have_routes(language: str, content: bytes) -> bool:
    """Return whether a file of a language may have routes, which takes next to no time to say."""
    finder = FINDERS.get(language)
    return finder is not None and any(map(content.__contains__, finder[1]))


def add_routes(
    language: str, content: bytes, entities: Sequence[Entity], references: References
) -> tuple[Sequence[Entity], References]:
    """Add the routes of a file to what it defines, each with a link to what handles it."""
    text = content.decode("utf-8", "replace")
    line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
    name_lines = sorted((entity.line, index) for index, entity in enumerate(entities))
    source = _RoutedSource(text, entities, line_starts, name_lines)
    items: list[Item] = []
    links: list[Reference] = []
    for route in FINDERS[language][0](source):
        if len(items) >= MAX_ROUTES:
            break
        definition = None if route.handler else source.definition_at(route.position)
        if not route.handler and (definition is None or definition.kind not in _CALLABLE_KINDS):
            continue
        name = f"{route.method.upper()} {normalize_path(route.path)}"
        handler = definition.qualified if definition else route.handler
        first, last = source.row_of(route.position) + 1, source.row_of(max(route.position, route.end - 1)) + 1
        items.append(Item(Kind.ROUTE, name, first, last, name, f"{name} {handler}".rstrip(" ?")))
        links.append((handler, first, f"{HANDLER} {name}"))
    if not items:
        return entities, references
    found = {**references, ReferenceKind.LINK: (*references.get(ReferenceKind.LINK, ()), *links)}
    return nest_items([*items_of(entities), *items]), found


def normalize_path(path: str) -> str:
    """Write the path of a route in one way: with a slash in front and parameters in braces."""
    path = _PARAMETER.sub(lambda found: "{" + next(filter(None, found.groups())) + "}", path)
    return f"/{path.lstrip('/')}"[:MAX_NAME_CHARS]


def _join_path(prefix: str, path: str) -> str:
    return "/".join(filter(None, (prefix.strip("/"), path.strip("/"))))


def _find_call_end(text: str, start: int) -> int:
    """Find the end of a call, behind its closing parenthesis; of a long one, the end of its line."""
    depth = 1
    for found in re.finditer(
        r"[()]|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", text[start : start + MAX_CALL_CHARS]
    ):
        if found[0] == "(":
            depth += 1
        elif found[0] == ")":
            depth -= 1
            if not depth:
                return start + found.end()
    end = text.find("\n", start)
    return end if end >= 0 else len(text)
