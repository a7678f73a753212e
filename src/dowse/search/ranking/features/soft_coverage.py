"""Soft coverage features: how near the words of places come to the query's terms, by vectors of single words.

Like coverage, but a term that a text lacks counts as far as the nearest word of the text means the same. Only with an
embedder that has vectors of words, and where meaning counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dowse.code import chunk_fields, tokens
from dowse.lazy_rows import read_column
from dowse.search.ranking.candidates import Candidate, FileCandidate
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.coverage import READ_PLACES
from dowse.search.ranking.features.feature import Feature, Values

FEATURES = {
    "soft_place_coverage": Feature("soft_coverage", 1),  # of the best of the first places
    "soft_places_coverage": Feature("soft_coverage", 1),  # of the first places together
}

NOTHING: Values = (0.0,) * len(FEATURES)


class SoftCoverage:
    """The soft coverage of the files and places of one query; files that are read together cost less."""

    def __init__(self, context: FeatureContext) -> None:
        self._context = context
        self._files: dict[int, Values] = {}
        self._places: dict[int, float] = {}

    def read(self, files: Iterable[FileCandidate]) -> None:
        """Compare the words of some files."""
        embedder, worths = self._context.word_vectors, self._context.worths
        new = [file for file in files if file.file.id not in self._files]
        places = [file.places[:READ_PLACES] for file in new]
        if embedder is None or not worths:
            self._files.update({file.file.id: NOTHING for file in new})
            return
        texts = [self._join_text(place) for own in places for place in own]
        matched = _add_unknown_words(embedder.match_words(list(worths), texts), worths, texts)
        rows = [(worth, matched[word]) for word, worth in worths.items()]
        total, first = self._context.total_worth, 0
        for file, own in zip(new, places, strict=True):
            numbers = range(first, first + len(own))
            first += len(own)
            covered = [sum([worth * row[n] for worth, row in rows]) / total for n in numbers]
            self._places.update(zip([place.id for place in own], covered, strict=True))
            together = sum([worth * max([row[n] for n in numbers]) for worth, row in rows]) / total
            self._files[file.file.id] = max(covered), together

    def _join_text(self, place: Candidate) -> bytes:
        file, held = place.file, place.definition_indexes
        qualified = read_column(file.parsed.entities, "qualified") if held else ()
        content = self._context.snapshot.content(file.id)
        return chunk_fields.join_searched_text(file.path, content, place.chunk, [qualified[i] for i in held])

    def compute(self, file: FileCandidate) -> Values:
        """Compute the features of one file, in the order of the table."""
        if file.file.id not in self._files:
            self.read([file])
        return self._files[file.file.id]

    def score(self, place: Candidate) -> float:
        """Return the soft coverage of a place of a file that was read; 0 for one beyond the first."""
        return self._places.get(place.id, 0.0)


def _add_unknown_words(
    matched: Mapping[str, Sequence[float]], worths: Mapping[str, float], texts: Sequence[bytes]
) -> Mapping[str, Sequence[float]]:
    """Add words without a vector: a text has them, or it does not."""
    unknown = frozenset(worths).difference(matched)
    if not unknown:
        return matched
    found = [tokens.find_tokens(text, unknown) for text in texts]
    return {**matched, **{word: [float(word in each) for each in found] for word in unknown}}
