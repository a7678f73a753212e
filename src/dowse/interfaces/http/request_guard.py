"""Request guard (ASGI middleware): Host and Origin checks against attacks through a browser, tokens, request rate.

DNS rebinding: a page of another site has its own name resolve to this machine, and asks with that name in Host. CSRF:
such a page has the user's browser send a request along with its cookie; the browser then names the page in Origin.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, urlsplit

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dowse.interfaces.http.access import LOOPBACK_HOSTS, Caller, TokenBook
from dowse.interfaces.http.browser_sign_in import BrowserSessions
from dowse.interfaces.http.problems import make_problem
from dowse.lru import LruCache

CALLER_KEY = "dowse.caller"
"""Key of a request's scope under which the guard leaves who makes it."""

MAX_RATE_KEYS = 10_000
"""Callers whose requests are counted."""

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Headers of every response: nothing from elsewhere is loaded, no script but the page's own runs."""


@dataclass(frozen=True, slots=True)
class HostRule:
    """The names that a server goes by. An address of digits is no name that somebody else could give it."""

    names: frozenset[str]
    addresses: bool = False

    @classmethod
    def loopback(cls) -> HostRule:
        """Make the rule of a server that only this machine can reach."""
        return cls(frozenset(LOOPBACK_HOSTS))

    @classmethod
    def for_server(cls, host: str, more: Iterable[str] = ()) -> HostRule:
        """Make the rule of a server that listens at a host and is said to have more names."""
        if host in LOOPBACK_HOSTS:
            return cls(frozenset((*LOOPBACK_HOSTS, *map(str.lower, more))))
        own = (host, socket.gethostname(), socket.getfqdn())
        return cls(frozenset(map(str.lower, (*LOOPBACK_HOSTS, *own, *more))), addresses=True)

    def allows(self, host: str) -> bool:
        """Whether a Host header names this server; its port is that of a tunnel or proxy, if another."""
        name = (urlsplit(f"//{host}").hostname or "") if _is_host(host) else ""
        return name in self.names or (self.addresses and _is_address(name))


def _is_host(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").netloc == host and "@" not in host
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How many requests a caller may make: at once, and in each second after that."""

    burst: int = 400
    per_second: float = 100.0


@dataclass(frozen=True, slots=True)
class GuardRules:
    """What a request must show to be let in. ``None``: nothing is asked."""

    tokens: TokenBook | None
    hosts: HostRule | None
    sessions: BrowserSessions | None = None
    open_paths: frozenset[str] = frozenset()  # for everybody, without a token
    sign_in_path: str = ""  # where a browser without a token is sent
    rate: RateLimit | None = None
    local_origins: bool = False  # pages of other ports of this machine may ask
    anonymous: Caller = field(default_factory=lambda: Caller("anonymous"))  # a caller without a token


class RequestGuard:
    """Middleware that lets in only requests that keep to the rules."""

    def __init__(self, inner: ASGIApp, rules: GuardRules) -> None:
        self._inner = inner
        self._rules = rules
        self._rates: LruCache[str, _Bucket] = LruCache(MAX_RATE_KEYS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {key.lower() for key, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *((k, v) for k, v in _RAW_HEADERS if k not in known),
                ]
            await send(message)

        refusal = self._check(scope)
        if refusal is not None:
            refusal.headers["Connection"] = "close"  # the body is not read
            await refusal(scope, receive, send_with_headers)
        else:
            await self._inner(scope, receive, send_with_headers)

    def _check(self, scope: Scope) -> Response | None:
        """Return why a request is refused; None if it is let in, with its caller in the scope."""
        rules = self._rules
        host = get_header(scope, "host")
        if rules.hosts is not None and not rules.hosts.allows(host):
            return make_problem(
                421, "the Host of this request is none of this server's names (see --allow-host)"
            )
        if not self._comes_from_here(scope, host):
            return make_problem(403, "pages of other sites cannot ask this server")
        caller = self._find_caller(scope)
        scope[CALLER_KEY] = caller or replace(rules.anonymous, permissions=frozenset())
        if rules.rate is not None and not self._spend(scope, caller, rules.rate):
            return make_problem(429, "too many requests: try again in a second", headers={"Retry-After": "1"})
        if caller is None and scope["path"] not in rules.open_paths:
            return self._ask_for_token(scope)
        return None

    def _comes_from_here(self, scope: Scope, host: str) -> bool:
        """Whether a request comes from no page, from a page of this server, or is a link that somebody followed."""
        origin, site = get_header(scope, "origin"), get_header(scope, "sec-fetch-site")
        if origin and origin.partition("://")[2].lower() != host.lower():
            name = urlsplit(origin).hostname if _is_host(origin.partition("://")[2]) else ""
            if not (self._rules.local_origins and name in LOOPBACK_HOSTS):
                return False
        if site in ("", "same-origin", "none") or self._rules.local_origins:
            return True
        is_link = scope["method"] in SAFE_METHODS and get_header(scope, "sec-fetch-mode") == "navigate"
        return is_link and get_header(scope, "sec-fetch-dest") == "document"

    def _find_caller(self, scope: Scope) -> Caller | None:
        rules = self._rules
        if rules.tokens is None:
            return rules.anonymous
        scheme, _, secret = get_header(scope, "authorization").partition(" ")
        if scheme:
            token = rules.tokens.find(secret.strip()) if scheme.lower() == "bearer" else None
        elif rules.sessions is not None:
            token = rules.sessions.read_cookie(_read_cookie(scope))
        else:
            token = None
        return token.caller if token else None

    def _spend(self, scope: Scope, caller: Caller | None, rate: RateLimit) -> bool:
        """Count a request; whether its caller may make it."""
        address = (scope.get("client") or ("",))[0]
        key = f"{caller.name}@{address}" if caller else address
        bucket = self._rates.get(key)
        if bucket is None:
            self._rates.put(key, bucket := _Bucket(rate.burst))
        return bucket.spend(rate)

    def _ask_for_token(self, scope: Scope) -> Response:
        rules = self._rules
        if rules.sign_in_path and "text/html" in get_header(scope, "accept") and scope["method"] == "GET":
            query = scope["query_string"].decode("latin-1")
            wanted = quote(scope["path"] + (f"?{query}" if query else ""), safe="")
            return RedirectResponse(f"{rules.sign_in_path}?next={wanted}", 303)
        return make_problem(
            401, "a token is needed: Authorization: Bearer TOKEN", headers={"WWW-Authenticate": "Bearer"}
        )


class _Bucket:
    """The requests that a caller may make now (a token bucket)."""

    __slots__ = ("left", "seen")

    def __init__(self, burst: int) -> None:
        self.left = float(burst)
        self.seen = time.monotonic()

    def spend(self, rate: RateLimit) -> bool:
        """Take one; False if there is none."""
        now = time.monotonic()
        self.left = min(rate.burst, self.left + (now - self.seen) * rate.per_second)
        self.seen = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


def _read_cookie(scope: Scope) -> str:
    """Return the value of this server's cookie."""
    try:
        jar = SimpleCookie(get_header(scope, "cookie"))
    except CookieError:
        return ""
    found = jar.get(BrowserSessions.cookie_name(server_port(scope)))
    return found.value if found else ""


def server_port(scope: Scope) -> int:
    """Return the port that a request came to."""
    return int((scope.get("server") or ("", 0))[1] or 0)


def get_header(scope: Mapping[str, object], name: str) -> str:
    """Return a header of a request, empty if it has none."""
    wanted = name.encode()
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]  # type: ignore[assignment]
    return next((value.decode("latin-1") for key, value in headers if key == wanted), "")


_RAW_HEADERS = [(key.lower().encode(), value.encode()) for key, value in SECURITY_HEADERS.items()]
