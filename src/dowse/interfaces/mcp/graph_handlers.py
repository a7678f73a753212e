"""What the tools about the code graph do: the one of every profile, and the three that LocAgent's agents know."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dowse.engine import Engine
from dowse.errors import EntityAmbiguous, EntityNotFound, UsageError
from dowse.interfaces import render_graph
from dowse.interfaces.entity_lookup import DIRECTIONS, expand_terms, find_entities, parse_types
from dowse.interfaces.mcp import responses
from dowse.interfaces.mcp.handlers import Context, one, states_of
from dowse.interfaces.mcp.responses import Answer, Wish
from dowse.interfaces.theme import escape_text, plain
from dowse.search.output.budget import cut_places
from dowse.types import (
    Detail,
    EntityCode,
    EntityHit,
    GraphAnswer,
    Kind,
    Match,
    PackedHit,
    Reason,
    Relation,
    SearchResult,
    Step,
    Walk,
)

DEPTHS = {"callers": 1, "callees": 1, "deps": 1, "impact": 5, "hierarchy": -1}
"""Steps that are followed unless asked otherwise."""

NODES = 500
"""Nodes of an answer; far fewer fit any budget."""

DETAILS = {"fold": Detail.SIGNATURE, "preview": Detail.PREVIEW, "full": Detail.FULL}


def graph(context: Context, asked: Mapping[str, Any]) -> Answer:
    """One question to the graph."""
    engine, target = _engine(context, asked, asked["target"])
    question = asked["ask"]
    if question == "path" and "to" not in asked:
        raise UsageError("a path needs both ends: 'target' and 'to'")
    walk = Walk(
        depth=asked.get("depth", DEPTHS.get(question, 1)),
        ambiguous=asked.get("ambiguous", False),
        limit=NODES,
    )
    questions: dict[str, Callable[[], GraphAnswer]] = {
        "callers": lambda: engine.graph.callers(target, walk),
        "callees": lambda: engine.graph.callees(target, walk),
        "deps": lambda: engine.graph.deps(target, walk),
        "impact": lambda: engine.graph.impact(target, walk),
        "hierarchy": lambda: engine.graph.hierarchy(target, walk.depth),
        "path": lambda: engine.graph.path(target, asked["to"], ambiguous=walk.ambiguous),
    }
    return _walked(context, engine, questions[question](), asked)


def search_entities(context: Context, asked: Mapping[str, Any]) -> Answer:
    """Entities by id, name, prefix or content, for each term and for all together."""
    started = time.perf_counter()
    engine, _ = _engine(context, asked, "")
    terms = list(asked.get("search_terms", ()))
    if not terms and not asked.get("line_nums"):
        raise UsageError("give 'search_terms', or 'line_nums' with 'file_pattern'")
    kinds, pattern = parse_types(asked.get("entity_types", ())), asked.get("file_pattern", "")
    limit, content = asked.get("limit", 10), asked.get("use_bm25", True)
    found: dict[str, EntityHit] = {}
    for term in expand_terms(terms):
        for hit in find_entities(engine, term, kinds, pattern, limit, content=content):
            found.setdefault(hit.id, hit)
    results = _lines(engine, pattern, asked.get("line_nums", ())) + _as_results(
        engine, _uncovered(found.values())
    )
    tiers = ", ".join(dict.fromkeys(hit.tier for hit in found.values())) or "none"
    milliseconds = (time.perf_counter() - started) * 1e3
    said = f"{len(results)} entities; tiers: {tiers}; {milliseconds:.0f} ms"
    detail = DETAILS[asked["snippet_mode"]] if "snippet_mode" in asked else None
    return _shown(context, engine, results, asked, said, detail)


def traverse_graph(context: Context, asked: Mapping[str, Any]) -> Answer:
    """What is around some entities."""
    engine, _ = _engine(context, asked, "")
    walk = Walk(
        direction=DIRECTIONS[asked.get("direction", "forward")],
        depth=asked.get("depth", 2),
        relations=frozenset(map(Relation, asked.get("relations", ()))),
        kinds=parse_types(asked.get("entity_types", ())),
        limit=NODES,
    )
    return _walked(context, engine, engine.graph.traverse(asked["start_entities"], walk), asked)


def retrieve_entity(context: Context, asked: Mapping[str, Any]) -> Answer:
    """The whole code of entities."""
    engine, _ = _engine(context, asked, "")
    found: list[SearchResult] = []
    problems: list[str] = []
    for id in asked["entity_ids"]:
        try:
            found += map(_as_result, engine.graph.retrieve([id], asked.get("context_lines", 0)))
        except (EntityNotFound, EntityAmbiguous) as error:
            problems.append(str(error))
    if not found:
        return responses.failed("; ".join(problems))
    return _shown(context, engine, found, asked, "; ".join(problems), None)


# --- asking ---------------------------------------------------------------------------------------


def _engine(context: Context, asked: Mapping[str, Any], target: str) -> tuple[Engine, str]:
    """The engine that is asked, its index up to date; a graph ends at the edge of its repository."""
    engines, rest = one(context.engines(asked.get("repo", "")), target)
    (engine,) = engines.values()
    engine.refresh(context.call.progress)
    return engine, rest


def _lines(engine: Engine, path: str, lines: Iterable[int]) -> list[SearchResult]:
    """The definitions around some lines of a file."""
    found = [result for line in lines for result in engine.read(f"{path}:{line}")]
    return list({(result.path, result.start_line, result.end_line): result for result in found}.values())


def _uncovered(hits: Iterable[EntityHit]) -> list[EntityHit]:
    """Those that do not lie within one that comes before."""
    kept: list[EntityHit] = []
    for hit in hits:
        around = (k for k in kept if k.path == hit.path and k.kind is not Kind.FILE)
        if not any(k.start_line <= hit.start_line and hit.end_line <= k.end_line for k in around):
            kept.append(hit)
    return kept


def _as_results(engine: Engine, hits: Sequence[EntityHit]) -> list[SearchResult]:
    codes = {code.id: code for hit in hits for code in engine.graph.retrieve([hit.id])}
    return [_as_result(codes[hit.id], hit.tier, hit.signature) for hit in hits if hit.id in codes]


def _as_result(code: EntityCode, tier: str = "", signature: str = "") -> SearchResult:
    return SearchResult(
        path=code.path,
        start_line=max(1, code.start_line),
        end_line=max(1, code.end_line),
        entity=code.id.partition(":")[2],
        kind=code.kind,
        language="",
        relevance=1.0,
        score=1.0,
        match=Match.NAME,
        reasons=(Reason(tier, 2.0),) if tier else (),
        text=code.text,
        signature=signature,
    )


# --- answering ------------------------------------------------------------------------------------


def _shown(
    context: Context,
    engine: Engine,
    results: Sequence[SearchResult],
    asked: Mapping[str, Any],
    said: str,
    detail: Detail | None,
) -> Answer:
    states = states_of({"": engine}, results)

    def footer(shown: Sequence[PackedHit], omitted: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
        cut = cut_places(shown)
        lines = [*([escape_text(said)] if said else []), *responses.left_out([*omitted, *cut])]
        values = {"said": said, "cut": cut, "index": responses.state_values(states)}
        return [*lines, responses.state_line(states)], values

    wish = context.wish(asked)
    wish = Wish(wish.budget, detail, wish.words, wish.repeat)
    return responses.listed(results, wish, context.session.sent, footer)


def _walked(context: Context, engine: Engine, answer: GraphAnswer, asked: Mapping[str, Any]) -> Answer:
    """A part of the graph as a tree of text and as edges: as much of each as fits, what is near before what is far."""
    states = states_of({"": engine}, ())
    by_distance = sorted(range(len(answer.steps)), key=lambda number: answer.steps[number].depth)

    def nearest(count: int) -> tuple[Step, ...]:
        return tuple(answer.steps[number] for number in sorted(by_distance[:count]))

    notes = [escape_text(note) for note in answer.notes]
    return responses.fitted(
        len(answer.steps),
        lambda count: render_graph.tree_text(replace(answer, steps=nearest(count)), plain),
        lambda count: [_edge(step) for step in nearest(count)],
        [*notes, responses.state_line(states)],
        context.wish(asked).budget,
    )


def _edge(step: Step) -> dict[str, Any]:
    return {
        "from": step.parent,
        "to": step.node,
        "relation": render_graph.relation_name(step),
        "line": step.edge.line,
        "certainty": step.edge.certainty.value,
    }
