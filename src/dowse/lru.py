"""LRU cache: least-recently-used eviction, bounded by the total size of its values, thread-safe.

``functools.lru_cache`` counts calls; this one is for values that are put in by hand, or that have a size of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Values by key; the least recently used are evicted when the sizes add up to more than the bound."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._size = 0
        self._values: dict[K, tuple[V, int]] = {}  # least recently used first
        self._guard = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def items(self) -> list[tuple[K, V]]:
        """List keys and values, least recently used first; none is marked as used."""
        with self._guard:
            return [(key, value) for key, (value, _) in self._values.items()]

    def clear(self) -> None:
        """Evict all values."""
        with self._guard:
            self._values.clear()
            self._size = 0

    def get(self, key: K) -> V | None:
        """Return a value if it is still there, and mark it as used."""
        with self._guard:
            entry = self._values.pop(key, None)
            if entry is None:
                return None
            self._values[key] = entry
            return entry[0]

    def put(self, key: K, value: V, size: int = 1) -> None:
        """Keep a value, and evict others until all fit."""
        with self._guard:
            _, old_size = self._values.pop(key, (None, 0))
            self._values[key] = value, size
            self._size += size - old_size
            while self._size > self._max_size:
                _, evicted_size = self._values.pop(next(iter(self._values)))
                self._size -= evicted_size
