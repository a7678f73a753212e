"""A file named with the words of the question is likely to be about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from itertools import pairwise

from dowse.code import tokens
from dowse.search.ranking.candidates import Candidate, describes_a_place, naming_words
from dowse.search.ranking.signals.context import SignalContext

STEM = 1.0
"""Gain when every word of the file's own name is in the question, and the question is nothing else."""

PARTLY = 0.5
"""Share of that gain that a name has in full where it covers one word in ``ONE_IN`` of the question."""

ONE_IN = 6
"""Words of a question of which one may be the file's name: of a longer one, a single word says less and less."""

FOLDER = 0.2
"""Gain when the folder's name shares a word with the question."""

ROLE_WORDS = frozenset({"test", "spec", "exampl"})
"""Stemmed words of a path that say what part a file plays, not what it is about: for the signal ``role``."""

PREFIX = 4
"""Letters two words must share to count as forms of each other ("auth", "authentication")."""


def apply(context: SignalContext, candidates: Sequence[Candidate]) -> None:
    """Lift chunks of files whose name or folders share words with the question.

    Not where it describes a place: some of so many words are in the names of files by chance, as are those of an error
    message. Nor where it names a line.
    """
    query = context.query
    wanted = naming_words(query)
    if not wanted or query.frames or describes_a_place(query):
        return
    stems = {candidate.file.path: _path_stems(candidate.file.path) for candidate in candidates}
    words = {word for own, folders in stems.values() for word in (*own, *folders)}
    covering = dict.fromkeys(_matching(words, wanted), 1)
    covering |= dict.fromkeys(words & _written_as_one(query.text), 2)
    gains = {path: _gain(own, folders, covering, len(wanted)) for path, (own, folders) in stems.items()}
    for candidate in candidates:
        gain, detail = gains[candidate.file.path]
        if gain:
            candidate.boost_file("file_name", 1.0 + gain, detail)


def gain(path: str, wanted: frozenset[str]) -> float:
    """What the name of a file would add to its score for a question of these words, however long it is."""
    own, folders = _path_stems(path)
    covering = dict.fromkeys(_matching({*own, *folders}, wanted), 1)
    return _gain(own, folders, covering, len(wanted))[0] if wanted else 0.0


def _gain(
    own: tuple[str, ...], folders: tuple[str, ...], covering: Mapping[str, int], asked: int
) -> tuple[float, str]:
    """What a name adds, given how many words of the question each word of it covers, and how many are asked."""
    hits = [word for word in own if word in covering]
    near = [word for word in folders if word in covering]
    gain = FOLDER if near else 0.0
    if hits:
        covered = sum([covering[word] for word in hits]) / asked
        share = PARTLY * min(1.0, ONE_IN * covered) + (1 - PARTLY) * min(1.0, covered)
        gain += STEM * len(hits) / len(own) * share
    return gain, "file name has " + ", ".join([*hits, *near]) if gain else ""


def _written_as_one(text: str) -> frozenset[str]:
    """Two neighbouring words of a question as one, stemmed: the file may be ``threadpool.c``, ``etag.rb``."""
    words = [part for word in tokens.words(text) for part in tokens.split_identifier(word)]
    return frozenset(tokens.stem(one + other) for one, other in pairwise(words))


def _matching(words: Set[str], wanted: frozenset[str]) -> set[str]:
    """The words that are wanted or a form of one that is."""
    long = tuple(word for word in wanted if len(word) >= PREFIX)
    starts = {word[:PREFIX] for word in long}
    alike = [word for word in words if word[:PREFIX] in starts]
    forms = {word for word in alike if word.startswith(long) or any(o.startswith(word) for o in long)}
    return forms | (wanted & words)


@lru_cache(maxsize=20_000)
def _path_stems(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stemmed words of a file's name and of its folder; ``__init__`` and ``index`` take their folder's name."""
    folder, _, name = path.rpartition("/")
    own = tokens.path_words(name.rpartition(".")[0].replace(".", "_") or name)
    if own in (("init",), ("index",), ("mod",), ("lib",), ("main",)) and folder:
        folder, _, name = folder.rpartition("/")
        own = (*tokens.path_words(name),)
    stems = tuple(map(tokens.stem, own))
    folders = tuple(map(tokens.stem, tokens.path_words(folder.rpartition("/")[2])))
    return _telling(stems) or stems, _telling(folders)


def _telling(stems: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in stems if word not in ROLE_WORDS)
