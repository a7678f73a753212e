"""What is known of the clients: their folders, what they have been sent."""

from __future__ import annotations

import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.types import PackedHit, SearchResult

REMEMBERED = 200_000
"""Bytes for what a client was sent: at thirty lines a file some 20,000 lines, which is about what an agent can keep in
mind. Beyond that, the files that were sent longest ago are forgotten: at worst they are sent again."""

A_LINE = 4
A_FILE = 160
"""Bytes that it takes to remember a line, and a file without its lines."""

_MARK = 0xFFFF_FFFF

SESSIONS = 1000
"""Clients that are remembered, the latest ones."""

IDLE_SECONDS = 1800.0
"""After this long without a request a client is forgotten."""


class Session:
    """One client, from its first message to its last."""

    def __init__(self) -> None:
        self.roots: tuple[str, ...] | None = None  # as the client gave them; None: not asked yet
        self.sent = Sent()
        self.used = 0.0


class Sessions:
    """The clients of a server that has many, by id. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._clock = clock
        self._guard = threading.Lock()

    def __len__(self) -> int:
        return len(self._sessions)

    def of(self, id: str) -> Session:
        """What is known of a client."""
        now = self._clock()
        with self._guard:
            session = self._sessions.setdefault(id, Session())
            self._sessions.move_to_end(id)
            session.used = now
            while len(self) > SESSIONS or next(iter(self._sessions.values())).used < now - IDLE_SECONDS:
                self._sessions.popitem(last=False)
        return session

    def forget(self, id: str) -> None:
        """A client that has said goodbye."""
        with self._guard:
            self._sessions.pop(id, None)


class Sent:
    """The lines that a client has, by file: a line that changed since counts as new.

    Of a line only a number is kept, which another line at the same place has once in four thousand million cases.
    """

    def __init__(self) -> None:
        self._files: dict[int, array[int]] = {}  # those sent last at the end
        self._bytes = 0
        self._guard = threading.Lock()  # a client may call twice at once

    def __len__(self) -> int:
        """How many lines are remembered."""
        return sum(map(len, self._files.values()))

    def has(self, hit: SearchResult) -> bool:
        """Whether every line of a hit was sent."""
        known = self._files.get(_file(hit))
        if not known or not hit.text:
            return False
        return {_mark(item) for item in _numbered(hit) if item[1].strip()}.issubset(known)

    def note(self, packed: PackedHit) -> None:
        """Remember what was shown of a hit."""
        hit = packed.result
        if len(packed.lines) < 2 or not hit.text:
            return
        missing = {number for first, last in packed.cut for number in range(first, last + 1)}
        shown = {_mark(item) for item in _numbered(hit) if item[0] not in missing}
        with self._guard:
            known = self._forgotten(_file(hit))
            known.extend(shown.difference(known))
            self._files[_file(hit)] = known
            self._bytes += _size(known)
            while self._bytes > REMEMBERED:
                self._forgotten(next(iter(self._files)))

    def _forgotten(self, file: int) -> array[int]:
        """The lines of a file, which are not remembered any more."""
        known = self._files.pop(file, None)
        if known is None:
            return array("I")
        self._bytes -= _size(known)
        return known


def _file(hit: SearchResult) -> int:
    return hash((hit.repository, hit.path))


def _size(known: array[int]) -> int:
    return A_FILE + A_LINE * len(known)


def _mark(numbered: tuple[int, str]) -> int:
    return hash(numbered) & _MARK


def _numbered(hit: SearchResult) -> Iterator[tuple[int, str]]:
    return enumerate(hit.text.split("\n"), hit.start_line)
