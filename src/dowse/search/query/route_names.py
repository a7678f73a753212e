"""HTTP routes that a query names: ``POST /login``, ``GET /users/:id``, a path like ``/users/{id}`` alone.

A route in the index is called by its method, a space and its path, with parameters in braces; how a parameter is called
does not count.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from dowse.lazy_regex import compile_lazily

MAX_ROUTES = 2
"""Routes of a query that are looked up: each takes a scan of the names of routes."""

ANY_METHOD = "ANY"

_ROUTE = compile_lazily(
    r"(?<![\w/.:])(?:(?P<method>GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+)?(?P<path>/[\w~-][\w/{}:<>.~*-]*)",
    re.IGNORECASE,
)
_PARAMETER = compile_lazily(r"\{[^{}/]*\}|<[^<>/]*>|(?<=/):\w+")

PREFIXED_SCORE = 0.6
"""How sure it is that a route is meant whose path only ends as the query says: another file may mount it elsewhere."""


class RouteName(NamedTuple):
    """A route as a query names it: the method in capitals, empty if it names none, and the path."""

    method: str
    path: str

    @property
    def patterns(self) -> tuple[str, ...]:
        """The globs of the names of such routes, also of those that begin with a prefix or take any method."""
        path = _PARAMETER.sub("*", self.path)
        methods = (self.method, ANY_METHOD) if self.method else ("*",)
        return tuple(f"{method} **{path}" for method in methods)

    def score(self, name: str) -> float:
        """Score how surely a route of some name is meant, from 0 to 1."""
        method, _, path = name.upper().partition(" ")
        if self.method and method not in (self.method, ANY_METHOD):
            return 0.0
        own = _PARAMETER.sub("*", path)
        wanted = _PARAMETER.sub("*", self.path).upper()
        return 1.0 if own == wanted else PREFIXED_SCORE if own.endswith(wanted) else 0.0


@lru_cache(maxsize=100)
def find_routes(text: str) -> tuple[RouteName, ...]:
    """Find the routes that a query names, with a method or as a path that begins with a slash."""
    if "/" not in text:
        return ()
    found = (
        RouteName((match["method"] or "").upper(), match["path"].rstrip("/.") or "/")
        for match in _ROUTE.finditer(text)
    )
    return tuple(dict.fromkeys(found))[:MAX_ROUTES]
