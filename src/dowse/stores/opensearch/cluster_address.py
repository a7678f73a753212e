"""Address of an OpenSearch cluster: hosts, index prefix, TLS, shards, replicas, and the login, which is never shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from dowse.errors import SettingsError
from dowse.settings import mask_passwords, read_store_login

DEFAULT_PORT = 9200

DEFAULT_SHARDS = 3
"""A repository is in one shard; so many shards can be on as many nodes."""

_PREFIX = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")
"""What the name of an index may begin with."""

_OPTIONS = ("ca", "shards", "replicas")


@dataclass(frozen=True)
class ClusterAddress:
    """Where a cluster is, and how it is spoken to."""

    hosts: tuple[tuple[str, int], ...]
    prefix: str
    is_encrypted: bool
    display_url: str
    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: str = ""
    shards: int = DEFAULT_SHARDS
    replicas: int | None = None  # None: one, as soon as there is a second node
    timeout: float = 30.0


def parse_address(url: str, timeout: float) -> ClusterAddress:
    """Parse ``opensearch+https://host:9200,other:9200/prefix?ca=FILE&shards=3&replicas=1``."""
    shown = mask_passwords(url)
    try:
        parts = urlsplit(url)
        options = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    except ValueError as error:
        raise SettingsError(f"{shown} is no address ({error})") from None
    if unknown := sorted(options.keys() - set(_OPTIONS)):
        raise SettingsError(f"{shown}: unknown option '{unknown[0]}': known are {', '.join(_OPTIONS)}")
    prefix = parts.path.strip("/")
    if not _PREFIX.fullmatch(prefix):
        raise SettingsError(
            f"{shown}: give the address as opensearch+https://HOST:PORT/PREFIX, with a prefix for the names "
            "of indexes in lower-case letters, digits, '-', '_' and '.'"
        )
    login, _, places = parts.netloc.rpartition("@")
    hosts = tuple(_parse_host(place, shown) for place in places.split(","))
    is_encrypted = parts.scheme.endswith("https")
    if not is_encrypted and not all(_is_loopback(host) for host, _ in hosts):
        raise SettingsError(f"{shown} is not encrypted: only a cluster on this machine can do without https")
    user, _, password = login.partition(":")
    from_environment = read_store_login()
    return ClusterAddress(
        hosts=hosts,
        prefix=prefix,
        is_encrypted=is_encrypted,
        display_url=shown,
        user=unquote(user) or from_environment[0],
        password=unquote(password) or from_environment[1],
        ca_file=options.get("ca", ""),
        shards=_parse_count(options, "shards", DEFAULT_SHARDS, shown),
        replicas=_parse_count(options, "replicas", 0, shown) if "replicas" in options else None,
        timeout=timeout,
    )


def _parse_host(place: str, shown: str) -> tuple[str, int]:
    match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(?::(\d{1,5}))?", place)
    if match is None:
        raise SettingsError(f"{shown}: '{place}' is no host: give HOST or HOST:PORT")
    return match[1].strip("[]"), int(match[2] or DEFAULT_PORT)


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def _parse_count(options: dict[str, str], name: str, default: int, shown: str) -> int:
    text = options.get(name, str(default))
    if not re.fullmatch(r"\d{1,4}", text) or (name == "shards" and int(text) < 1):
        raise SettingsError(f"{shown}: {name} must be a number, not '{text}'")
    return int(text)
