"""Shape features: size and depth of a file, and what its name says of its place among its neighbours."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from dowse.code import tokens
from dowse.search.ranking.candidates import FileCandidate
from dowse.search.ranking.features.feature import Feature, Values
from dowse.types.queries import Query

FEATURES = {
    "size": Feature("file_shape", 1),  # logarithm of the number of chunks
    "depth": Feature("file_shape", -1),  # folders above the file
    "declarations": Feature("file_shape", 0),  # headers, type declarations, interfaces
    "entry_file": Feature("file_shape", 0),  # goes by the name of its folder: __init__, index, mod, main
    "definitions": Feature("file_shape", 1),  # logarithm of the number of definitions
    "versioned_copy": Feature(
        "file_shape", -1
    ),  # has a version number in its path, or is in a folder "old", "legacy", which the query does not ask for
}

DECLARATION_SUFFIXES = (".d.ts", ".h", ".hpp", ".hh", ".pyi", ".mli", ".hrl")

_ENTRY = re.compile(r"(?:^|/)(?:__init__|index|mod|lib|main)\.\w+$")
_COPY = re.compile(
    r"(?:^|/)(old|legacy|deprecated|compat)(?=/)|(?:^|[/_.-])(v?\d+\.\d+(?:\.\d+|\.x)?)(?=[/_.-])",
    re.IGNORECASE,
)


class FileShapes:
    """The shape features of the files of one query."""

    def __init__(self, query: Query) -> None:
        self._words = frozenset(query.words)
        self._names_versions = bool(query.versions)

    def compute(self, file: FileCandidate) -> Values:
        """Compute the features of one file, in the order of the table."""
        parsed, path = file.file.parsed, file.file.path
        depth, declarations, entry = _compute_path(path)
        size, definitions = math.log(len(parsed.chunks)), math.log1p(len(parsed.entities))
        return size, depth, declarations, entry, definitions, float(self._is_unasked_copy(path))

    def _is_unasked_copy(self, path: str) -> bool:
        stems = _find_copy_stems(path)
        return bool(stems) and not self._names_versions and not stems <= self._words

    def describe(self, file: FileCandidate) -> str:
        """Say what counts of the shape of a file."""
        parsed, depth = file.file.parsed, file.file.path.count("/")
        return f"{len(parsed.chunks)} chunks, {len(parsed.entities)} definitions, folder depth {depth}"


@lru_cache(maxsize=20_000)
def _compute_path(path: str) -> Values:
    return (
        float(path.count("/")),
        float(path.endswith(DECLARATION_SUFFIXES)),
        float(_ENTRY.search(path) is not None),
    )


@lru_cache(maxsize=20_000)
def _find_copy_stems(path: str) -> frozenset[str]:
    """Find the stems of what marks a path as that of a copy; none if nothing does."""
    found = _COPY.search(path)
    return frozenset(tokens.tokenize(found[1] or found[2]).split()) if found else frozenset()
