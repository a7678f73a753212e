"""Channel features: the best score and rank that each channel and their fusion give to the chunks of a file."""

from __future__ import annotations

import math

from dowse.search.ranking.candidates import FileCandidate
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.features.feature import Feature, Values
from dowse.types.stored import CHUNK_BITS

FEATURES = {
    "lexical_share": Feature("lexical", 1),  # best score in the file, compared with the best of all
    "lexical_strength": Feature("lexical", 1),  # compared with what the whole query is worth
    "lexical_rank": Feature("lexical", 1),  # reciprocal rank among the files of the channel
    "dense_share": Feature("dense", 1),  # best cosine, between the last (0) and the first (1) of the channel
    "dense_rank": Feature("dense", 1),
    "names_match": Feature("names", 1),
    "files_match": Feature("files", 1, prior=2.0, least=1.0),  # the query names it
    "places_rank": Feature("places", 1, prior=20.0, least=20.0),  # more than all words of a message together
    "phrases_match": Feature("phrases", 1, prior=6.0, least=4.0),  # the literal that gave the query's message
    "phrases_rank": Feature("phrases", 1, prior=1.0),
    "history_match": Feature(
        "history", 1
    ),  # messages of commits that changed the file, compared with the query
    "history_share": Feature("history", 1),  # compared with the best of all files
    "history_rank": Feature("history", 1),
    "exact_match": Feature("exact", 1),
    "versions_match": Feature("versions", 1, prior=4.0, least=4.0),  # code that hardly says the query's words
    "fused_share": Feature("fused", 1),  # best fused score in the file, compared with the best of all
    "fused_sum_share": Feature("fused", 1),  # sum of its fused scores, likewise
    "found_chunks": Feature("fused", 0),  # logarithm of how many of its chunks were found
}

NOT_FOUND = (0.0, 0)


class ChannelScores:
    """The best score and the rank of each file in each channel of one query."""

    def __init__(self, context: FeatureContext) -> None:
        self._context = context
        self._best: dict[str, dict[int, tuple[float, int]]] = {}
        for name, channel in context.channels.items():
            best: dict[int, tuple[float, int]] = {}
            for chunk, score in channel.hits:
                file = chunk >> CHUNK_BITS
                if file not in best:
                    best[file] = (score, len(best) + 1)
            self._best[name] = best
        lexical, dense = self._list_scores("lexical"), self._list_scores("dense")
        self._top_lexical = max(lexical, default=0.0) or 1.0
        self._top_history = max(self._list_scores("history"), default=0.0) or 1.0
        self._last_dense = min(dense, default=0.0)
        self._dense_spread = (max(dense, default=0.0) - self._last_dense) or 1.0
        self._total_worth = context.total_worth
        self._top_fused = max([file.places[0].score for file in context.files], default=0.0) or 1.0
        self._top_sum = max([file.fused_sum for file in context.files], default=0.0) or 1.0

    def _list_scores(self, channel: str) -> list[float]:
        return [score for score, _ in self._best.get(channel, {}).values()]

    def compute(self, file: FileCandidate) -> Values:
        """Compute the features of one file, in the order of the table."""
        id = file.file.id
        found = {name: best.get(id, NOT_FOUND) for name, best in self._best.items()}
        lexical, lexical_rank = found.get("lexical", NOT_FOUND)
        dense, dense_rank = found.get("dense", NOT_FOUND)
        places, places_rank = found.get("places", NOT_FOUND)
        history, history_rank = found.get("history", NOT_FOUND)
        phrases, phrases_rank = found.get("phrases", NOT_FOUND)
        return (
            lexical / self._top_lexical,
            lexical / self._total_worth,
            1.0 / lexical_rank if lexical_rank else 0.0,
            (dense - self._last_dense) / self._dense_spread if dense_rank else 0.0,
            1.0 / dense_rank if dense_rank else 0.0,
            found.get("names", NOT_FOUND)[0],
            found.get("files", NOT_FOUND)[0],
            places / places_rank if places_rank else 0.0,
            phrases,
            phrases / phrases_rank if phrases_rank else 0.0,
            history,
            history / self._top_history,
            1.0 / history_rank if history_rank else 0.0,
            found.get("exact", NOT_FOUND)[0],
            found.get("versions", NOT_FOUND)[0],
            file.places[0].score / self._top_fused,
            file.fused_sum / self._top_sum,
            math.log(len(file.places)),
        )

    def describe_history(self, file: FileCandidate) -> str:
        """Name the commit that speaks most for a file, and say how many do."""
        evidence = self._context.history_by_path.get(file.file.path)
        if evidence is None or self._context.history is None:
            return ""
        others = len(evidence.commits) - 1
        more = f" and {others} more" if others else ""
        return f"changed by {self._context.history.labels[evidence.commits[0]]}{more}"
