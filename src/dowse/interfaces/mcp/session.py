"""What is known of one client: its folders, what it has been sent."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.types import PackedHit, SearchResult

REMEMBERED = 50_000
"""Lines that are remembered as sent: far more than an agent keeps in mind."""


class Session:
    """One client, from its first message to its last."""

    def __init__(self) -> None:
        self.roots: tuple[str, ...] | None = None  # as the client gave them; None: not asked yet
        self.sent = Sent()


class Sent:
    """The lines that a client has, by file: a line that changed since counts as new.

    Eight bytes a line: a server over HTTP has many clients, and each is sent thousands.
    """

    def __init__(self) -> None:
        self._lines: OrderedDict[tuple[str, str], array[int]] = OrderedDict()
        self._count = 0

    def has(self, hit: SearchResult) -> bool:
        """Whether every line of a hit was sent."""
        known = self._lines.get((hit.repository, hit.path))
        if not known or not hit.text:
            return False
        marks = {hash(item) for item in _numbered(hit) if item[1].strip()}
        return marks <= set(known)

    def note(self, packed: PackedHit) -> None:
        """Remember what was shown of a hit."""
        hit = packed.result
        if len(packed.lines) < 2 or not hit.text:
            return
        missing = {number for first, last in packed.cut for number in range(first, last + 1)}
        shown = {hash(item) for item in _numbered(hit) if item[0] not in missing}
        known = self._lines.setdefault((hit.repository, hit.path), array("q"))
        new = shown - set(known)
        known.extend(new)
        self._count += len(new)
        self._lines.move_to_end((hit.repository, hit.path))
        while self._count > REMEMBERED and len(self._lines) > 1:
            self._count -= len(self._lines.popitem(last=False)[1])


def _numbered(hit: SearchResult) -> Iterator[tuple[int, str]]:
    return enumerate(hit.text.split("\n"), hit.start_line)
