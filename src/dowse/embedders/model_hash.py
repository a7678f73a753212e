"""Model fingerprint: a hash of the weight files, so that changed weights invalidate the vectors made with them.

Hashing half a gigabyte takes a second, so the hash of a large file is cached in the user's cache folder by size and
modification time.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dowse import settings
from dowse.errors import SettingsError

MIN_CACHED_BYTES = 4_000_000
"""Bytes from which on a hash is cached: what is smaller takes less than 10 ms."""

MIN_AGE_SECONDS = 2
"""A file that changed this short ago may change again within the same tick of its time stamp."""

CACHE_FILE = "model-hashes.json"


def hash_files(files: Iterable[Path], extra: str = "") -> str:
    """Hash the contents of some files, in this order, and what else decides the vectors."""
    total = hashlib.blake2b(extra.encode(), digest_size=16)
    for path in files:
        try:
            total.update(_hash_cached(path).encode())
        except OSError as error:
            raise SettingsError(f"the model file {path} cannot be read: {error.strerror}") from error
    return total.hexdigest()


def _hash_cached(path: Path) -> str:
    path = path.resolve()
    status = path.stat()
    if status.st_size < MIN_CACHED_BYTES:
        return _hash_file(path)
    stamp = [status.st_size, status.st_mtime_ns]
    found = _read_cache().get(str(path))
    if isinstance(found, list) and found[:-1] == stamp:
        return str(found[-1])
    computed = _hash_file(path)
    if time.time() - status.st_mtime > MIN_AGE_SECONDS:
        _write_cache(str(path), [*stamp, computed])
    return computed


def _hash_file(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _read_cache() -> dict[str, object]:
    try:
        values = json.loads((settings.user_cache_dir() / CACHE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _write_cache(path: str, entry: list[object]) -> None:
    """Replace the cache file in one step; ignore it if it cannot be written, for it is only a cache."""
    folder = settings.user_cache_dir()
    temporary = folder / f"{CACHE_FILE}.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(_read_cache() | {path: entry}), encoding="utf-8")
        temporary.replace(folder / CACHE_FILE)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
