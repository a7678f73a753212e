"""Index storage backends: create the store that a setting names (embedded files, memory, PostgreSQL).

Adding one is one file and one row.
"""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

from dowse.errors import SettingsError, UsageError
from dowse.frozen import frozen
from dowse.index_folder import IndexFolder
from dowse.stores.protocol import SharedStore, Store

NAMES = ("embedded", "memory", "postgresql")
"""Every kind of store. The last is named by its address: ``postgresql://host/database``."""

SERVER_SCHEMES = ("postgresql://", "postgres://")


@frozen
class SharedIndexOptions:
    """Names of a tree in a store that many share (repository, view, schema), and the timeout of its statements."""

    repository: str
    view: str
    schema: str = "dowse"
    timeout: float = 30.0  # seconds a statement may take


def is_server(name: str) -> bool:
    """Whether a store is on a server, which its name is the address of."""
    return name.startswith(SERVER_SCHEMES)


def is_local_server(url: str) -> bool:
    """Whether the address of a server leads to this machine: by socket, or by the loopback."""
    try:
        parts = urlsplit(url)
        hosts = parse_qs(parts.query).get("host") or [parts.hostname or ""]
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
    if is_server(name):
        return _create_postgres(name, shared or SharedIndexOptions(root, root), fingerprint)
    raise SettingsError(f"unknown store '{name.partition('://')[0]}': known are {', '.join(NAMES)}://...")


def require_shared_store(store: Store) -> SharedStore:
    """Return a store that many share; raise an error if this one is not."""
    if not hasattr(store, "server_status"):
        raise UsageError(
            "this index is not on a server: give --store postgresql://HOST/DATABASE, or set DOWSE_STORE"
        )
    return store  # type: ignore[return-value]


def _create_postgres(url: str, shared: SharedIndexOptions, fingerprint: str) -> Store:
    try:
        from dowse.stores.postgres import PostgresStore, Server
    except ImportError as error:
        raise SettingsError(
            f"a store on PostgreSQL needs more packages ({error}): run 'pip install dowse[postgres]'"
        ) from error
    server = Server(url, shared.schema, shared.timeout)
    return PostgresStore(server, shared.repository, shared.view, fingerprint)
