"""``dowse serve``: the web page and the HTTP API, for this machine or for a team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import click

from dowse import settings
from dowse.errors import UsageError
from dowse.interfaces.cli import options, output

TOKEN_VARIABLE = "DOWSE_SERVE_TOKEN"
DEFAULT_PORT = 7334


@click.command()
@click.argument("roots", nargs=-1, metavar="[DIR]...")
@click.option(
    "--repo",
    "repos",
    multiple=True,
    metavar="NAME|DIR",
    help="Serve this repository, named in the settings or by its folder (repeatable).",
)
@options.listen(DEFAULT_PORT)
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
@click.option("--query", default="", metavar="QUERY", help="Open the browser at this query.")
@click.option(
    "--tokens", metavar="FILE", help="Named tokens with scopes and repositories (TOML, see docs/web.md)."
)
@click.option("--no-token", is_flag=True, help="Let in everybody who can reach it.")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="A name it goes by (repeatable).")
@click.option(
    "--allow-index", is_flag=True, help="Let those who may index a repository from the page or the API."
)
@options.read_only
@click.option("--certificate", metavar="FILE", help="Speak TLS with this certificate (PEM).")
@click.option(
    "--certificate-key", metavar="FILE", help="The key of the certificate, if it is in another file."
)
@click.option("--audit", metavar="FILE", help="Append a line of JSON for each request.")
@click.option("--evaluations", metavar="DIR", help="Show the evaluations that were saved in this folder.")
@click.option(
    "--editor", default="", metavar="URL", help="What opens a place, as in 'vscode://file{path}:{line}'."
)
@click.option(
    "--no-rate-limit", "unlimited", is_flag=True, help="Answer however many requests a caller makes."
)
@click.option("--mcp", "with_mcp", is_flag=True, help="Serve the Model Context Protocol at /mcp too.")
@options.tree
@options.debug
def serve(roots: tuple[str, ...], root: str | None, **flags: Any) -> int:
    """Serve the web page and the HTTP API.

    DIR are the folders to search (default: the project around the working directory). It listens on this machine only
    and signs your browser in; everybody else needs a token: DOWSE_SERVE_TOKEN, or one of --tokens.
    """
    run_serve([*([root] if root else []), *roots], flags)
    return 0


def run_serve(folders: Sequence[str], flags: Mapping[str, Any]) -> None:
    """Serve folders until interrupted."""
    try:
        from dowse.interfaces.http.running_servers import search_path
        from dowse.interfaces.web.web_server import ServeOptions, WebServer
    except ImportError as error:
        raise UsageError(f"the page needs two more packages: pip install 'dowse[web]' ({error})") from error
    given = {name: flags[name] for name in ("index_dir", "store", "embedder")}
    names = (field.name for field in fields(ServeOptions) if field.name in flags)
    told: dict[str, Any] = {name: flags[name] for name in names if flags[name] is not None}
    token = settings.read_variable(TOKEN_VARIABLE)
    server = WebServer(ServeOptions(**told | {"folders": tuple(folders), "token": token, "given": given}))

    def ready(url: str) -> None:
        link = server.note(url).link(search_path(flags["query"]) if flags["query"] else "/")
        output.remark(f"listening on {url}")
        for note in server.notes:
            output.remark(note)
        if flags["no_open"]:
            output.remark(f"open {link}")
        else:
            open_browser(link)

    server.run(ready)


def find_page(root: str | None, query: str, *, allow_home: bool = False, sign_in: bool = True) -> str:
    """Find the address of a query on a server that runs for this tree; empty if there is none."""
    from dowse import roots
    from dowse.interfaces.http.running_servers import find_server, search_path

    server = find_server(roots.resolve_root(root, allow_home=allow_home))
    if server is None:
        return ""
    return server.link(search_path(query)) if sign_in else server.url + search_path(query)


def open_browser(link: str) -> None:
    """Open a page in the user's browser, or say where it is."""
    import webbrowser

    if not webbrowser.open(link):
        output.remark(f"open {link}")
