"""``dowse mcp``: start the MCP server for coding agents, over stdio or HTTP."""

from __future__ import annotations

from typing import Any

import click

from dowse import settings
from dowse.errors import UsageError
from dowse.interfaces.cli import options
from dowse.interfaces.mcp import stdio
from dowse.interfaces.mcp.service import ServerOptions, Service
from dowse.interfaces.mcp.tools import DEFAULT_BUDGET_TOKENS, MAX_BUDGET_TOKENS
from dowse.interfaces.workspace import ServerScope

TOKEN_VARIABLE = "DOWSE_MCP_TOKEN"
DEFAULT_PORT = 7333


@click.command()
@click.argument("roots", nargs=-1, metavar="[DIR]...")
@click.option("--http", is_flag=True, help="Listen for HTTP instead of serving standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="With --http: port; 0: any free one.",
)
@click.option("--no-token", is_flag=True, help="With --http: let in anybody who can reach the port.")
@click.option("--read-only", is_flag=True, help="Search the index as it is; never write it.")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Size of an answer (default: 2000)."
)
@click.option("--no-memory", is_flag=True, help="Send code again that was sent before in the session.")
@options.profile
@options.root
@options.index_dir
@options.store
@options.embedder
@options.allow_home
@options.debug
def mcp(
    roots: tuple[str, ...],
    root: str | None,
    http: bool,
    host: str,
    port: int,
    no_token: bool,
    read_only: bool,
    budget: int | None,
    no_memory: bool,
    profile: str | None,
    allow_home: bool,
    **given: Any,
) -> int:
    """Serve coding agents over the Model Context Protocol.

    Agents start this command themselves, after 'dowse agent install'. It searches the folders that the agent works on,
    else DIR, else the project around the working directory. With --http, only DIR (or the project here) can be
    searched, and clients need a token: DOWSE_MCP_TOKEN, or one that is made and printed.
    """
    if budget is not None and budget > MAX_BUDGET_TOKENS:
        raise UsageError(f"a budget may have {MAX_BUDGET_TOKENS} tokens at the most, not {budget}")
    given["profile"] = profile
    allowed = ServerScope(
        (*roots, *([root] if root else ())),
        trust_client=not http,
        read_only=read_only,
        allow_home=allow_home,
        given=given,
    )
    service = Service(
        allowed,
        ServerOptions(
            budget=budget or DEFAULT_BUDGET_TOKENS, memory=not no_memory, profile=profile or "dowse"
        ),
    )
    if http:
        _serve_http(service, host, port, no_token=no_token)
    else:
        stdio.serve(service)
    return 0


def _serve_http(service: Service, host: str, port: int, *, no_token: bool) -> None:
    import secrets

    from dowse.interfaces.cli import output

    try:
        from dowse.interfaces.http.access import LOOPBACK_HOSTS
        from dowse.interfaces.mcp.http_server import serve
    except ImportError as error:
        raise UsageError(f"HTTP needs the MCP SDK: pip install 'dowse[mcp]' ({error})") from error
    token = "" if no_token else settings.read_variable(TOKEN_VARIABLE) or secrets.token_urlsafe(24)
    made = token if token and not settings.read_variable(TOKEN_VARIABLE) else ""

    def ready(address: str) -> None:
        output.remark(f"listening on {address}")
        if made:
            output.remark(f"token: {made} (set {TOKEN_VARIABLE} to choose it)")
        if not token and host not in LOOPBACK_HOSTS:
            output.remark("anybody who can reach this address can read the code that is indexed")

    serve(service, host, port, token, ready=ready)
