"""Example queries of the start page: each kind of query with names and words of the repository that is searched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dowse.engine import Engine
from dowse.lru import LruCache
from dowse.types.source import Entity, Kind, Role
from dowse.types.stored import IndexState

SAMPLED_FILES = 80
"""Files, evenly spread over the index, whose definitions are looked at."""

MAX_CACHED = 100
"""Repositories whose examples are kept until their index changes."""

Examples = tuple[tuple[str, str], ...]

_SENTENCE = re.compile(r"[A-Z][a-z]+(?: [a-z]+){3,8}\.?")
_NAME_PART = re.compile(r"[A-Z]?[a-z]+")
_PUBLIC_NAME = re.compile(r"[A-Za-z]\w{3,30}")
_CACHE: LruCache[tuple[str, int], Examples] = LruCache(MAX_CACHED)


class _Chosen(NamedTuple):
    """What the examples are made of."""

    sentence: str  # what a definition does, in the words of its documentation
    owner: str  # a class or the like
    member: str  # a method of it
    language: str


DEFAULT = _Chosen("where are changed files noticed", "Session", "refresh", "python")


def list_examples(engine: Engine | None) -> Examples:
    """List examples of queries, each with what it shows; those of a tree without an index are of no tree."""
    if engine is None or engine.state() is not IndexState.CURRENT:
        return _write_examples(DEFAULT)
    key = str(engine.root), engine.generation()
    examples = _CACHE.get(key)
    if examples is None:
        examples = _write_examples(_choose(engine))
        _CACHE.put(key, examples)
    return examples


def _write_examples(chosen: _Chosen) -> Examples:
    parts = _NAME_PART.findall(chosen.owner) or [chosen.owner]
    word, ending = max(parts, key=len).lower(), parts[-1]
    prefix = chosen.owner.removesuffix(ending) or chosen.owner
    return (
        ("In words", chosen.sentence),
        ("By name", f"{chosen.owner}.{chosen.member}"),
        ("Names by prefix", f"{prefix}*"),
        ("In some files only", f"{word} lang:{chosen.language} -is:test"),
        ("Definitions of a kind", f"kind:function {word}"),
        ("An exact phrase", f'"{" ".join(chosen.sentence.split()[:3])}"'),
        ("A regular expression", rf"/\b\w+{ending}\b/"),
        ("Changed lately", f"{word} changed:14d"),
    )


def _choose(engine: Engine) -> _Chosen:
    """Choose what to write examples with: a class with many methods, and a documented definition."""
    sentence, best, most = "", DEFAULT, 0
    for language, entities in _sample(engine):
        sentence = sentence or next(_find_sentences(entities), "")
        for place, entity in enumerate(entities):
            members = [one.name for one in entities if one.parent == place and _is_plain(one, Kind.METHOD)]
            if len(members) > most and _is_plain(entity, Kind.CLASS):
                best, most = _Chosen("", entity.name, members[0], language), len(members)
    return best._replace(sentence=sentence or DEFAULT.sentence)


def _sample(engine: Engine) -> Iterator[tuple[str, list[Entity]]]:
    """Yield language and definitions of some source files."""
    paths = engine.paths()
    for path in sorted(paths)[:: max(1, len(paths) // SAMPLED_FILES)]:
        loaded = engine.load_file(path)
        if loaded is not None and loaded[0].role is Role.SOURCE:
            yield loaded[0].parsed.language, list(loaded[0].parsed.entities)


def _is_plain(entity: Entity, kind: Kind) -> bool:
    return entity.kind is kind and _PUBLIC_NAME.fullmatch(entity.name) is not None


def _find_sentences(entities: Iterable[Entity]) -> Iterator[str]:
    """Yield what definitions do, where their documentation begins with a short plain sentence."""
    for entity in entities:
        first = entity.doc.strip().partition("\n")[0].strip(' "/*#')
        if _SENTENCE.fullmatch(first):
            yield first[0].lower() + first[1:].rstrip(".")
