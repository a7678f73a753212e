"""Read code by location: a file, a line range, the definition around a line, or a symbol by name.

    src/auth.py                 the file
    src/auth.py:10-40           lines of it
    src/auth.py:12              the definition around a line
    src/auth.py:Token.refresh   a definition in it
    Token.refresh               every definition of this name

From the index, not from the disk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from dowse.errors import UsageError
from dowse.lazy_regex import compile_lazily
from dowse.search.query.analyze import get_last_part, join_with_dots
from dowse.stores.protocol import Snapshot
from dowse.types.answers import Match, SearchResult
from dowse.types.source import Entity, Kind, Role
from dowse.types.stored import Filter, NameTier, StoredFile

CONTEXT_LINES = 10
"""Lines shown on either side of a line that is in no definition."""

MAX_SUGGESTIONS = 5
"""Files of the same name that are listed when a path does not say which is meant."""

MAX_NAMESAKES = 20
"""Definitions of one name that are read."""

ROLE_ORDER = (Role.SOURCE, Role.TEST, Role.EXAMPLE)
"""Files whose definitions of a name come first; in all others it is generated, a copy, or a heading."""

MAX_LINE_DIGITS = 9
"""Digits of a line number that are read: no file has more lines, and Python refuses to read very long numbers."""

_LINES = compile_lazily(r"(?P<path>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?$", re.DOTALL)


class Location(NamedTuple):
    """A place as it was named; ``last`` is 0 where one line was given, ``first`` where none was."""

    path: str
    first: int = 0
    last: int = 0
    name: str = ""


def parse_location(target: str) -> Location:
    """Parse ``path``, ``path:12``, ``path:10-40`` or ``path:Name``; what could be a path or a name is a path."""
    if lines := _LINES.fullmatch(target):
        return Location(
            lines["path"], _parse_line(lines["first"]), int((lines["last"] or "0")[:MAX_LINE_DIGITS])
        )
    path, colon, name = target.rpartition(":")
    is_name = "\\" not in name and ("/" not in name or _has_ending(path))
    if colon and path and not path.endswith(":") and is_name:
        return Location(path, name=name)
    return Location(target)


def _has_ending(path: str) -> bool:
    """Return whether a path names a file: what follows its colon may be a name with slashes (``Service/web``)."""
    return "." in path.rpartition("/")[2].lstrip(".")


def parse_position(place: str) -> tuple[str, int]:
    """Parse ``path`` or ``path:12`` into a path and a line, 0 if none is given; any other colon is part of a path."""
    lines = _LINES.fullmatch(place)
    if lines is None or lines["last"]:
        return place, 0
    return lines["path"], _parse_line(lines["first"])


def _parse_line(digits: str) -> int:
    line = int(digits[:MAX_LINE_DIGITS])
    if not line:
        raise UsageError("lines count from 1, not 0")
    return line


def read_location(snapshot: Snapshot, target: Location) -> list[SearchResult]:
    """Read a place of the index: one result, or one for each definition of a name."""
    file = _find_file(snapshot, target.path)
    if file is None:
        return _read_by_name(snapshot, target)
    if target.name:
        entities = _find_entities(file, target.name)
        if not entities:
            close = ", ".join(sorted({e.qualified for e in file.parsed.entities})[:MAX_SUGGESTIONS])
            raise UsageError(f"{file.path} defines no {target.name}: it has {close or 'no definitions'}")
        return [_make_result(snapshot, file, e.start_line, e.end_line, e) for e in entities]
    if not target.first:
        return [_make_result(snapshot, file, 1, _count_lines(snapshot, file), None)]
    return [_read_lines(snapshot, file, target)]


def list_outline(snapshot: Snapshot, target: Location) -> list[SearchResult]:
    """List the definitions in a file, in their order, without their text."""
    file = _find_file(snapshot, target.path)
    if file is None:
        raise UsageError(f"{target.path} is not a file of the index: an outline needs the path of one")
    return [_make_result(snapshot, file, e.start_line, e.end_line, e, text="") for e in file.parsed.entities]


def _find_file(snapshot: Snapshot, path: str) -> StoredFile | None:
    """Find the file of this path, or the only one whose path ends so."""
    if found := snapshot.file_at(path):
        return found
    ids = snapshot.find_files_named(path, Filter(), MAX_SUGGESTIONS)
    files = [file for id in ids if (file := snapshot.file(id)) and _is_tail(path, file.path)]
    if len(files) > 1:
        raise UsageError(f"{path} could be {', '.join(file.path for file in files)}: give the whole path")
    return files[0] if files else None


def _is_tail(end: str, path: str) -> bool:
    return f"/{path}".endswith(f"/{end}")


def _read_by_name(snapshot: Snapshot, target: Location) -> list[SearchResult]:
    """Read every definition of a name, whatever its file."""
    if target.first or target.name:
        raise UsageError(f"{target.path} is not in the index: give the path of a file as search shows it")
    last = get_last_part(target.path)
    hits = snapshot.names(last, NameTier.EXACT, Filter(), MAX_NAMESAKES) if last else []
    found = []
    for hit in hits:
        file = snapshot.file(hit.file)
        entity = file.parsed.entities[hit.entity] if file else None
        if file and entity and _is_called(entity, target.path):
            found.append((file, entity))
    found.sort(key=lambda place: _precedence(*place))
    results = [_make_result(snapshot, file, e.start_line, e.end_line, e) for file, e in found]
    if not results:
        raise UsageError(
            f"there is no file and no definition called {target.path!r} in the index: "
            "give path, path:first-last or path:Name as search shows them"
        )
    return results


def _precedence(file: StoredFile, entity: Entity) -> tuple[bool, int]:
    place = ROLE_ORDER.index(file.role) if file.role in ROLE_ORDER else len(ROLE_ORDER)
    return entity.kind is Kind.SECTION, place


def _find_entities(file: StoredFile, name: str) -> list[Entity]:
    exact = [e for e in file.parsed.entities if e.qualified == name]
    return exact or [e for e in file.parsed.entities if _is_called(e, name)]


def _is_called(entity: Entity, name: str) -> bool:
    return f".{join_with_dots(entity.qualified)}".endswith(f".{join_with_dots(name)}")


def check_lines(snapshot: Snapshot, file: StoredFile, first: int, last: int = 0) -> int:
    """Refuse lines that a file does not have; returns how many it has."""
    count = _count_lines(snapshot, file)
    if first < 1 or first > count or (last and last < first):
        wanted = f"{first}-{last}" if last else first
        raise UsageError(f"{file.path} has the lines 1-{count}, not {wanted}")
    return count


def _read_lines(snapshot: Snapshot, file: StoredFile, target: Location) -> SearchResult:
    count = check_lines(snapshot, file, target.first, target.last)
    entity = _find_smallest(file.parsed.entities, target.first, target.last or target.first)
    if target.last:
        return _make_result(snapshot, file, target.first, min(target.last, count), entity)
    if entity:
        return _make_result(snapshot, file, entity.start_line, entity.end_line, entity)
    return _make_result(
        snapshot, file, max(1, target.first - CONTEXT_LINES), min(count, target.first + CONTEXT_LINES), None
    )


def _find_smallest(entities: Sequence[Entity], first: int, last: int) -> Entity | None:
    """Find the smallest definition that holds the lines."""
    holding = [e for e in entities if e.start_line <= first and last <= e.end_line]
    return min(holding, key=lambda e: e.end_line - e.start_line, default=None)


def _count_lines(snapshot: Snapshot, file: StoredFile) -> int:
    content = snapshot.content(file.id)
    return max(1, content.count(b"\n") + (not content.endswith(b"\n")))


def _make_result(
    snapshot: Snapshot,
    file: StoredFile,
    first: int,
    last: int,
    entity: Entity | None,
    text: str | None = None,
) -> SearchResult:
    if text is None:
        lines = snapshot.content(file.id).decode("utf-8", "replace").split("\n")[first - 1 : last]
        text = "\n".join(line.rstrip("\r") for line in lines).rstrip("\n")
    return SearchResult(
        path=file.path,
        start_line=first,
        end_line=last,
        entity=entity.qualified if entity else "",
        kind=entity.kind if entity else Kind.FILE,
        language=file.parsed.language,
        relevance=1.0,
        score=1.0,
        match=Match.EXACT,
        reasons=(),
        text=text,
        signature=entity.signature if entity else "",
    )
