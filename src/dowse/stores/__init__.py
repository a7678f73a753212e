"""Index storage backends: create the store that a setting names (embedded files, memory, PostgreSQL, OpenSearch).

Adding one is one file and one row; one on a server has a row in the table of URL schemes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from dowse.errors import SettingsError, UsageError
from dowse.frozen import frozen
from dowse.index_folder import IndexFolder
from dowse.stores.protocol import SharedStore, Store

NAMES = ("embedded", "memory", "postgresql", "opensearch+https")
"""Every kind of store. The last two are named by addresses: ``postgresql://host/database``."""


@frozen
class SharedIndexOptions:
    """Names of a tree in a store that many share (repository, view, schema), and the timeout of its statements."""

    repository: str
    view: str
    schema: str = "dowse"
    timeout: float = 30.0  # seconds a statement may take
    catalogue: str = ""  # of a cluster: the address of the PostgreSQL database that has its catalogue


def is_server(name: str) -> bool:
    """Whether a store is on a server, which its name is the address of."""
    return find_scheme(name) is not None


def is_local_server(url: str) -> bool:
    """Whether the address of a server leads to this machine: by socket, or by the loopback."""
    try:
        parts = urlsplit(url)
        places = parts.netloc.rpartition("@")[2].split(",")  # several, each with a port of its own
        hosts = parse_qs(parts.query).get("host") or [
            re.sub(r":\d*$", "", place).strip("[]") for place in places
        ]
    except ValueError:
        return False
    names = [name for one in hosts for name in unquote(one).split(",")]
    other = any(key in parse_qs(parts.query) for key in ("hostaddr", "service"))
    return not other and all(
        name in ("", "localhost", "127.0.0.1", "::1") or name[0] in "/@" for name in names
    )


def create(
    name: str,
    place: IndexFolder | None,
    root: str,
    fingerprint: str,
    shared: SharedIndexOptions | None = None,
) -> Store:
    """Make the store of this name for a tree: ``place`` is for an embedded one, ``shared`` for one on a server."""
    if name == "embedded":
        from dowse.stores.embedded import EmbeddedStore

        assert place is not None
        return EmbeddedStore(place, root, fingerprint)
    if name == "memory":
        from dowse.stores.memory import MemoryStore

        return MemoryStore(fingerprint)
    if (scheme := find_scheme(name)) is not None:
        try:
            return scheme.create(name, shared or SharedIndexOptions(root, root), fingerprint)
        except ImportError as error:
            raise SettingsError(
                f"a store on {scheme.server} needs more packages ({error}): "
                f"run 'pip install dowse[{scheme.extra}]'"
            ) from error
    raise SettingsError(f"unknown store '{name.partition('://')[0]}': known are {', '.join(NAMES)}://...")


def require_shared_store(store: Store) -> SharedStore:
    """Return a store that many share; raise an error if this one is not."""
    if not hasattr(store, "server_status"):
        raise UsageError(
            "this index is not on a server: give --store with the address of one, or set DOWSE_STORE"
        )
    return store  # type: ignore[return-value]


def _create_postgres(url: str, shared: SharedIndexOptions, fingerprint: str) -> Store:
    from dowse.stores.postgres import PostgresStore, Server

    server = Server(url, shared.schema, shared.timeout)
    return PostgresStore(server, shared.repository, shared.view, fingerprint)


def _create_cluster(url: str, shared: SharedIndexOptions, fingerprint: str) -> Store:
    from dowse.stores.opensearch import ClusterStore, parse_address
    from dowse.stores.postgres import PostgresCatalogue, Server

    if not shared.catalogue:
        raise SettingsError(
            "a store on OpenSearch has its catalogue in PostgreSQL: set store_catalogue (DOWSE_STORE_CATALOGUE) to "
            "postgresql://HOST/DATABASE"
        )
    server = Server(shared.catalogue, shared.schema, shared.timeout)
    catalogue = PostgresCatalogue(server, shared.repository, shared.view, fingerprint)
    return ClusterStore(parse_address(url, shared.timeout), catalogue)


class UrlScheme(NamedTuple):
    """How the addresses of a kind of server begin, and what makes a store there."""

    schemes: tuple[str, ...]
    server: str  # for people
    extra: str  # the optional packages that it needs
    create: Callable[[str, SharedIndexOptions, str], Store]


URL_SCHEMES = (
    UrlScheme(("postgresql", "postgres"), "PostgreSQL", "postgres", _create_postgres),
    UrlScheme(("opensearch+https", "opensearch+http"), "OpenSearch", "cluster", _create_cluster),
)
"""Every kind of server."""


def find_scheme(name: str) -> UrlScheme | None:
    """Find the row of the address of a server; None for the name of a store that is on none."""
    scheme, colon, _ = name.partition("://")
    return next((row for row in URL_SCHEMES if colon and scheme in row.schemes), None)
