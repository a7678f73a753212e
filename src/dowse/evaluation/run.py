"""Asks every question, of every variant, and measures the answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property

from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.evaluation import judge, metrics
from dowse.evaluation.checkouts import Setting, Trees, setting_of
from dowse.evaluation.eval_types import (
    Dataset,
    Estimate,
    Outcome,
    Place,
    Question,
    Run,
    Summary,
    Target,
    Variant,
)
from dowse.search.output.token_estimate import estimate_tokens
from dowse.types import SearchOptions, SearchResponse

DEPTH = 20
"""Results that are asked for: nobody looks further, and they fill the largest budget of tokens."""

SHOWN = 10
"""Results that are kept with an outcome, and whose tokens are counted against those of whole files."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to measure.

    ``files``: of each file only its best result counts and has a rank. ``cursor``: a question is asked from the file
    that it names as the asker's.
    """

    metrics: tuple[str, ...] = metrics.DEFAULT
    depth: int = DEPTH
    files: bool = False
    cursor: bool = True

    @property
    def computed(self) -> tuple[str, ...]:
        """What is measured, and the points of the curve of token recall."""
        curve = (f"token_recall@{budget}" for budget in metrics.BUDGETS)
        return tuple(dict.fromkeys([*self.metrics, *curve]))


def evaluate(
    engine: Engine,
    dataset: Dataset,
    variants: Sequence[Variant],
    plan: Plan,
    progress: Progress | None = None,
) -> tuple[Run, ...]:
    """One run for each variant, with the outcomes in the order of the questions."""
    by_setting: dict[Setting, list[Question]] = defaultdict(list)
    for question in dataset.questions:
        by_setting[setting_of(question)].append(question)
    outcomes: dict[str, dict[str, Outcome]] = {variant.name: {} for variant in variants}
    done, total = 0, len(dataset.questions) * len(variants)
    with ExitStack() as stack:
        trees = Trees(engine, stack, progress)
        for setting, questions in by_setting.items():
            for variant in variants:
                asker = _Asker(trees.engine(setting, variant.settings), plan, dataset.suffix_paths)
                for question in questions:
                    outcomes[variant.name][question.id] = asker.outcome(question)
                    done += 1
                    if progress:
                        progress("evaluate", done, total)
    ordered = {name: tuple(found[q.id] for q in dataset.questions) for name, found in outcomes.items()}
    return tuple(Run(v, ordered[v.name], summary(ordered[v.name], plan.computed)) for v in variants)


@dataclass
class _Asker:
    """One engine, and what is known of its files."""

    engine: Engine
    plan: Plan
    suffix_paths: bool

    def __post_init__(self) -> None:
        self._whole: dict[str, int] = {}
        self._costs: dict[tuple[str, int, int], int] = {}

    def outcome(self, question: Question) -> Outcome:
        """A question asked and measured; one that cannot be asked finds nothing, and says why."""
        targets, missing = self._located(question.relevant)
        try:
            options = SearchOptions(limit=self.plan.depth, near=self._near(question.cursor_file))
            response = self.engine.search(question.query, options)
        except UsageError as error:
            response, problem = None, str(error)
        else:
            problem = ""
        places = self._places(response) if response else []
        if self.plan.files:
            places = judge.first_of_each_file(places)
        judged = judge.judge(targets, places, suffix_paths=self.suffix_paths)
        wording = response.query.rewrite if response else None
        return Outcome(
            id=question.id,
            query=question.query,
            category=question.category,
            relevant=tuple(map(str, question.relevant)),
            ranks=judged.ranks,
            values=metrics.measured(judged, self.plan.computed),
            milliseconds=response.milliseconds if response else 0.0,
            tokens=sum(judged.costs[:SHOWN]),
            whole_tokens=sum(map(self._whole_tokens, dict.fromkeys(place.path for place in places[:SHOWN]))),
            found=tuple(f"{place.path}:{place.start}-{place.end}" for place in places[:SHOWN]),
            missing=missing,
            enriched=wording.enriched if wording and wording.enriched != wording.original else "",
            added=tuple(added.term for added in wording.added) if wording else (),
            error=problem,
        )

    def _near(self, cursor: str) -> tuple[tuple[str, float], ...]:
        """What is near the asker's file; nothing if none is given, or none that the index has."""
        is_known = cursor in self._paths or cursor.rpartition(":")[0] in self._paths
        return self.engine.near(cursor) if self.plan.cursor and is_known else ()

    def _places(self, response: SearchResponse) -> list[Place]:
        """The results with what they cost; a place that was found before costs the same again."""
        places = []
        for hit in response.results:
            key = (hit.path, hit.start_line, hit.end_line)
            if key not in self._costs:
                self._costs[key] = estimate_tokens(hit.text)
            places.append(Place(*key, hit.entity, self._costs[key]))
        return places

    def _located(self, targets: Sequence[Target]) -> tuple[list[Target], tuple[str, ...]]:
        """The targets with the lines of their definitions, and those that the index does not have."""
        located, missing = [], []
        for target in targets:
            spans = self._definitions.get((target.path, target.entity), ()) if target.entity else ()
            located.append(target._replace(start=spans[0], end=spans[1]) if spans else target)
            known = spans if target.entity else target.path in self._paths
            if not known and not (self.suffix_paths and self._is_end(target.path)):
                missing.append(str(target))
        return located, tuple(missing)

    def _is_end(self, path: str) -> bool:
        return any(known.endswith("/" + path) or path.endswith("/" + known) for known in self._paths)

    @cached_property
    def _paths(self) -> frozenset[str]:
        with self.engine.store.snapshot() as snapshot:
            return frozenset(snapshot.manifest())

    @cached_property
    def _definitions(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        """First and last line of every definition, by path and qualified name; the first of several counts."""
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for file in self.engine.files():
            for entity in file.parsed.entities:
                found.setdefault((file.path, entity.qualified), (entity.start_line, entity.end_line))
        return found

    def _whole_tokens(self, path: str) -> int:
        if path not in self._whole:
            with self.engine.store.snapshot() as snapshot:
                file = snapshot.file_at(path)
                text = snapshot.content(file.id).decode("utf-8", "replace") if file else ""
            self._whole[path] = estimate_tokens(text)
        return self._whole[path]


def summary(outcomes: Sequence[Outcome], names: Sequence[str]) -> Summary:
    """Means with intervals, overall and by category."""
    categories = sorted({outcome.category for outcome in outcomes if outcome.category})
    times = [outcome.milliseconds for outcome in outcomes if not outcome.error]
    return Summary(
        overall=_estimates(outcomes, names),
        categories={
            category: _estimates([o for o in outcomes if o.category == category], names)
            for category in categories
        },
        latency_p50=metrics.percentile(times, 0.5),
        latency_p95=metrics.percentile(times, 0.95),
        tokens=metrics.mean(outcome.tokens for outcome in outcomes),
        whole_tokens=metrics.mean(outcome.whole_tokens for outcome in outcomes),
    )


def _estimates(outcomes: Sequence[Outcome], names: Sequence[str]) -> dict[str, Estimate]:
    columns = {name: [o.values[name] for o in outcomes if name in o.values] for name in names}
    return {name: metrics.estimate(values) for name, values in columns.items() if values}
