"""Learned ranking (learning to rank): score the files of a query by a linear model, then the places within them.

A file's score is the sum of its features' contributions. The best place of a file has a share of that score; another
place has less, by how much worse its own features are and a step more for each place before it. So a file keeps several
places, an answer shows several files, and the order of files is that of their scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import mul

from dowse.search.ranking.candidates import Candidate, FileCandidate
from dowse.search.ranking.features import (
    FILE_GROUPS,
    NO_TEXT,
    FeatureExtractor,
)
from dowse.search.ranking.features.feature import Values
from dowse.search.ranking.features.places import FUSED_SHARE
from dowse.search.ranking.fusion import Contribution
from dowse.search.ranking.model import RankingModel

READ_FILES = 12
"""Files whose text is read, best first by the other features: each takes time, and the others hardly come up."""


class ScoredFile:
    """A file with its features and its score."""

    __slots__ = ("features", "file", "score", "text")

    def __init__(self, file: FileCandidate, features: Values, text: Values, score: float) -> None:
        self.file = file
        self.features = features
        self.text = text
        self.score = score


class LearnedRanking:
    """Rerank what fusion brought for one query: its files and places, scored by the model."""

    def __init__(
        self, model: RankingModel, extractor: FeatureExtractor, read_files: int = READ_FILES
    ) -> None:
        self._model = model
        self._extractor = extractor
        self.files = self._score_files(extractor.context.files, read_files)
        self._by_id = {scored.file.file.id: scored for scored in self.files}
        self._gaps: dict[int, float] = {}
        self._group_sums: dict[int, dict[str, float]] = {}
        self._descriptions: dict[tuple[str, int], str] = {}

    def _score_files(self, files: Sequence[FileCandidate], read_files: int) -> list[ScoredFile]:
        """Score every file, and read the text of the first."""
        model, extractor = self._model, self._extractor
        scored = []
        for file in files:
            features = extractor.compute_file(file)
            scored.append(ScoredFile(file, features, NO_TEXT, sum(map(mul, model.file, features))))
        scored.sort(key=lambda each: -each.score)
        read = scored[:read_files]
        extractor.read([each.file for each in read])
        for each in read:
            each.text = extractor.compute_text(each.file)
            each.score += sum(map(mul, model.text, each.text))
        return scored

    def score_places(self) -> list[Candidate]:
        """Score the places of every file; in no order."""
        found: list[Candidate] = []
        for each in self.files:
            base = self._model.file_share * each.score
            for place, gap in zip(each.file.places, self._list_gaps(each), strict=True):
                place.score = base + gap
                self._gaps[place.id] = gap
                found.append(place)
        return found

    def _list_gaps(self, scored: ScoredFile) -> list[float]:
        """List how much worse each place of a file is than its best: zero or less.

        Of files that are not read, which are far behind, only the fused scores of places count.
        """
        places = scored.file.places
        if len(places) == 1:
            return [0.0]
        if scored.text is NO_TEXT:
            weight, top = self._model.place[FUSED_SHARE], places[0].score or 1.0
            scores = [weight * place.score / top for place in places]
        else:
            values = self._extractor.compute_places(scored.file)
            scores = [sum(map(mul, self._model.place, each)) for each in values]
        order = sorted(range(len(scores)), key=lambda i: -scores[i])
        best, gaps = scores[order[0]], [0.0] * len(scores)
        for further, i in enumerate(order):
            gaps[i] = scores[i] - best - self._model.further_place * further
        return gaps

    def estimate_relevances(self, candidates: Sequence[Candidate]) -> dict[tuple[int, int | None], float]:
        """Estimate how likely each candidate, best first, is right; without words, whatever is found is right."""
        if not candidates or not self._extractor.context.wanted:
            return {candidate.key: 1.0 for candidate in candidates}
        first = self._by_id.get(candidates[0].file.id)
        if first is None:
            return self._model.relevance.estimate(0.0, candidates)
        text = self._extractor.compute_text(first.file) if first.text is NO_TEXT else first.text
        likely = self._model.relevance.estimate_first((*first.features, *text))
        return self._model.relevance.estimate(likely, candidates)

    def explain(self, place: Candidate) -> Iterator[Contribution]:
        """List what the score of a place is made of: each group of features of its file, and its own gap."""
        if place.id not in self._gaps:  # it was added
            yield from place.contributions
        else:
            yield from self.explain_file(self._by_id[place.file.id], place)
            if gap := self._gaps[place.id]:
                yield "place", gap, "another place of the file is better"
        yield from place.adjustments

    def explain_file(self, scored: ScoredFile, place: Candidate) -> Iterator[Contribution]:
        """List what the score of a file adds to that of a place, by groups of features."""
        ranks = {name: why for name, _, why in place.contributions}
        if (sums := self._group_sums.get(place.file.id)) is None:
            sums = self._group_sums[place.file.id] = self._add_up_groups(scored)
        for group, value in sums.items():
            if value or group in ranks:
                rank = ranks.get(group) if group != "history" else None  # which names the commit
                why = rank or self._describe(group, scored)
                yield group, self._model.file_share * value, why

    def _describe(self, group: str, scored: ScoredFile) -> str:
        """Say what a group of features found in a file; once for all its places."""
        key = group, scored.file.file.id
        if (said := self._descriptions.get(key)) is None:
            said = self._descriptions[key] = self._extractor.describe(group, scored.file, scored.text)
        return said

    def _add_up_groups(self, scored: ScoredFile) -> dict[str, float]:
        weights, values = (*self._model.file, *self._model.text), (*scored.features, *scored.text)
        return {group: sum(map(mul, weights[own], values[own])) for group, own in FILE_GROUPS.items()}
