"""Evaluation runner: execute every query on every variant of the settings, judge the hits and compute metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property

from dowse.engine import Engine
from dowse.errors import UsageError
from dowse.evaluation import judge, metrics
from dowse.evaluation.checkouts import Checkouts, TreeState, choose_tree_state
from dowse.evaluation.eval_types import (
    Dataset,
    Estimate,
    EvalQuery,
    GoldTarget,
    Outcome,
    RankedHit,
    Run,
    Summary,
    Variant,
)
from dowse.search.output import read_place
from dowse.search.output.token_estimate import estimate_tokens
from dowse.types.answers import SearchOptions, SearchResponse

MAX_HITS = 20
"""Hits per query: nobody looks further, and they fill the largest token budget."""

MAX_KEPT_HITS = 10
"""Hits that are kept with an outcome, and whose tokens are compared with those of whole files."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class EvalPlan:
    """How to evaluate: the metrics, and how queries are run and their hits counted.

    ``best_per_file``: only the best hit of each file counts and has a rank. ``cursor``: the editor position of a query
    is used.
    """

    metrics: tuple[str, ...] = metrics.DEFAULT_METRICS
    depth: int = MAX_HITS
    best_per_file: bool = False
    use_cursor_file: bool = True

    @property
    def computed_metrics(self) -> tuple[str, ...]:
        """The metrics that are computed: those asked for, and the points of the token recall curve."""
        curve = (f"token_recall@{budget}" for budget in metrics.TOKEN_BUDGETS)
        return tuple(dict.fromkeys([*self.metrics, *curve]))


def evaluate(
    engine: Engine,
    dataset: Dataset,
    variants: Sequence[Variant],
    plan: EvalPlan,
    progress: Progress | None = None,
) -> tuple[Run, ...]:
    """Run every query on every variant; outcomes are in the order of the queries."""
    by_state: dict[TreeState, list[EvalQuery]] = defaultdict(list)
    for eval_query in dataset.queries:
        by_state[choose_tree_state(eval_query)].append(eval_query)
    outcomes: dict[str, dict[str, Outcome]] = {variant.name: {} for variant in variants}
    done, total = 0, len(dataset.queries) * len(variants)
    with ExitStack() as stack:
        checkouts = Checkouts(engine, stack, progress)
        for state, eval_queries in by_state.items():
            for variant in variants:
                runner = _QueryRunner(
                    checkouts.prepare_engine(state, variant.settings), plan, dataset.suffix_paths
                )
                for eval_query in eval_queries:
                    outcomes[variant.name][eval_query.id] = runner.run(eval_query)
                    done += 1
                    if progress:
                        progress("evaluate", done, total)
    ordered = {name: tuple(found[q.id] for q in dataset.queries) for name, found in outcomes.items()}
    return tuple(Run(v, ordered[v.name], summarize(ordered[v.name], plan.computed_metrics)) for v in variants)


@dataclass
class _QueryRunner:
    """Runs queries on one engine, and remembers what is known of its files."""

    engine: Engine
    plan: EvalPlan
    suffix_paths: bool

    def __post_init__(self) -> None:
        self._file_tokens: dict[str, int] = {}
        self._token_costs: dict[tuple[str, int, int], int] = {}

    def run(self, eval_query: EvalQuery) -> Outcome:
        """Run a query and measure its hits; a query that is refused finds nothing, and the outcome says why."""
        targets, missing = self._locate_targets(eval_query.relevant)
        try:
            options = SearchOptions(limit=self.plan.depth, near=self._find_near_files(eval_query.cursor_file))
            response = self.engine.search(eval_query.query, options)
        except UsageError as error:
            response, problem = None, str(error)
        else:
            problem = ""
        hits = self._reduce_hits(response) if response else []
        if self.plan.best_per_file:
            hits = judge.keep_best_per_file(hits)
        judgement = judge.judge(targets, hits, suffix_paths=self.suffix_paths)
        wording = response.query.rewrite if response else None
        return Outcome(
            id=eval_query.id,
            query=eval_query.query,
            category=eval_query.category,
            relevant=tuple(map(str, eval_query.relevant)),
            ranks=judgement.ranks,
            values=metrics.compute_metrics(judgement, self.plan.computed_metrics),
            milliseconds=response.milliseconds if response else 0.0,
            tokens=sum(judgement.costs[:MAX_KEPT_HITS]),
            whole_tokens=sum(
                map(self._count_file_tokens, dict.fromkeys(hit.path for hit in hits[:MAX_KEPT_HITS]))
            ),
            found=tuple(f"{hit.path}:{hit.start}-{hit.end}" for hit in hits[:MAX_KEPT_HITS]),
            missing=missing,
            enriched=wording.enriched if wording and wording.enriched != wording.original else "",
            added=tuple(added.term for added in wording.added) if wording else (),
            error=problem,
        )

    def _find_near_files(self, cursor: str) -> tuple[tuple[str, float], ...]:
        """Find the files near the editor position; none if it is not given, or not in the index."""
        is_known = read_place.parse_position(cursor)[0] in self._paths
        return self.engine.near(cursor) if self.plan.use_cursor_file and is_known else ()

    def _reduce_hits(self, response: SearchResponse) -> list[RankedHit]:
        """Reduce the hits of a response to what is judged; token costs are cached by span."""
        hits = []
        for hit in response.results:
            key = (hit.path, hit.start_line, hit.end_line)
            if key not in self._token_costs:
                self._token_costs[key] = estimate_tokens(hit.text)
            hits.append(RankedHit(*key, hit.entity, self._token_costs[key]))
        return hits

    def _locate_targets(self, targets: Sequence[GoldTarget]) -> tuple[list[GoldTarget], tuple[str, ...]]:
        """Add the lines of definitions to targets; list the targets that the index does not have."""
        located, missing = [], []
        for target in targets:
            spans = self._definitions.get((target.path, target.entity), ()) if target.entity else ()
            located.append(target._replace(start=spans[0], end=spans[1]) if spans else target)
            known = spans if target.entity else target.path in self._paths
            if not known and not (self.suffix_paths and self._has_path_suffix(target.path)):
                missing.append(str(target))
        return located, tuple(missing)

    def _has_path_suffix(self, path: str) -> bool:
        return any(known.endswith("/" + path) or path.endswith("/" + known) for known in self._paths)

    @cached_property
    def _paths(self) -> frozenset[str]:
        with self.engine.store.snapshot() as snapshot:
            return frozenset(snapshot.manifest())

    @cached_property
    def _definitions(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        """First and last line of every definition, by path and qualified name; of several, the first counts."""
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for file in self.engine.files():
            for entity in file.parsed.entities:
                found.setdefault((file.path, entity.qualified), (entity.start_line, entity.end_line))
        return found

    def _count_file_tokens(self, path: str) -> int:
        if path not in self._file_tokens:
            with self.engine.store.snapshot() as snapshot:
                file = snapshot.file_at(path)
                text = snapshot.content(file.id).decode("utf-8", "replace") if file else ""
            self._file_tokens[path] = estimate_tokens(text)
        return self._file_tokens[path]


def summarize(outcomes: Sequence[Outcome], names: Sequence[str]) -> Summary:
    """Compute means with intervals, overall and by category."""
    categories = sorted({outcome.category for outcome in outcomes if outcome.category})
    times = [outcome.milliseconds for outcome in outcomes if not outcome.error]
    return Summary(
        overall=_estimate_metrics(outcomes, names),
        categories={
            category: _estimate_metrics([o for o in outcomes if o.category == category], names)
            for category in categories
        },
        latency_p50=metrics.percentile(times, 0.5),
        latency_p95=metrics.percentile(times, 0.95),
        tokens=metrics.mean(outcome.tokens for outcome in outcomes),
        whole_tokens=metrics.mean(outcome.whole_tokens for outcome in outcomes),
    )


def _estimate_metrics(outcomes: Sequence[Outcome], names: Sequence[str]) -> dict[str, Estimate]:
    columns = {name: [o.values[name] for o in outcomes if name in o.values] for name in names}
    return {name: metrics.estimate(values) for name, values in columns.items() if values}
