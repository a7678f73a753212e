"""API tokens: who may do what with which repositories; named, with scopes, compared in constant time, revocable.

A token file is TOML, a table for each token; it is read again when it changes, so that removing a table revokes it:

    [ci]
    token = "at least sixteen characters"     # or sha256 = "its SHA-256 in hexadecimal"
    scopes = ["read", "index"]                # default: read
    repositories = ["backend"]                # default: all that are served
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import threading
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from dowse.errors import SettingsError

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")

MIN_TOKEN_CHARS = 16
"""Shorter tokens could be guessed."""

MAX_FILE_BYTES = 1_000_000

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_OPEN_TO_OTHERS = 0o077


class Permission(StrEnum):
    """What a token lets its holder do."""

    READ = "read"
    INDEX = "index"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request: a name for the audit log, what it may do, and on which repositories (None: all)."""

    name: str
    permissions: frozenset[Permission] = frozenset(Permission)
    repositories: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A token by its digest, and whom it stands for."""

    digest: bytes
    caller: Caller


def make_token(name: str, secret: str, permissions: Iterable[Permission] = Permission) -> Token:
    """Make the token of a secret."""
    return Token(_digest(secret.encode()), Caller(name, frozenset(permissions)))


def _digest(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()


class TokenBook:
    """The tokens that are valid now: those given at the start, and those of a file as it is."""

    def __init__(self, tokens: Iterable[Token] = (), file: Path | None = None) -> None:
        self._given = tuple(tokens)
        self._file = file
        self._lock = threading.Lock()
        self._stamp: tuple[int, ...] = ()
        self._filed: tuple[Token, ...] = ()
        if file is not None:
            self._filed = read_token_file(file)
            self._stamp = _read_stamp(file)

    def __iter__(self) -> Iterator[Token]:
        yield from (*self._given, *self._read_again())

    def find(self, secret: str) -> Token | None:
        """Find the token of a secret; every token is compared, so that the time says nothing."""
        digest = _digest(secret.encode("utf-8", "surrogateescape"))
        found = None
        for token in self:
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found

    def _read_again(self) -> tuple[Token, ...]:
        """Return the tokens of the file, read again if it has changed; none while it cannot be read."""
        if self._file is None:
            return ()
        stamp = _read_stamp(self._file)
        with self._lock:
            if stamp != self._stamp:
                try:
                    self._filed = read_token_file(self._file)
                except SettingsError:
                    self._filed = ()
                self._stamp = stamp
            return self._filed


def _read_stamp(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def read_token_file(file: Path) -> tuple[Token, ...]:
    """Read a token file, which nobody but its owner may read."""
    try:
        with open(file, "rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            text = stream.read(MAX_FILE_BYTES).decode()
        tables = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise SettingsError(f"the tokens in {file} cannot be read: {error}") from error
    if os.name == "posix" and mode & _OPEN_TO_OTHERS:
        raise SettingsError(
            f"others can read the tokens in {file}: 'chmod 600 {file}' makes them yours alone"
        )
    return tuple(_parse_token(file, name, table) for name, table in tables.items())


def _parse_token(file: Path, name: str, table: Any) -> Token:
    if not isinstance(table, Mapping):
        raise SettingsError(f"{name} in {file} must be a table: [{name}]")
    if unknown := table.keys() - {"token", "sha256", "scopes", "repositories"}:
        raise SettingsError(f"unknown key '{min(unknown)}' of [{name}] in {file}: known are token, sha256, "
                            "scopes and repositories")  # fmt: skip
    names = {key: table.get(key) for key in ("scopes", "repositories")}
    for key, value in names.items():
        if value is not None and not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            raise SettingsError(f"{key} of [{name}] in {file} must be a list of strings")
    try:
        scopes = frozenset(map(Permission, names["scopes"] or [Permission.READ]))
    except ValueError:
        raise SettingsError(f"scopes of [{name}] in {file} may be: {', '.join(Permission)}") from None
    repositories = None if names["repositories"] is None else frozenset(names["repositories"])
    return Token(_parse_secret(file, name, table), Caller(name, scopes, repositories))


def _parse_secret(file: Path, name: str, table: Mapping[str, Any]) -> bytes:
    """Return the digest that a table gives, or that of the token it gives."""
    secret, digest = table.get("token"), table.get("sha256")
    if isinstance(digest, str) and secret is None and _SHA256.fullmatch(digest):
        return bytes.fromhex(digest)
    if not isinstance(secret, str) or digest is not None:
        raise SettingsError(f"[{name}] in {file} needs either token or sha256 (64 hexadecimal digits)")
    return _digest(require_long(secret, f"the token of [{name}] in {file}").encode())


def require_long(secret: str, what: str) -> str:
    """Return a secret, if it is too long to be guessed."""
    if len(secret) < MIN_TOKEN_CHARS:
        raise SettingsError(f"{what} is too short: give it at least {MIN_TOKEN_CHARS} characters")
    return secret
