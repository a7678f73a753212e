"""MCP client sessions: the roots of a client, and which lines it was sent, so that none are sent twice."""

from __future__ import annotations

import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.types.answers import PackedHit, SearchResult

MAX_SENT_BYTES = 200_000
"""Memory for the lines that a client was sent: at thirty lines a file some 20,000 lines, about what an agent's context
holds. Beyond that, the files sent longest ago are evicted: at worst they are sent again."""

LINE_BYTES = 4
FILE_BYTES = 160
"""Memory for a line, and for a file without its lines."""

_HASH_MASK = 0xFFFF_FFFF

MAX_SESSIONS = 1000
"""Sessions that are kept; beyond that, the least recently used is evicted."""

IDLE_SECONDS = 1800.0
"""Time without a request after which a session is evicted."""


class ClientSession:
    """One client, from its first message to its last."""

    def __init__(self) -> None:
        self.roots: tuple[str, ...] | None = None  # as the client gave them; None: not asked yet
        self.sent = SentLines()
        self.last_used = 0.0


class Sessions:
    """The clients of a server that has many, by id. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._sessions: OrderedDict[str, ClientSession] = OrderedDict()
        self._clock = clock
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, id: str) -> ClientSession:
        """Return the session of a client, and evict those that are idle or too many."""
        now = self._clock()
        with self._lock:
            session = self._sessions.setdefault(id, ClientSession())
            self._sessions.move_to_end(id)
            session.last_used = now
            while (
                len(self) > MAX_SESSIONS or next(iter(self._sessions.values())).last_used < now - IDLE_SECONDS
            ):
                self._sessions.popitem(last=False)
        return session

    def forget(self, id: str) -> None:
        """Remove the session of a client that has ended it."""
        with self._lock:
            self._sessions.pop(id, None)


class SentLines:
    """The code that an agent has already seen in its session, line by line, so that it is not sent again.

    A line that changed since counts as new. Of a line only a hash of 32 bits is kept: another line at the same place
    has the same one in 2^32 cases.
    """

    def __init__(self) -> None:
        self._files: dict[int, array[int]] = {}  # those sent last at the end
        self._bytes = 0
        self._lock = threading.Lock()  # a client may call twice at once

    def __len__(self) -> int:
        """Count the lines that are remembered."""
        return sum(map(len, self._files.values()))

    def has(self, hit: SearchResult) -> bool:
        """Tell whether every line of a hit was sent."""
        known = self._files.get(_file_key(hit))
        if not known or not hit.text:
            return False
        return {_line_hash(item) for item in _number_lines(hit) if item[1].strip()}.issubset(known)

    def add(self, packed: PackedHit) -> None:
        """Remember what was shown of a hit."""
        hit = packed.result
        if len(packed.lines) < 2 or not hit.text:
            return
        missing = {number for first, last in packed.cut for number in range(first, last + 1)}
        shown = {_line_hash(item) for item in _number_lines(hit) if item[0] not in missing}
        with self._lock:
            known = self._evict(_file_key(hit))
            known.extend(shown.difference(known))
            self._files[_file_key(hit)] = known
            self._bytes += _memory_size(known)
            while self._bytes > MAX_SENT_BYTES:
                self._evict(next(iter(self._files)))

    def _evict(self, file: int) -> array[int]:
        """Remove a file, and return its lines."""
        known = self._files.pop(file, None)
        if known is None:
            return array("I")
        self._bytes -= _memory_size(known)
        return known


def _file_key(hit: SearchResult) -> int:
    return hash((hit.repository, hit.path))


def _memory_size(known: array[int]) -> int:
    return FILE_BYTES + LINE_BYTES * len(known)


def _line_hash(line: tuple[int, str]) -> int:
    return hash(line) & _HASH_MASK


def _number_lines(hit: SearchResult) -> Iterator[tuple[int, str]]:
    return enumerate(hit.text.split("\n"), hit.start_line)
