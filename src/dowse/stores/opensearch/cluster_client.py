"""Requests to an OpenSearch cluster: one policy for time-outs, retries and back-off, and its errors mapped to ours.

Every request that is sent here can be repeated: documents have ids of their own, and updates say what must be there. A
node that is lost is left to the next one; a cluster that is busy gets time. An answer of which a part is missing is an
error, never a shorter answer. No message has a password in it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from opensearchpy import OpenSearch, helpers
from opensearchpy import exceptions as problems
from opensearchpy.helpers import errors as bulk_problems

from dowse.errors import (
    DowseError,
    IndexMissing,
    IndexProblem,
    IndexUnreachable,
    IndexUnwritable,
    SettingsError,
)
from dowse.settings import mask_passwords
from dowse.stores.opensearch.cluster_address import ClusterAddress

T = TypeVar("T")

logging.getLogger("opensearch").addHandler(logging.NullHandler())  # what matters of it is raised as an error

ATTEMPTS = 8
FIRST_PAUSE_SECONDS = 0.2
MAX_PAUSE_SECONDS = 5.0
"""How often a cluster that is busy or lost a node is asked again, with twice the pause each time: 16 seconds in all."""

FIRST_BULK_PAUSE_SECONDS, MAX_BULK_PAUSE_SECONDS = 1, 8
"""Pauses before documents that a full queue rejected are sent again."""

BUSY_STATUSES = (429, 502, 503, 504)
"""Answers that pass by themselves: too many requests, a node or shard that is away just now."""

WRITE_TIMEOUT_FACTOR = 4
"""A request that writes may take this many times as long as one that reads."""

BULK_DOCUMENTS, BULK_BYTES = 500, 8_000_000
"""Documents and bytes of a bulk request."""

DISK_BLOCKS = ("read_only_allow_delete", "disk usage exceeded", "FORBIDDEN/12")
"""How a cluster says that its disks are full."""


@dataclass(frozen=True)
class ClusterDescription:
    """The state of a cluster, as far as an index depends on it."""

    version: str
    size_bytes: int
    notes: tuple[str, ...]


class ClusterClient:
    """The connection of one process to a cluster. Safe to use from several threads."""

    def __init__(self, address: ClusterAddress) -> None:
        self.address = address
        self._client: OpenSearch | None = None

    def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    @property
    def _opened(self) -> OpenSearch:
        if self._client is None:
            address = self.address
            try:
                self._client = OpenSearch(
                    hosts=[{"host": host, "port": port} for host, port in address.hosts],
                    use_ssl=address.is_encrypted,
                    verify_certs=address.is_encrypted,
                    ca_certs=address.ca_file or None,
                    http_auth=(address.user, address.password) if address.user else None,
                    timeout=address.timeout,
                    max_retries=len(address.hosts),  # the other nodes, at once
                    retry_on_status=(),
                    http_compress=True,
                )
            except (problems.ImproperlyConfigured, OSError, ValueError) as error:
                raise SettingsError(f"{address.display_url}: {self._mask(error)}") from None
        return self._client

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        ignore: Sequence[int] = (),
    ) -> Any:
        """Send a request and return its answer; None for a status that is to be ignored."""

        def work() -> Any:
            try:
                return self._opened.transport.perform_request(
                    method, path, params=dict(parameters or {}), body=body
                )
            except problems.TransportError as error:
                if error.status_code in ignore:
                    return None
                raise

        answer = self._retry(work)
        return None if answer is False else answer

    def search(self, index: str, body: Mapping[str, Any], routing: str | None = None) -> dict[str, Any]:
        """Search an index; raise an error if a shard did not answer, or not in time."""
        parameters = {"allow_partial_search_results": "false"} | ({"routing": routing} if routing else {})
        answer: dict[str, Any] = self.send("POST", f"/{index}/_search", body, parameters=parameters)
        shards = answer["_shards"]
        if answer.get("timed_out") or shards["failed"]:
            raise IndexUnreachable(
                f"{self.address.display_url}: {shards['failed']} of {shards['total']} shards did not answer: "
                "try again, or look at the state of the cluster"
            )
        return answer

    def refresh(self, *indexes: str) -> None:
        """Make all that was written visible to searches."""
        answer = self.send("POST", f"/{','.join(indexes)}/_refresh")
        if answer["_shards"]["failed"]:
            raise IndexUnreachable(
                f"{self.address.display_url}: some shards could not be refreshed: try again"
            )

    def write(self, actions: Iterable[Mapping[str, Any]], *, ignore: Sequence[int] = ()) -> int:
        """Send documents in bulk, what was rejected again after a pause; return how many were written."""
        documents = list(actions)

        def work() -> tuple[int, list[dict[str, Any]]]:
            written, refused = 0, []
            for is_done, item in helpers.streaming_bulk(
                self._opened,
                documents,
                chunk_size=BULK_DOCUMENTS,
                max_chunk_bytes=BULK_BYTES,
                raise_on_error=False,
                max_retries=ATTEMPTS,
                initial_backoff=FIRST_BULK_PAUSE_SECONDS,
                max_backoff=MAX_BULK_PAUSE_SECONDS,
                request_timeout=self.address.timeout * WRITE_TIMEOUT_FACTOR,
            ):
                (result,) = item.values()
                if is_done:
                    written += 1
                elif result.get("status") not in ignore:
                    refused.append(result)
            return written, refused

        written, refused = self._retry(work)
        if refused:
            first = refused[0]
            reason = first.get("error")
            text = reason.get("reason", reason) if isinstance(reason, dict) else reason
            raise self._refusal(int(first.get("status", 0)), f"{len(refused)} documents refused: {text}")
        return written

    def read_cluster_id(self) -> str:
        """Read the id that a cluster has for good."""
        return str(self.send("GET", "/")["cluster_uuid"])

    def create_index(self, name: str, body: Mapping[str, Any]) -> None:
        """Create an index, unless another process has just done so."""
        try:
            self.send("PUT", f"/{name}", body)
        except IndexProblem as error:
            if "resource_already_exists" not in str(error):
                raise

    def describe(self) -> ClusterDescription:
        """Describe the cluster: its version, the size of our indexes, and what is not as it should be."""
        pattern = f"{self.address.prefix}-*"
        version = self.send("GET", "/")["version"]
        health = self.send("GET", f"/_cluster/health/{pattern}")
        sizes = self.send("GET", f"/{pattern}/_stats/store")
        notes = []
        if health["status"] == "red":
            notes.append("the cluster is red: a part of the index has no node, and searches fail")
        elif health["status"] == "yellow":
            notes.append(
                "the cluster is yellow: some replicas have no node, and a lost node may take searches along"
            )
        return ClusterDescription(
            str(version["number"]),
            int(sizes["_all"]["total"].get("store", {}).get("size_in_bytes", 0)),
            tuple(notes),
        )

    def _retry(self, work: Callable[[], T]) -> T:
        """Run a request; again after a pause if the cluster is busy, or a node went away."""
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(ATTEMPTS):
            try:
                return work()
            except (problems.OpenSearchException, bulk_problems.BulkIndexError) as error:
                if attempt == ATTEMPTS - 1 or not _may_pass(error):
                    raise self.translate(error) from error
            time.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)
        raise AssertionError  # the last attempt returns or raises

    # --- errors ---

    def translate(self, error: Exception) -> DowseError:
        """Translate an error of the client to one of ours."""
        shown, text = self.address.display_url, self._mask(error)
        if isinstance(error, problems.SSLError):
            return IndexUnreachable(
                f"{shown}: no trusted connection ({text}): give the certificate of its authority with '?ca=FILE' "
                "in the address, or correct the host"
            )
        if isinstance(error, problems.ConnectionTimeout):
            return IndexUnreachable(
                f"{shown} took longer than store_timeout allows ({text}): try again, raise store_timeout, or look "
                "at what else the cluster does"
            )
        if isinstance(error, problems.ConnectionError):
            return IndexUnreachable(f"{shown} cannot be reached ({text}): is it up, and the address right?")
        if isinstance(error, problems.TransportError):
            return self._refusal(error.status_code if isinstance(error.status_code, int) else 0, text)
        return IndexProblem(f"{shown}: {text}")

    def _refusal(self, status: int, text: str) -> DowseError:
        shown = self.address.display_url
        if any(word in text for word in DISK_BLOCKS):
            return IndexUnwritable(f"{shown} is full ({text}): give it more space, or run 'dowse store gc'")
        if status == 401:
            return IndexUnreachable(
                f"{shown} refuses the login ({text}): set DOWSE_STORE_USER and DOWSE_STORE_PASSWORD, "
                "or DOWSE_STORE_PASSWORD_FILE"
            )
        if status == 403:
            return IndexUnwritable(
                f"this user lacks a right at {shown} ({text}): see docs/cluster.md for the role"
            )
        if status == 404:
            return IndexMissing(
                f"{shown} has no indexes with the prefix '{self.address.prefix}': run 'dowse store init'"
            )
        if "circuit_breaking" in text:
            return IndexUnreachable(
                f"{shown} is out of memory ({text}): try again, or give its nodes more heap"
            )
        if status == 429:
            return IndexUnreachable(f"{shown} has too much to do ({text}): try again later, or add nodes")
        if status in BUSY_STATUSES:
            return IndexUnreachable(
                f"{shown}: a part of the index has no node just now ({text}): try again, or look at the state "
                "of the cluster"
            )
        return IndexProblem(f"{shown}: {text}")

    def _mask(self, error: object) -> str:
        """Put a message on one line, without what is secret."""
        text = " ".join(mask_passwords(str(error)).split())
        return text.replace(self.address.password, "***") if self.address.password else text


def _may_pass(error: Exception) -> bool:
    """Whether it may help to send a request again."""
    if isinstance(error, problems.SSLError | problems.ConnectionTimeout):
        return False
    if isinstance(error, problems.ConnectionError):
        return True
    return isinstance(error, problems.TransportError) and error.status_code in BUSY_STATUSES
