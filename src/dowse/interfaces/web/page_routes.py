"""Routes of the web page: each runs in a thread, with the parameters of its address, and errors become pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from dowse.interfaces.call_context import Call
from dowse.interfaces.http.api_app import find_caller
from dowse.interfaces.http.index_builds import IndexBuilding
from dowse.interfaces.http.problems import TITLES
from dowse.interfaces.http.request_metrics import OPERATION_KEY
from dowse.interfaces.http.request_threads import RequestThreads
from dowse.interfaces.http.served import Served
from dowse.interfaces.web.api_page import api_page
from dowse.interfaces.web.assets import asset_routes
from dowse.interfaces.web.completions import completions_part
from dowse.interfaces.web.evaluation_page import evaluations_page
from dowse.interfaces.web.file_view import file_page, raw_text
from dowse.interfaces.web.folder_tree import tree_part
from dowse.interfaces.web.graph_page import graph_file, graph_page
from dowse.interfaces.web.index_page import index_page, skipped_page
from dowse.interfaces.web.page_frame import TITLE, PageRequest, building_page, message_page
from dowse.interfaces.web.preview import preview_part
from dowse.interfaces.web.search_page import related_page, search_page
from dowse.interfaces.web.symbol_panel import symbol_part

Render = Callable[[PageRequest], str]

PAGES: tuple[tuple[str, Render, str], ...] = (
    ("/", search_page, "text/html"),
    ("/preview", preview_part, "text/html"),
    ("/complete", completions_part, "text/html"),
    ("/related", related_page, "text/html"),
    ("/file/{rest:path}", file_page, "text/html"),
    ("/tree", tree_part, "text/html"),
    ("/symbol", symbol_part, "text/html"),
    ("/raw", raw_text, "text/plain"),
    ("/graph", graph_page, "text/html"),
    ("/graph.svg", partial(graph_file, layout="svg"), "image/svg+xml"),
    ("/graph.mmd", partial(graph_file, layout="mermaid"), "text/plain"),
    ("/index", index_page, "text/html"),
    ("/skipped", skipped_page, "text/html"),
    ("/evaluations", evaluations_page, "text/html"),
    ("/api", api_page, "text/html"),
)
"""Path, the function that makes the page, and what it makes."""

MAX_VALUE_CHARS = 20_000


class Pages:
    """The routes of the page."""

    def __init__(self, served: Served, threads: RequestThreads) -> None:
        self._served = served
        self._threads = threads

    def routes(self) -> list[BaseRoute]:
        """List all routes."""
        pages = [Route(path, self._endpoint(render, kind)) for path, render, kind in PAGES]
        return [*pages, Route("/opensearch.xml", describe_search), *asset_routes()]

    def _endpoint(self, render: Render, kind: str) -> Callable[[Request], object]:
        async def answer(request: Request) -> Response:
            request.scope[OPERATION_KEY] = "page"
            asked = self.read_request(request)

            def work(call: Call) -> bytes:
                return render(asked).encode("utf-8", "replace")

            body = await self._threads.run(request, work)
            headers = {"Cache-Control": "no-store"}
            if kind == "image/svg+xml":  # a style of its own, and nothing that could run
                headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
            return Response(body, headers=headers, media_type=f"{kind}; charset=utf-8")

        return answer

    def read_request(self, request: Request) -> PageRequest:
        """Read what a page is asked for."""
        values = {
            name: value[:MAX_VALUE_CHARS].replace("\0", "") for name, value in request.query_params.items()
        }
        path_values = {name: str(value) for name, value in request.path_params.items()}
        return PageRequest(self._served, find_caller(request), request.url.path, values | path_values)

    def show_error(self, request: Request, error: Exception, response: Response) -> Response:
        """Show a page instead of a problem to a browser that wants one."""
        is_api = request.url.path.startswith("/api/") or request.url.path == "/mcp"
        if is_api or "text/html" not in request.headers.get("accept", ""):
            return response
        status = response.status_code
        text = str(error) if status < 500 or status == 503 else "The log of the server says more."
        if isinstance(error, HTTPException):
            text = "There is no such page."
        asked = self.read_request(request)
        if isinstance(error, IndexBuilding):
            page = building_page(asked, error.how_far, error.percent)
        else:
            page = message_page(asked, TITLES.get(status, "Error"), text)
        headers = {"Cache-Control": "no-store"}
        if "retry-after" in response.headers:
            headers["Retry-After"] = response.headers["retry-after"]
        return HTMLResponse(page.encode("utf-8", "replace"), status, headers)


async def describe_search(request: Request) -> Response:
    """Describe the search for browsers, which can then offer it in their address bar (OpenSearch)."""
    base = escape(str(request.base_url))
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        f"<ShortName>{TITLE}</ShortName><Description>Search code</Description><InputEncoding>UTF-8</InputEncoding>"
        f'<Url type="text/html" template="{base}?q={{searchTerms}}"/></OpenSearchDescription>\n'
    )
    return Response(text, media_type="application/opensearchdescription+xml")
