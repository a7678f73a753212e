"""File name features: how the words of a file's own name and of its folders meet those of the query."""

from __future__ import annotations

import math
from functools import lru_cache

from dowse.code import tokens
from dowse.search.ranking.candidates import FileCandidate
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.feature import Feature, Values

FEATURES = {
    "stem_share": Feature("file_name", 1),  # share of the words of the file's own name that the query has
    "stem_whole": Feature("file_name", 1),  # whether it has all of them
    "stem_query_share": Feature("file_name", 1),  # share of the query's words that the name has
    "stem_equal": Feature("file_name", 1),  # whether the name is all that the query says
    "stem_extra_words": Feature(
        "file_name", -1
    ),  # logarithm of how many of its words the query does not have
    "folder_share": Feature(
        "file_name", 1
    ),  # share of the query's words that folders have and the name has not
}

ROLE_STEMS = frozenset({"test", "spec", "exampl"})
"""Stems in a path that say what role a file has, not what it is about."""

PREFIX_LENGTH = 4
"""Letters two words must share to count as forms of each other ("auth", "authentication")."""

FOLDER_NAMED_FILES = frozenset({("init",), ("index",), ("mod",), ("lib",), ("main",)})
"""Words of files that go by the name of their folder."""


class WordMatcher:
    """Tells which words a query has, in this or another form; each word is looked at once."""

    def __init__(self, wanted: frozenset[str], joined: frozenset[str]) -> None:
        self._wanted = wanted
        self._joined = joined
        self._by_start: dict[str, list[str]] = {}
        for word in wanted:
            if len(word) >= PREFIX_LENGTH:
                self._by_start.setdefault(word[:PREFIX_LENGTH], []).append(word)
        self._counts: dict[str, int] = {}

    def count(self, word: str) -> int:
        """Count the words of the query that a word stands for: two if it joins them."""
        found = self._counts.get(word)
        if found is None:
            alike = self._by_start.get(word[:PREFIX_LENGTH], ())
            is_form = any(word.startswith(other) or other.startswith(word) for other in alike)
            found = 2 if word in self._joined else 1 if word in self._wanted or is_form else 0
            self._counts[word] = found
        return found


class FileNames:
    """Compares the names of files with the words of one query."""

    def __init__(self, context: FeatureContext) -> None:
        self._wanted = len(context.naming_words)
        self._matcher = WordMatcher(context.naming_words, context.joined_words)

    def compute(self, file: FileCandidate) -> Values:
        """Compute the features of one file, in the order of the table."""
        wanted, count = self._wanted, self._matcher.count
        own, folders = split_path_stems(file.file.path)
        if not wanted or not own:
            return (0.0,) * len(FEATURES)
        counts = [found for word in own if (found := count(word))]
        shared, covered = len(counts), sum(counts)
        near = len([word for word in folders if count(word)])
        return (
            shared / len(own),
            float(shared == len(own)),
            min(1.0, covered / wanted),
            float(shared == len(own) and covered >= wanted),
            math.log1p(len(own) - shared),
            min(1.0, near / wanted),
        )

    def describe(self, file: FileCandidate) -> str:
        """Say which words the name of a file shares with the query."""
        own, folders = split_path_stems(file.file.path)
        met = sorted(word for word in own if self._matcher.count(word))
        near = sorted(word for word in folders if self._matcher.count(word))
        parts = [f"name has {', '.join(met)}"] if met else []
        parts += [f"folder has {', '.join(near)}"] if near else []
        return "; ".join(parts) or "name has other words"


@lru_cache(maxsize=20_000)
def split_path_stems(path: str) -> tuple[frozenset[str], frozenset[str]]:
    """Stem the words of a file's name, and of its folders those that the name has not.

    ``__init__`` and ``index`` take their folder's name.
    """
    folder, _, name = path.rpartition("/")
    own = tokens.split_path_words(name.rpartition(".")[0].replace(".", "_") or name)
    if own in FOLDER_NAMED_FILES and folder:
        folder, _, name = folder.rpartition("/")
        own = tokens.split_path_words(name)
    stems = frozenset(map(tokens.stem, own))
    folders = frozenset(map(tokens.stem, tokens.split_path_words(folder)))
    return stems - ROLE_STEMS or stems, folders - stems - ROLE_STEMS
