"""File name boost: chunks of files whose name or folder shares words with the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from itertools import pairwise

from dowse.code import tokens
from dowse.search.ranking.candidates import Candidate, describes_a_place, list_naming_words
from dowse.search.ranking.signals.context import SignalContext

STEM_GAIN = 1.0
"""Gain when every word of the file's own name is in the query, and the query has no others."""

PARTIAL_SHARE = 0.5
"""Share of that gain that a name has in full where it covers one word in ``WORDS_PER_MATCH`` of the query."""

WORDS_PER_MATCH = 6
"""Words of a query of which one may be the file's name: in a longer query, a single word says less and less."""

FOLDER_GAIN = 0.2
"""Gain when the folder's name shares a word with the query."""

ROLE_WORDS = frozenset({"test", "spec", "exampl"})
"""Stems in a path that say what role a file has, not what it is about: for the signal ``role``."""

PREFIX_LENGTH = 4
"""Letters two words must share to count as forms of each other ("auth", "authentication")."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Boost chunks of files whose name or folder shares words with the query.

    Not where the query is a long description or an error message, whose words are in the names of files by chance, nor
    where it names a line.
    """
    query = context.query
    wanted = list_naming_words(query)
    if not wanted or query.frames or describes_a_place(query):
        return
    stems = {candidate.file.path: _path_stems(candidate.file.path) for candidate in candidates}
    words = {word for own, folders in stems.values() for word in (*own, *folders)}
    covering = dict.fromkeys(_find_matching(words, wanted), 1)
    covering |= dict.fromkeys(words & _join_neighbors(query.text), 2)
    gains = {
        path: _compute_name_gain(own, folders, covering, len(wanted))
        for path, (own, folders) in stems.items()
    }
    for candidate in candidates:
        gain, detail = gains[candidate.file.path]
        if gain:
            candidate.boost_file("file_name", 1.0 + gain, detail)


def compute_gain(path: str, wanted: frozenset[str]) -> float:
    """Compute what the name of a file would add to its score for a query of these words, however long it is."""
    own, folders = _path_stems(path)
    covering = dict.fromkeys(_find_matching({*own, *folders}, wanted), 1)
    return _compute_name_gain(own, folders, covering, len(wanted))[0] if wanted else 0.0


def _compute_name_gain(
    own: tuple[str, ...], folders: tuple[str, ...], covering: Mapping[str, int], query_words: int
) -> tuple[float, str]:
    """Compute what a name adds, by how many words of the query each of its words covers, and how many there are."""
    hits = [word for word in own if word in covering]
    near = [word for word in folders if word in covering]
    gain = FOLDER_GAIN if near else 0.0
    if hits:
        covered = sum([covering[word] for word in hits]) / query_words
        share = PARTIAL_SHARE * min(1.0, WORDS_PER_MATCH * covered) + (1 - PARTIAL_SHARE) * min(1.0, covered)
        gain += STEM_GAIN * len(hits) / len(own) * share
    return gain, "file name has " + ", ".join([*hits, *near]) if gain else ""


def _join_neighbors(text: str) -> frozenset[str]:
    """Join neighboring words of a query and stem them: the file may be ``threadpool.c``, ``etag.rb``."""
    words = [part for word in tokens.split_words(text) for part in tokens.split_identifier(word)]
    return frozenset(tokens.stem(one + other) for one, other in pairwise(words))


def _find_matching(words: Set[str], wanted: frozenset[str]) -> set[str]:
    """Find the words that are wanted or a form of one that is."""
    long = tuple(word for word in wanted if len(word) >= PREFIX_LENGTH)
    starts = {word[:PREFIX_LENGTH] for word in long}
    alike = [word for word in words if word[:PREFIX_LENGTH] in starts]
    forms = {word for word in alike if word.startswith(long) or any(o.startswith(word) for o in long)}
    return forms | (wanted & words)


@lru_cache(maxsize=20_000)
def _path_stems(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Stem the words of a file's name and of its folder; ``__init__`` and ``index`` take their folder's name."""
    folder, _, name = path.rpartition("/")
    own = tokens.split_path_words(name.rpartition(".")[0].replace(".", "_") or name)
    if own in (("init",), ("index",), ("mod",), ("lib",), ("main",)) and folder:
        folder, _, name = folder.rpartition("/")
        own = (*tokens.split_path_words(name),)
    stems = tuple(map(tokens.stem, own))
    folders = tuple(map(tokens.stem, tokens.split_path_words(folder.rpartition("/")[2])))
    return _drop_role_words(stems) or stems, _drop_role_words(folders)


def _drop_role_words(stems: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in stems if word not in ROLE_WORDS)
