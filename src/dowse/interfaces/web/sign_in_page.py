"""Sign-in page: a browser shows a token once and gets a cookie for it."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dowse.interfaces.http.access import TokenBook
from dowse.interfaces.http.browser_sign_in import BrowserSessions
from dowse.interfaces.http.problems import HttpProblem
from dowse.interfaces.http.request_guard import server_port
from dowse.interfaces.http.running_servers import SIGN_IN_PATH
from dowse.interfaces.web.html_builder import element, join
from dowse.interfaces.web.page_frame import bare_page

MAX_FORM_BYTES = 10_000


class SignInPage:
    """The page, and what its form is sent to."""

    def __init__(self, tokens: TokenBook, sessions: BrowserSessions) -> None:
        self._tokens = tokens
        self._sessions = sessions

    def routes(self) -> list[BaseRoute]:
        """List the routes of the page."""
        return [
            Route(SIGN_IN_PATH, self._show),
            Route(SIGN_IN_PATH, self._sign_in, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        """Show the form; a link that the server printed has the key and is let in at once."""
        key, wanted = request.query_params.get("key", ""), request.query_params.get("next", "")
        if key and self._tokens.find(key):
            return self._let_in(request, key, wanted)
        return HTMLResponse(_render_form(wanted, "This link is of an earlier run." if key else ""))

    async def _sign_in(self, request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MAX_FORM_BYTES:
                raise HttpProblem(413, "this is no token")
        form = parse_qs(body.decode("utf-8", "replace"))
        key, wanted = ((form.get(name) or [""])[0] for name in ("token", "next"))
        if self._tokens.find(key.strip()) is None:
            return HTMLResponse(_render_form(wanted, "This token is not known here."), 401)
        return self._let_in(request, key.strip(), wanted)

    def _let_in(self, request: Request, key: str, wanted: str) -> Response:
        token = self._tokens.find(key)
        response = RedirectResponse(find_own_path(wanted), 303)
        if token is not None:
            response.headers["Set-Cookie"] = self._sessions.make_cookie(token, server_port(request.scope))
        return response


def find_own_path(path: str) -> str:
    """Return a path of this server to go on to; the start page instead of any address elsewhere."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_own else "/"


def _render_form(wanted: str, problem: str) -> str:
    inner = element(
        "form",
        element("h1", "Sign in"),
        element(
            "p",
            "This server asks for a token: open the link that ",
            element("code", "dowse serve"),
            " printed, or paste a token that you were given.",
        ),
        element("p", problem, class_="problem", role="alert") if problem else None,
        element("label", "Token", for_="token"),
        element(
            "input", id="token", name="token", type="password", required=True, autocomplete="current-password",
            autofocus=True,
        ),
        element("input", type="hidden", name="next", value=wanted),
        element("button", "Sign in", type="submit", class_="primary"),
        method="post",
        action=SIGN_IN_PATH,
        class_="sign-in",
    )  # fmt: skip
    return bare_page("Sign in", join(inner))
