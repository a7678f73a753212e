"""Filter predicates on files, chunks and entities (language, path glob, kind, name): the definition every store
follows.

Path patterns are globs over the whole path (``*`` stays within a folder, ``**`` crosses folders); a pattern without a
slash matches any part of the path (``tests``, ``*.py``), and one that names a folder matches everything below it. Globs
are translated to regular expressions here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from dowse.types.source import ParsedFile
from dowse.types.stored import FileFacts, Filter, StoredFile

_ANY_TEXT = "(?s:.*)"
"""Line breaks too: a file name may hold one."""


def file_passes(filter: Filter, file: FileFacts) -> bool:
    """Whether a file may hold hits."""
    if filter.languages and file.language not in filter.languages:
        return False
    if filter.roles and file.role not in filter.roles:
        return False
    if file.language in filter.not_languages or file.role in filter.not_roles:
        return False
    if filter.changed_since_ns is not None and file.changed_ns < filter.changed_since_ns:
        return False
    if filter.paths and not any(re.fullmatch(path_regex(p), file.path) for p in filter.paths):
        return False
    return not any(re.fullmatch(path_regex(p), file.path) for p in filter.not_paths)


def to_facts(file: StoredFile) -> FileFacts:
    """Return what a filter may need of a stored file."""
    return FileFacts(file.path, file.parsed.language, file.role.value, file.stamp.mtime_ns)


def chunk_passes(filter: Filter, file: StoredFile, ordinal: int) -> bool:
    """Whether a chunk may be a hit: by the definitions that begin in it and the one around it."""
    if not filter.about_chunks:
        return True
    ordinals = chunk_definitions(file.parsed, ordinal, file.definitions[ordinal])
    definitions = [file.parsed.entities[i] for i in ordinals]
    return _definitions_pass(filter, [e.kind for e in definitions], [e.name for e in definitions])


def entity_passes(filter: Filter, kind: str, name: str) -> bool:
    """Whether an entity may be a hit."""
    return _definitions_pass(filter, [kind], [name])


def _definitions_pass(filter: Filter, kinds: Sequence[str], names: Sequence[str]) -> bool:
    if (filter.kinds and filter.kinds.isdisjoint(kinds)) or not filter.not_kinds.isdisjoint(kinds):
        return False
    patterns = map(name_regex, filter.names)
    return not filter.names or any(re.fullmatch(p, name.lower()) for p in patterns for name in names)


def chunk_definitions(parsed: ParsedFile, ordinal: int, beginning: Iterable[int]) -> list[int]:
    """List the entities of a chunk: the one around it and those that begin in it."""
    around = parsed.chunks[ordinal].entity
    return list(dict.fromkeys([*([around] if around is not None else []), *beginning]))


@lru_cache(maxsize=1000)
def path_regex(pattern: str) -> str:
    """Translate a path glob to a regular expression for the whole path."""
    pattern = pattern.replace("\\", "/").removeprefix("./")
    if "/" not in pattern.rstrip("/"):
        pattern = "**/" + pattern
    below = f"(/{_ANY_TEXT})?" if not pattern.endswith("**") else ""
    return _translate_glob(pattern.strip("/")) + below


@lru_cache(maxsize=1000)
def name_regex(pattern: str) -> str:
    """Translate a name glob to a regular expression for the whole name in lower case."""
    return _translate_glob(pattern.lower())


def _translate_glob(pattern: str) -> str:
    """Translate a glob, using only constructs that Python and the lexical engine read the same way."""
    out, i = [], 0
    while i < len(pattern):
        if pattern.startswith("**/", i):
            out.append(f"({_ANY_TEXT}/)?")
            i += 3
        elif pattern.startswith("**", i):
            out.append(_ANY_TEXT)
            i += 2
        else:
            c = pattern[i]
            out.append({"*": "[^/]*", "?": "[^/]"}.get(c) or re.escape(c))
            i += 1
    return "".join(out)
