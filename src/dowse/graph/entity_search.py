"""Symbol lookup: find entities, files and directories by id, name, prefix, glob or with typos, and read their code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

from dowse.errors import EntityNotFound
from dowse.filters import entity_passes, file_passes, path_regex, to_facts
from dowse.graph.traversal import Graph
from dowse.lazy_rows import read_column
from dowse.stores.protocol import Snapshot
from dowse.types.answers import SearchResult
from dowse.types.graph_values import EntityCode, EntityHit, Node
from dowse.types.source import Entity, Kind
from dowse.types.stored import TIER_SCORES, FileFacts, Filter, NameTier, StoredFile

MAX_NAME_MATCHES = 200
"""Definitions of one name that are considered."""

MAX_LISTED_ENTITIES = 1000
"""Definitions of one file that ``path:*`` lists."""

STEM_SCORE, FOLDER_SCORE = 0.8, 0.8
"""How sure a match of a file's name without its extension is, and one of a folder's name."""

CONTENT_SCORE = 0.3
"""The score of content of the highest relevance: less than of anything found by name."""

MAX_SLASHED_MATCHES = 10_000
"""Entities of formats that a glob like ``Deployment/*`` is compared with."""

_PATH_KINDS = frozenset({Kind.FILE, Kind.DIRECTORY})

_SLASHED_KINDS = frozenset({
    Kind.RESOURCE, Kind.CONTAINER, Kind.SERVICE, Kind.WORKFLOW, Kind.JOB, Kind.STEP, Kind.STAGE, Kind.MODULE, Kind.KEY,
    Kind.TEMPLATE,
})  # fmt: skip
"""Kinds of entities that may have a name with slashes."""

_DECLARATION_WORDS = frozenset({
    "class", "def", "function", "func", "fn", "method", "interface", "struct", "enum", "trait", "type",
})  # fmt: skip
"""Words before a name that only say its kind."""


def match_names(snapshot: Snapshot, query: str, filter: Filter, limit: int) -> list[EntityHit]:
    """Find what a query names by id, name, file, folder, prefix, glob or, where nothing else does, nearly; best first.

    Of kinds, ``file`` and ``directory`` count as well. Folders are looked for if nothing else has the name.
    """
    words = query.split()
    name = words[-1] if len(words) == 2 and words[0] in _DECLARATION_WORDS else query
    found = _match_ids(snapshot, query, filter)
    if len(name.split()) <= 1:
        if not found and "/" in name:
            found += _match_slashed(snapshot, name, filter)
        if not found and _wants_definitions(filter):
            found += _match_definitions(snapshot, name, filter, limit)
        if _wants(filter, Kind.FILE):
            found += _match_files(snapshot, name, filter)
        if _wants(filter, Kind.DIRECTORY) and (filter.kinds or not found):
            found += _match_folders(snapshot, name, filter)
    best = sorted(found, key=lambda hit: -hit.score)
    return list({hit.id: hit for hit in reversed(best)}.values())[::-1][:limit]


def _wants(filter: Filter, kind: Kind) -> bool:
    return (not filter.kinds or kind in filter.kinds) and kind not in filter.not_kinds and not filter.names


def _wants_definitions(filter: Filter) -> bool:
    return not filter.kinds or bool(filter.kinds - _PATH_KINDS)


def _match_ids(snapshot: Snapshot, query: str, filter: Filter) -> list[EntityHit]:
    """Match ``path:Class.method``, and ``path:*`` with the definitions of a file that a glob matches."""
    path, colon, qualified = query.rpartition(":")
    file = snapshot.file_at(path) if colon else None
    if file is None:
        return []
    is_glob = "*" in qualified or "?" in qualified
    names = read_column(file.parsed.entities, "qualified")
    tier = "glob" if is_glob else "id"
    score = TIER_SCORES[NameTier.GLOB] if is_glob else 1.0
    numbers = [i for i, n in enumerate(names) if n == qualified or (is_glob and fnmatchcase(n, qualified))]
    entities = (file.parsed.entities[i] for i in numbers[:MAX_LISTED_ENTITIES])
    return [_hit(file, e, tier, score) for e in entities if entity_passes(filter, e.kind, e.name)]


def _match_slashed(snapshot: Snapshot, name: str, filter: Filter) -> list[EntityHit]:
    """Match the hierarchical names of formats, ``Deployment/api`` or ``Deployment/*``, letter case apart."""
    wanted = name.lower()
    is_glob = "*" in name or "?" in name
    tier = NameTier.GLOB if is_glob else NameTier.CASE
    kinds = (filter.kinds or _SLASHED_KINDS) & _SLASHED_KINDS
    if not kinds:
        return []
    found, last = [], name.rpartition("/")[2]
    for hit in snapshot.names(last, tier, replace(filter, kinds=kinds), MAX_SLASHED_MATCHES):
        file = snapshot.file(hit.file)
        qualified = read_column(file.parsed.entities, "qualified")[hit.entity] if file is not None else ""
        if file is not None and fnmatchcase(qualified.lower(), wanted):
            sure = NameTier.EXACT if qualified == name else tier
            found.append(_hit(file, file.parsed.entities[hit.entity], sure.value, TIER_SCORES[sure]))
    return found


def _hit(file: StoredFile, entity: Entity, tier: str, score: float) -> EntityHit:
    id = f"{file.path}:{entity.qualified}"
    return EntityHit(
        id, entity.kind, file.path, entity.start_line, entity.end_line, entity.signature, tier, score
    )


# --- definitions ---


def _match_definitions(snapshot: Snapshot, name: str, filter: Filter, limit: int) -> list[EntityHit]:
    """Find the definitions of a name by the first tier that finds any; letter case matters only to the order."""
    filter = replace(filter, kinds=filter.kinds - _PATH_KINDS)
    found: list[EntityHit] = []
    for tier, pattern in _list_tiers(name):
        is_looser = tier not in (NameTier.EXACT, NameTier.CASE)
        if found and is_looser:
            break
        known = {hit.id for hit in found}
        more = _match_tier(snapshot, pattern, name, tier, filter, limit)
        found += [hit for hit in more if hit.id not in known]
    return found


def _list_tiers(name: str) -> list[tuple[NameTier, str]]:
    last = name.replace("::", ".").rpartition(".")[2]
    if name.endswith("*") and not any(mark in name[:-1] for mark in "*?"):
        return [(NameTier.PREFIX, last[:-1])]
    if "*" in name or "?" in name:
        return [(NameTier.GLOB, last)]
    return [(NameTier.EXACT, last), (NameTier.CASE, last), (NameTier.FUZZY, last)]


class _Found(NamedTuple):
    """A definition that was found, in the order in which they are shown."""

    is_other_role: bool
    depth: int
    path_length: int
    path: str
    entity: int
    file: int


def _match_tier(
    snapshot: Snapshot, pattern: str, name: str, tier: NameTier, filter: Filter, limit: int
) -> list[EntityHit]:
    """Find definitions by one tier; only those that are shown are read as a whole."""
    dotted = name.replace("::", ".")
    owner = dotted.rpartition(".")[0].lower()
    found: list[_Found] = []
    for hit in snapshot.names(pattern, tier, filter, MAX_NAME_MATCHES):
        if (file := snapshot.file(hit.file)) is None:
            continue
        qualified = read_column(file.parsed.entities, "qualified")[hit.entity]
        if owner and not _is_owned(file.path, qualified, owner):
            continue
        is_other = file.role.value != "source"
        found.append(_Found(is_other, qualified.count("."), len(file.path), file.path, hit.entity, hit.file))
    files = ((row, snapshot.file(row.file)) for row in sorted(found)[:limit])
    return [
        _hit(file, file.parsed.entities[row.entity], tier.value, TIER_SCORES[tier])
        for row, file in files
        if file
    ]


def _is_owned(path: str, qualified: str, owner: str) -> bool:
    """Return whether what is around a definition ends with these names: its classes, or its module."""
    around = f"{path.rpartition('.')[0].replace('/', '.')}.{qualified}".lower().rpartition(".")[0]
    return f".{around}".endswith(f".{owner}")


# --- files and folders ---


def _match_files(snapshot: Snapshot, name: str, filter: Filter) -> Iterator[EntityHit]:
    """Find files by path, name or stem; by a glob if it looks like a path, or only files are wanted."""
    is_glob = "*" in name or "?" in name
    if is_glob and filter.kinds != {Kind.FILE} and not ("/" in name or "." in name.strip(".*?")):
        return
    filter = replace(filter, kinds=frozenset(), not_kinds=frozenset())
    if is_glob:
        pattern = re.compile(path_regex(name), re.IGNORECASE)
        paths = [path for path in _list_paths(snapshot, filter) if pattern.fullmatch(path)]
        files = [snapshot.file_at(path) for path in paths[:MAX_NAME_MATCHES]]
    else:
        files = [snapshot.file(id) for id in snapshot.find_files_named(name, filter, MAX_NAME_MATCHES)]
    for file in files:
        if file is None or not file_passes(filter, to_facts(file)):
            continue
        last = max(read_column(file.parsed.chunks, "end_line"), default=1)
        is_whole = f"/{file.path}".lower().endswith(f"/{name.lower().strip('/')}")
        tier = "glob" if is_glob else "file"
        score = TIER_SCORES[NameTier.GLOB] if is_glob else 1.0 if is_whole else STEM_SCORE
        yield EntityHit(file.path, Kind.FILE, file.path, 1, last, "", tier, score)


def _list_paths(snapshot: Snapshot, filter: Filter) -> list[str]:
    """List the paths that the patterns of a filter let through."""
    patterns = Filter(paths=filter.paths, not_paths=filter.not_paths)
    return [path for path in snapshot.manifest() if file_passes(patterns, FileFacts(path, "", "", 0))]


def _match_folders(snapshot: Snapshot, name: str, filter: Filter) -> Iterator[EntityHit]:
    """Find folders by path, by the end of it, or by a glob."""
    wanted = name.strip("/").lower()
    is_glob = "*" in name or "?" in name
    if not wanted or (is_glob and Kind.DIRECTORY not in filter.kinds):
        return
    for folder in _list_folders(_list_paths(snapshot, filter)):
        lower = folder.lower()
        if f"/{lower}".endswith(f"/{wanted}") or (is_glob and _matches_folder(lower, wanted)):
            tier, score = ("glob", TIER_SCORES[NameTier.GLOB]) if is_glob else ("directory", FOLDER_SCORE)
            yield EntityHit(folder, Kind.DIRECTORY, folder, 0, 0, "", tier, score)


def _list_folders(paths: Iterable[str]) -> list[str]:
    """List the folders that the paths are in, shortest first."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(folders, key=lambda folder: (folder.count("/"), folder))


def _matches_folder(folder: str, pattern: str) -> bool:
    return fnmatchcase(folder if "/" in pattern else folder.rpartition("/")[2], pattern)


# --- content ---


def make_hit(snapshot: Snapshot, result: SearchResult) -> EntityHit:
    """Turn a search result into a hit on its entity, with all lines of the entity; on a file, with the lines found."""
    id = f"{result.path}:{result.entity}" if result.entity else result.path
    file = snapshot.file_at(result.path) if result.entity else None
    alike = [e for e in file.parsed.entities if e.qualified == result.entity] if file else []
    around = [e for e in alike if e.start_line <= result.end_line and result.start_line <= e.end_line]
    first, last = result.start_line, result.end_line
    for entity in around[:1]:
        first, last = entity.start_line, entity.end_line
    score = CONTENT_SCORE * result.relevance
    return EntityHit(id, result.kind, result.path, first, last, result.signature, "content", score)


def read_code(snapshot: Snapshot, graph: Graph, node: Node, context: int) -> EntityCode:
    """Read the code of a node with some lines of context; for a directory, list what is in it."""
    if node.kind is Kind.DIRECTORY:
        listing = "\n".join(sorted(graph.children.get(node.id, ())))
        return EntityCode(node.id, node.kind, node.id, 0, 0, listing)
    path = graph.file_of(node.id)
    file = snapshot.file_at(path)
    if file is None:
        raise EntityNotFound(f"{path} is not in the index any more: search again")
    lines = snapshot.content(file.id).decode("utf-8", "replace").splitlines()
    first, last = (1, len(lines)) if node.kind is Kind.FILE else (node.start_line, node.end_line)
    first, last = max(1, first - context), min(len(lines), last + context)
    return EntityCode(node.id, node.kind, path, first, last, "\n".join(lines[first - 1 : last]))
