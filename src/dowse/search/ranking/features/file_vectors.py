"""Dense features of whole files: the cosines of all chunks of a file with the query, not only of those found."""

from __future__ import annotations

from dowse.search.ranking.candidates import FileCandidate
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.feature import Feature, Values

FEATURES = {
    "best_cosine": Feature("file_vectors", 1),
    "mean_cosine": Feature("file_vectors", 1),  # nearly that of the file's centroid
    "top_cosines": Feature("file_vectors", 1),  # mean of the best three
    "mean_share": Feature("file_vectors", 1),  # the mean, between the worst (0) and the best (1) of all files
}

TOP_CHUNKS = 3


class FileCosines:
    """The cosines of files with one query, compared with each other."""

    def __init__(self, context: FeatureContext) -> None:
        self._cosines = context.cosines
        means = [sum(each) / len(each) for each in self._cosines.values() if each]
        self._worst = min(means, default=0.0)
        self._spread = (max(means, default=0.0) - self._worst) or 1.0

    def compute(self, file: FileCandidate) -> Values:
        """Compute the features of one file, in the order of the table."""
        cosines = self._cosines.get(file.file.id)
        if not cosines:
            return (0.0,) * len(FEATURES)
        mean, best = sum(cosines) / len(cosines), sorted(cosines, reverse=True)[:TOP_CHUNKS]
        return best[0], mean, sum(best) / len(best), (mean - self._worst) / self._spread
