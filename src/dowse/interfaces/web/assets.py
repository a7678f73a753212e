"""Style sheet, script and icon of the page: read once, and served under an address that changes with the content."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dowse.interfaces.http.problems import HttpProblem
from dowse.interfaces.reports.html_report import FOLDER as REPORT_FOLDER

FOLDER = Path(__file__).parent / "static"

ASSETS = {
    "style.css": "text/css; charset=utf-8",
    "report.css": "text/css; charset=utf-8",
    **dict.fromkeys(
        ("page.js", "hits.js", "file.js", "graph.js", "index.js"), "text/javascript; charset=utf-8"
    ),
    "favicon.svg": "image/svg+xml",
}

ASSETS_PATH = "/assets"


@cache
def read_asset(name: str) -> bytes:
    """Read an asset. The style of evaluation reports is that of their own page, for a part of ours."""
    if name == "report.css":
        return b".report {\n" + (REPORT_FOLDER / "page.css").read_bytes() + b"}\n"
    return (FOLDER / name).read_bytes()


@cache
def asset_url(name: str) -> str:
    """Return the address of an asset, with a hash of its content."""
    return f"{ASSETS_PATH}/{name}?v={hashlib.sha256(read_asset(name)).hexdigest()[:8]}"


def list_asset_paths() -> frozenset[str]:
    """List the paths of all assets."""
    return frozenset(f"{ASSETS_PATH}/{name}" for name in ASSETS)


def asset_routes() -> list[BaseRoute]:
    """List the routes of the assets."""
    return [Route(ASSETS_PATH + "/{name}", _send_asset)]


async def _send_asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        raise HttpProblem(404, "there is no such file here")
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(read_asset(name), headers=headers, media_type=ASSETS[name])
