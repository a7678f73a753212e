"""Store on an OpenSearch cluster: channels in the cluster, the catalogue in a PostgreSQL database without extensions.

``cluster_address.py`` parses the address, ``cluster_client.py`` sends requests and maps errors. ``index_mapping.py``
has the fields, ``documents.py`` makes what is written, ``query_filter.py`` the clauses of queries;
``cluster_channels.py`` writes and ``cluster_search.py`` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dowse.errors import IndexForeign
from dowse.stores.composed import ComposedStore
from dowse.stores.opensearch import index_mapping
from dowse.stores.opensearch.cluster_address import ClusterAddress, parse_address
from dowse.stores.opensearch.cluster_channels import ClusterChannels
from dowse.stores.opensearch.cluster_client import ClusterClient
from dowse.stores.postgres import PostgresCatalogue
from dowse.types.stored import Collected, IndexStatus, ServerStatus

__all__ = ["ClusterAddress", "ClusterClient", "ClusterStore", "parse_address"]


class ClusterStore(ComposedStore):
    """The index of one view, searched in a cluster. Safe to use from several threads and processes."""

    def __init__(self, address: ClusterAddress, catalogue: PostgresCatalogue) -> None:
        self.client = ClusterClient(address)
        self._files = catalogue
        self._rows = ClusterChannels(self.client, catalogue.read_id)
        super().__init__(catalogue, self._rows)

    @property
    def location(self) -> str:
        """Where the index is, for people."""
        return f"{self.client.address.display_url}, catalogue {self._files.location}"

    def status(self) -> IndexStatus:
        """Describe the index."""
        return replace(self._files.status(), location=self.location)

    def init(self, grant_read: Sequence[str] = (), *, rebuild: bool = False) -> None:
        """Create what is missing in both, and let roles read the catalogue."""
        self._files.init(grant_read, rebuild=rebuild)
        here = f"{self.client.read_cluster_id()}/{self.client.address.prefix}"
        if self._files.bind_channels(here) != here:
            raise IndexForeign(
                f"the catalogue at {self._files.server.display_url}, schema '{self._files.server.schema}', belongs to "
                "another cluster or prefix: choose another database or store_schema, or start again with "
                "'dowse store init --rebuild'"
            )
        index_mapping.create_indexes(self.client, self._files.read_id(), rebuild=rebuild)

    def server_status(self) -> ServerStatus:
        """Describe all that both have."""
        found, cluster = self._files.server_status(), self.client.describe()
        self._rows.check()
        return replace(
            found,
            location=self.client.address.display_url,
            product="OpenSearch",
            version=f"{cluster.version}, catalogue PostgreSQL {found.version}",
            extensions={},
            size_bytes=found.size_bytes + cluster.size_bytes,
            notes=(*cluster.notes, *found.notes),
        )

    def collect_garbage(self, forget: Sequence[str], older_than_days: float | None) -> Collected:
        """Delete what is named, what is old, and then what nobody uses."""
        gone = self._files.collect_garbage(forget, older_than_days)
        present = (
            self._rows.list_identities()
        )  # first: what is written from now on is of views that are known
        self._rows.delete_indexes(present - set(self._files.list_identities()))
        return gone
