"""Report ranking: the functions of the first files of a long query, ranked on their own.

A report describes what goes wrong in many words, a few of which are in each of many functions, and the one to mend is
often in no channel's list. So every function of the first files is a place, and so is every chunk outside of them. Its
score is that of its file and, by a linear model of its own, what its lines have of each part of the report, how near
they are in meaning, and whether the report names it. Files are in the order of their best places.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from dowse.code import tokens
from dowse.search.query.keywords import inverse_frequency
from dowse.search.ranking.candidates import Candidate
from dowse.search.ranking.features.context import FeatureContext
from dowse.search.ranking.fusion import Contribution
from dowse.search.ranking.learned_ranking import LearnedRanking, ScoredFile
from dowse.types.queries import QueryView
from dowse.types.source import Entity, Kind
from dowse.types.stored import StoredFile, chunk_id

WEIGHTS_FILE = Path(__file__).with_name("report_weights.json")

RANKED_FILES = 12
"""Files whose functions are ranked, best first: their texts are read anyway."""

MAX_PLACES = 12
"""Places that a file keeps: the answer should show other files too."""

MAX_FILE_BYTES = 400_000
"""A longer file takes too long to be read for a query; its places stay as they are."""

MESSAGE_TERMS = 20
"""Terms of a message that count."""

SATURATION, LENGTH_SHARE, USUAL_BYTES = 1.2, 0.75, 1000
"""BM25's constants, and the length of a usual function, for how often terms are in one."""

MIN_NAME_LETTERS = 4
"""A shorter name is said without meaning a function."""

FUNCTION_KINDS = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.MACRO})
VIEWS = ("title", "prose", "code", "message")

FEATURES = (
    "file_score",  # of its file, by the learned ranking
    *VIEWS,  # how much of each part of the report its lines have, by the worth of terms and how often they are there
    "found",  # fused score of its chunk, compared with the best of all
    "meaning",  # cosine of its chunk
    "name_overlap",  # share of its name that the report has
    "named",  # the report has its name
    "owner_named",  # and that of its class
    "owner_overlap",
    "called",  # what the report names uses it
    "is_function",  # or a chunk outside of functions
    "is_special",  # a special method, a constructor
    "length",  # logarithm of its lines
    "history",  # evidence of earlier commits for its file, compared with the best file
)
UNIT_FEATURES = FEATURES[1:]
GROUPS: Mapping[str, tuple[str, ...]] = {
    **{view: (view,) for view in VIEWS},
    "function": tuple(name for name in FEATURES if name not in (*VIEWS, "file_score", "history")),
    "earlier_changes": ("history",),
}
"""What is said of a hit, each by what its features add."""

_SCORE = attrgetter("score")
_CONSTRUCTORS = frozenset({"constructor", "new", "main", "init"})


class Unit(NamedTuple):
    """A function, or a chunk outside of all functions: its lines, and the chunks that they are in."""

    definition: int | None
    name: str
    owner: str
    first: int
    last: int
    chunks: range


class ReadFile(NamedTuple):
    """A file whose units are scored: its words by line, where lines begin, and what channels found in its chunks."""

    file: ScoredFile
    lines: Sequence[Sequence[bytes]]
    line_starts: Sequence[int]
    found: Mapping[int, float]  # fused scores by chunk
    cosines: Sequence[float]
    history: float

    def measure_bytes(self, unit: Unit) -> int:
        """Measure how long the lines of a unit are."""
        last = len(self.line_starts) - 1
        return self.line_starts[min(unit.last, last)] - self.line_starts[min(unit.first - 1, last)]

    def list_words(self, unit: Unit) -> Iterator[bytes]:
        """List the words of a unit."""
        return chain.from_iterable(self.lines[unit.first - 1 : unit.last])


@dataclass(slots=True)
class ScoredUnit:
    """A unit of a file with its features."""

    file: ScoredFile
    unit: Unit
    values: dict[str, float]
    score: float = 0.0  # of all features but that of the file

    @property
    def path(self) -> str:
        """The path of its file."""
        return self.file.file.file.path

    @property
    def qualified(self) -> str:
        """The qualified name of the function; empty outside of functions."""
        definition = self.unit.definition
        return "" if definition is None else self.file.file.file.parsed.entities[definition].qualified


class ReportRanking:
    """The places of the first files of one query, scored by what their functions say."""

    def __init__(self, context: FeatureContext, scored: LearnedRanking, file_share: float) -> None:
        self._context = context
        self._scored = scored
        self._file_share = file_share
        views = context.query.views
        terms = {view.name: self._score_terms(view) for view in views}
        self._views = {name: (worths, sum(worths.values())) for name, worths in terms.items() if worths}
        self._worths = {**context.worths, **terms.get("message", {})}
        self._written = frozenset(run for view in views for run in tokens.split_runs(view.text))
        self._wanted = frozenset(self._worths)
        self._top_score = (context.files[0].places[0].score if context.files else 0.0) or 1.0
        self._units: dict[tuple[int, int | None], ScoredUnit] = {}
        self._reference = 0.0

    def _score_terms(self, view: QueryView) -> dict[str, float]:
        """Score the terms of a part of the report: those of the query, and of a message its own."""
        found = dict.fromkeys(tokens.tokenize(view.text).split())
        known = self._context.worths
        if view.name != "message":
            return {term: known[term] for term in found if term in known}
        snapshot = self._context.snapshot
        seen = {term: snapshot.document_frequency(term) for term in list(found)[:MESSAGE_TERMS]}
        chunks = snapshot.chunk_count()
        return {term: inverse_frequency(count, chunks) for term, count in seen.items() if count}

    def rank(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Rank the units of the first files in place of the places that channels found there."""
        by_file: dict[int, list[ScoredUnit]] = {}
        for one in sorted(self.compute(), key=_SCORE, reverse=True):
            by_file.setdefault(one.file.file.file.id, []).append(one)
        if not by_file:
            return list(candidates)
        self._reference = _find_median(units[0].score for units in by_file.values())
        ranked = [candidate for candidate in candidates if candidate.file.id not in by_file]
        for units in by_file.values():
            for one in units[:MAX_PLACES]:
                place = self._make_place(one)
                self._units[place.key] = one
                ranked.append(place)
        return ranked

    @property
    def _scale(self) -> float:
        """What a unit of the model's score is in that of places."""
        return self._file_share / load_weights()["file_score"]

    def compute(self) -> list[ScoredUnit]:
        """Compute the features of every unit of the first files."""
        read = [
            file
            for file in self._scored.files[:RANKED_FILES]
            if file.file.file.parsed.chunks[-1].end <= MAX_FILE_BYTES
        ]
        self._context.snapshot.prefetch([file.file.file.id for file in read])
        contents = [self._read(file) for file in read]
        words = frozenset().union(*[chain.from_iterable(content.lines) for content in contents])
        terms = tokens.find_words(words, self._wanted)
        weights = load_weights()
        found: list[ScoredUnit] = []
        named: set[bytes] = set()
        for content in contents:
            for unit in list_units(content.file.file.file):
                one = ScoredUnit(content.file, unit, self._compute_unit(unit, content, terms))
                found.append(one)
                if one.values["named"] and not one.values["is_special"]:
                    named.update(content.list_words(unit))
        for one in found:
            name = one.unit.name
            is_called = len(name) >= MIN_NAME_LETTERS and name.encode() in named and not one.values["named"]
            one.values["called"] = float(is_called)
            one.score = sum([weights[name] * one.values[name] for name in UNIT_FEATURES])
        return found

    def _read(self, scored: ScoredFile) -> ReadFile:
        context, file = self._context, scored.file.file
        text = context.snapshot.content(file.id)
        starts = list(accumulate([len(line) + 1 for line in text.split(b"\n")], initial=0))
        return ReadFile(
            scored,
            tokens.split_runs_of_lines(text),
            starts,
            {place.ordinal: place.score for place in scored.file.places},
            context.cosines.get(file.id, ()),
            self._history_share(file.path),
        )

    def _compute_unit(
        self, unit: Unit, content: ReadFile, terms: Mapping[bytes, frozenset[str]]
    ) -> dict[str, float]:
        """Compute the features of a unit, but for whether it is called."""
        strengths = _measure_strengths(unit, content, terms)
        cosines, places = content.cosines, content.found
        return {
            "file_score": content.file.score,
            **{view: self._measure_share(view, strengths) for view in VIEWS},
            "found": max([places.get(n, 0.0) for n in unit.chunks], default=0.0) / self._top_score,
            "meaning": max([cosines[n] for n in unit.chunks], default=0.0) if cosines else 0.0,
            "name_overlap": self._measure_overlap(unit.name),
            "named": float(bool(unit.name) and unit.name in self._written),
            "owner_named": float(bool(unit.owner) and unit.owner in self._written),
            "owner_overlap": self._measure_overlap(unit.owner),
            "called": 0.0,
            "is_function": float(unit.definition is not None),
            "is_special": float(unit.name.startswith("__") or unit.name in _CONSTRUCTORS),
            "length": math.log(2 + unit.last - unit.first),
            "history": content.history,
        }

    def _history_share(self, path: str) -> float:
        evidence = self._context.history_by_path
        return evidence[path].score / self._context.top_history if path in evidence else 0.0

    def _measure_share(self, view: str, strengths: Mapping[str, float]) -> float:
        """Measure how much of a part of the report some lines have."""
        if not strengths or view not in self._views:
            return 0.0
        worths, total = self._views[view]
        both = [strengths[term] * worths[term] for term in strengths.keys() & worths.keys()]
        return math.fsum(both) / total

    def _measure_overlap(self, name: str) -> float:
        """Measure the share of a name that the report has."""
        if not name:
            return 0.0
        found = frozenset(tokens.tokenize_runs((name,)).split())
        return len(found & self._worths.keys()) / len(found) if found else 0.0

    def _make_place(self, one: ScoredUnit) -> Candidate:
        """Make the candidate for a unit: in the chunk of it that was found best, else is nearest in meaning."""
        file, unit = one.file.file, one.unit
        found = {place.ordinal: place for place in file.places}
        cosines = self._context.cosines.get(file.file.id)
        ordinal = max(
            unit.chunks,
            key=lambda n: (found[n].score if n in found else 0.0, cosines[n] if cosines else 0.0, -n),
        )
        contributions: list[Contribution] = (
            [*found[ordinal].contributions] if ordinal in found else [("report", 0.0, "")]
        )
        chunk = file.file.parsed.chunks[ordinal]
        score = self._file_share * one.file.score + self._scale * (one.score - self._reference)
        id = chunk_id(file.file.id, ordinal)
        return Candidate(id, ordinal, file.file, chunk, score, contributions, definition=unit.definition)

    def explain(self, place: Candidate) -> Iterator[Contribution]:
        """List what the score of a place is made of: its file's groups of features, and the parts of the report."""
        one = self._units.get(place.key)
        if one is None:
            yield from self._scored.explain(place)
            return
        yield from self._scored.explain_file(one.file, place)
        weights, values = load_weights(), one.values
        for group, names in GROUPS.items():
            value = self._scale * sum(weights[name] * values[name] for name in names)
            if group == "function":
                value -= self._scale * self._reference
            if value:
                yield group, value, self._describe(group, one)
        yield from place.adjustments

    def _describe(self, group: str, one: ScoredUnit) -> str:
        """Say in words what a group found in a unit."""
        if group in VIEWS:
            return f"{one.values[group]:.0%} of the {group} of the report"
        if group == "earlier_changes":
            return "earlier commits like the report changed this file"
        said = [
            text
            for name, text in (
                ("named", "the report names it"),
                ("owner_named", "and its class"),
                ("called", "what the report names uses it"),
            )
            if one.values[name]
        ]
        return ", ".join(said) or f"compared with the {len(self._units)} places of the first files"


def _measure_strengths(
    unit: Unit, content: ReadFile, terms: Mapping[bytes, frozenset[str]]
) -> Mapping[str, float]:
    """Measure how strongly a unit speaks of each term of the report, by how often it does and how long it is."""
    times: dict[str, int] = {}
    for word in filter(terms.__contains__, content.list_words(unit)):
        for term in terms[word]:
            times[term] = times.get(term, 0) + 1
    norm = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * content.measure_bytes(unit) / USUAL_BYTES)
    return {term: count / (count + norm) for term, count in times.items()}


def list_units(file: StoredFile) -> list[Unit]:
    """List the functions of a file, and its chunks outside of them."""
    chunks = file.parsed.chunks
    starts, ends = [chunk.start_line for chunk in chunks], [chunk.end_line for chunk in chunks]
    found: list[Unit] = []
    covered: set[int] = set()
    for index, entity in enumerate(file.parsed.entities):
        if entity.kind in FUNCTION_KINDS:
            own = range(bisect_left(ends, entity.start_line), bisect_left(starts, entity.end_line + 1))
            if own:
                covered.update(own)
                found.append(
                    Unit(index, entity.name, _find_owner(entity), entity.start_line, entity.end_line, own)
                )
    for ordinal, chunk in enumerate(chunks):
        if ordinal not in covered:
            found.append(Unit(None, "", "", chunk.start_line, chunk.end_line, range(ordinal, ordinal + 1)))
    return found


def _find_median(values: Iterable[float]) -> float:
    """Find the median; ``statistics`` takes longer to import than to rank a report."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return (ordered[half] + ordered[~half]) / 2


def _find_owner(entity: Entity) -> str:
    """Find the name of what a method belongs to."""
    return entity.qualified.rpartition(".")[0].rpartition(".")[2]


@lru_cache(maxsize=1)
def load_weights() -> Mapping[str, float]:
    """Load the weights of the features."""
    weights: dict[str, Any] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    return {name: float(weights[name]) for name in FEATURES}
