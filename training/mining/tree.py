"""A tree to mine queries from: the files that an index of it would have, with their roles and definitions."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from dowse.code import file_roles, parsing, symbols
from dowse.code.languages import load_builtin
from dowse.code.languages.spec import Language
from dowse.evaluation.mining.definitions import QUERY_KINDS
from dowse.indexing.discover import Rules, discover
from dowse.types.discovered import FoundFile
from dowse.types.source import Entity, Kind, ParseHealth, Role

MAX_FILE_BYTES = 400_000
"""Larger files are data, or generated."""

FUNCTION_KINDS = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.MACRO})

_FOREIGN_ROLES = frozenset({Role.VENDORED, Role.GENERATED})
_TO_WORDS = bytes(byte if byte >= 0x80 or chr(byte).isalnum() else 0x20 for byte in bytes(range(256)).lower())


class MinedQuery(NamedTuple):
    """A query and the places that answer it, ``path:first-last``: what to show first, and what helps as well."""

    query: str
    primary: tuple[str, ...]
    secondary: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class TreeFile:
    """A text file of a tree with its definitions."""

    path: str
    content: bytes
    role: Role
    language: Language
    entities: tuple[Entity, ...]

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, without their ends."""
        return self.content.decode("utf-8", "replace").split("\n")

    @property
    def definitions(self) -> list[Entity]:
        """Its functions and classes: what somebody would search for."""
        return [entity for entity in self.entities if entity.kind in QUERY_KINDS]

    @property
    def whole(self) -> str:
        """The target that is all of its lines."""
        return f"{self.path}:1-{max(1, len(self.lines) - (not self.lines[-1]))}"

    def target(self, entity: Entity) -> str:
        """Return the target that is a definition with the comments above it."""
        return f"{self.path}:{entity.start_line}-{entity.end_line}"


@dataclass(frozen=True)
class Tree:
    """The files of a repository at its commit."""

    files: tuple[TreeFile, ...]

    @cached_property
    def by_path(self) -> dict[str, TreeFile]:
        """The files by their paths."""
        return {file.path: file for file in self.files}

    @cached_property
    def sources(self) -> list[TreeFile]:
        """The project's own code, without tests and examples."""
        return [file for file in self.files if file.role is Role.SOURCE and not file.language.prose]

    @cached_property
    def texts(self) -> dict[str, bytes]:
        """The words of each file, see ``normalize``."""
        return {file.path: normalize(file.content) for file in self.files}


def read_tree(root: Path) -> Tree:
    """Read the files of a tree that would be indexed, without other people's and generated ones."""
    found = (entry.path for entry in discover(root, Rules()) if isinstance(entry, FoundFile))
    files = (_read_file(root, path) for path in sorted(found))
    return Tree(tuple(file for file in files if file))


def _read_file(root: Path, path: str) -> TreeFile | None:
    content = (root / path).read_bytes()
    role = file_roles.classify_role(path, content)
    if len(content) > MAX_FILE_BYTES or not content or b"\0" in content or role in _FOREIGN_ROLES:
        return None
    language = load_builtin().detect(path, content)
    return TreeFile(path, content, role, language, parse_entities(language, content))


def parse_entities(language: Language, content: bytes) -> tuple[Entity, ...]:
    """Parse what a content defines."""
    tree, health = parsing.parse(language, content)
    if tree is None or health is ParseHealth.FAILED:
        return ()
    return symbols.find(language, parsing.run_queries(language, tree).definitions, content)


def find_innermost(entities: Iterable[Entity], line: int) -> Entity | None:
    """Find the smallest definition around a line."""
    around = [entity for entity in entities if entity.start_line <= line <= entity.end_line]
    return min(around, key=lambda entity: (entity.end_line - entity.start_line, -entity.line), default=None)


def normalize(content: bytes) -> bytes:
    """Reduce a text to its words in lower case, so that a sentence is found however its comment is laid out."""
    return b" ".join(content.lower().translate(_TO_WORDS).split())


def spread(found: Sequence[MinedQuery], rng: random.Random) -> list[MinedQuery]:
    """Shuffle, but with one of each folder before the second of any, and so for the files of a folder."""
    folders: dict[str, dict[str, list[MinedQuery]]] = defaultdict(lambda: defaultdict(list))
    for query in rng.sample(found, len(found)):
        path = query.primary[0].rpartition(":")[0]
        folders[path.rpartition("/")[0]][path].append(query)
    return _take_turns([_take_turns(list(files.values())) for files in folders.values()])


def _take_turns(groups: list[list[MinedQuery]]) -> list[MinedQuery]:
    longest = max(map(len, groups), default=0)
    return [group[turn] for turn in range(longest) for group in groups if turn < len(group)]


def keep_distinct(found: Sequence[MinedQuery]) -> list[MinedQuery]:
    """Keep the queries that only one place answers: a text that stands twice does not say which is meant."""
    places: dict[bytes, set[tuple[str, ...]]] = defaultdict(set)
    for query in found:
        places[normalize(query.query.encode())].add(query.primary)
    distinct: dict[bytes, MinedQuery] = {}
    for query in found:
        key = normalize(query.query.encode())
        if len(places[key]) == 1:
            distinct.setdefault(key, query)
    return list(distinct.values())
