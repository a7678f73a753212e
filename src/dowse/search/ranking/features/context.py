"""Feature input: one query over one snapshot, the worth of its terms, and the files under consideration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from dowse.code import tokens
from dowse.embedders.embedder import MatchesWords
from dowse.frozen import frozen
from dowse.search.channels.request import Retrieved
from dowse.search.query.analyze import get_last_part
from dowse.search.query.keywords import inverse_frequency
from dowse.search.query.name_spelling import list_spelled_names
from dowse.search.ranking.candidates import Candidate, FileCandidate
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Query

if TYPE_CHECKING:
    from dowse.search.commit_index import CommitIndex, FileEvidence

NO_EVIDENCE: Mapping[str, FileEvidence] = {}


@frozen(slots=False)
class FeatureContext:
    """What the features of all files of a query have in common."""

    snapshot: Snapshot
    query: Query
    channels: Mapping[str, Retrieved]
    files: Sequence[FileCandidate]
    cosines: Mapping[int, Sequence[float]]
    """The cosine of every chunk of each file with the query, by the id of the file; empty without vectors."""
    history: CommitIndex | None = None
    word_vectors: MatchesWords | None = None
    """Compares single words by meaning, where meaning counts."""
    history_by_path: Mapping[str, FileEvidence] = NO_EVIDENCE
    """What earlier commits say of each file."""

    @cached_property
    def frequencies(self) -> Mapping[str, int]:
        """The document frequency of each term of the query: how many chunks have it."""
        return {term.text: self.snapshot.document_frequency(term.text) for term in self.query.terms}

    @cached_property
    def worths(self) -> Mapping[str, float]:
        """The worth of each term of the query: its weight times its inverse document frequency."""
        chunks, frequencies = self.snapshot.chunk_count(), self.frequencies
        return {t.text: t.weight * inverse_frequency(frequencies[t.text], chunks) for t in self.query.terms}

    @cached_property
    def top_history(self) -> float:
        """How strongly the history speaks for the file that it speaks for most; never zero."""
        return max((evidence.score for evidence in self.history_by_path.values()), default=0.0) or 1.0

    @cached_property
    def total_worth(self) -> float:
        """The worth of the whole query; never zero."""
        return sum(self.worths.values()) or 1.0

    @cached_property
    def rarest_term(self) -> str:
        """The term that is worth most."""
        return max(self.worths, key=self.worths.__getitem__, default="")

    @cached_property
    def wanted(self) -> frozenset[str]:
        """The terms of the query."""
        return frozenset(self.worths)

    @cached_property
    def naming_words(self) -> frozenset[str]:
        """The stems of the query that a file or a definition can be named with."""
        return frozenset(word for word in self.query.words if len(word) > 1)

    @cached_property
    def joined_words(self) -> frozenset[str]:
        """Neighbouring words of the query in one, as in a file that is called ``threadpool.c``."""
        words = [
            part for word in tokens.split_words(self.query.text) for part in tokens.split_identifier(word)
        ]
        return frozenset(tokens.stem(one + other) for one, other in pairwise(words))

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """The names that the query asks for: their last parts, in lower case."""
        return frozenset(get_last_part(name).lower() for name in list_spelled_names(self.query))

    def list_places(self) -> list[Candidate]:
        """List the places of all files."""
        return [place for file in self.files for place in file.places]

    def compute_share(self, terms: frozenset[str]) -> float:
        """Compute the share of the query that some of its terms are, by their worth."""
        return sum([worth for term, worth in self.worths.items() if term in terms]) / self.total_worth
