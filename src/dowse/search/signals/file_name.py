"""A file named with the words of the question is likely to be about it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dowse.code import tokens
from dowse.search.signals.base import Candidate
from dowse.types import AnalysedQuery

STEM = 1.0
"""Gain when every word of the file's own name is in the question, and the question is nothing else."""

PARTLY = 0.5
"""Share of that gain that does not depend on how much of the question the name covers."""

FOLDER = 0.2
"""Gain when the folder's name shares a word with the question."""

PREFIX = 4
"""Letters two words must share to count as forms of each other ("auth", "authentication")."""


def weigh(query: AnalysedQuery, candidates: Sequence[Candidate]) -> None:
    """Lift chunks of files whose name or folders share words with the question."""
    wanted = frozenset(word for word in query.words if len(word) > 1)
    if not wanted:
        return
    gains: dict[str, tuple[float, str]] = {}
    for candidate in candidates:
        path = candidate.file.path
        if path not in gains:
            gains[path] = _gain(path, wanted)
        gain, detail = gains[path]
        if gain:
            candidate.weigh("file_name", 1.0 + gain, detail)


def _gain(path: str, wanted: frozenset[str]) -> tuple[float, str]:
    stem, folders = _path_stems(path)
    hits = [word for word in stem if _matches(word, wanted)]
    near = [word for word in folders if _matches(word, wanted)]
    gain = FOLDER if near else 0.0
    if hits:
        asked = min(1.0, len(hits) / len(wanted))
        gain += STEM * len(hits) / len(stem) * (PARTLY + (1 - PARTLY) * asked)
    return gain, "file name has " + ", ".join([*hits, *near]) if gain else ""


def _matches(word: str, wanted: frozenset[str]) -> bool:
    if word in wanted:
        return True
    if len(word) < PREFIX:
        return False
    return any(
        len(other) >= PREFIX and (word.startswith(other) or other.startswith(word)) for other in wanted
    )


@lru_cache(maxsize=20_000)
def _path_stems(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stemmed words of a file's name and of its folder; ``__init__`` and ``index`` take their folder's name."""
    folder, _, name = path.rpartition("/")
    own = tokens.path_words(name.rpartition(".")[0].replace(".", "_") or name)
    if own in (("init",), ("index",), ("mod",), ("lib",), ("main",)) and folder:
        folder, _, name = folder.rpartition("/")
        own = (*tokens.path_words(name),)
    return tuple(map(tokens.stem, own)), tuple(map(tokens.stem, tokens.path_words(folder.rpartition("/")[2])))
