"""Browser sign-in: a signed cookie that stands for a token, so that a page need not keep the token itself.

The cookie ends with its token, with the server, and after some days. It is of no use to scripts (HttpOnly), and other
sites cannot have it sent along with requests that change something (SameSite).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time

from dowse.interfaces.http.access import Token, TokenBook

SESSION_SECONDS = 14 * 24 * 3600


class BrowserSessions:
    """Makes and reads the cookies of one server."""

    def __init__(self, tokens: TokenBook, *, secure: bool = False) -> None:
        self._tokens = tokens
        self._key = secrets.token_bytes(32)
        self._secure = secure

    @staticmethod
    def cookie_name(port: int) -> str:
        """Return the name of the cookie: browsers do not tell the ports of a host apart."""
        return f"dowse-{port}"

    def make_cookie(self, token: Token, port: int) -> str:
        """Make the Set-Cookie header of a browser that has shown a token."""
        until = int(time.time()) + SESSION_SECONDS
        secure = "; Secure" if self._secure else ""
        return (
            f"{self.cookie_name(port)}={until}.{self._sign(token, until)}; Path=/; Max-Age={SESSION_SECONDS}; "
            f"HttpOnly; SameSite=Lax{secure}"
        )

    def read_cookie(self, value: str) -> Token | None:
        """Return the token that a cookie stands for, if both are still valid."""
        until, _, signature = value.partition(".")
        if not (until.isascii() and until.isdigit() and len(until) < 12) or int(until) < time.time():
            return None
        found = None
        for token in self._tokens:
            if hmac.compare_digest(
                self._sign(token, int(until)).encode(), signature.encode("utf-8", "replace")
            ):
                found = token
        return found

    def _sign(self, token: Token, until: int) -> str:
        message = b"%d:%s:%s" % (until, token.digest, token.caller.name.encode())
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()
