"""Handlers of the MCP tools on the code graph: ``graph``, and LocAgent's search, traverse and retrieve tools."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dowse.code.file_roles import classify_role
from dowse.engine import Engine
from dowse.errors import EntityAmbiguous, EntityNotFound, UsageError
from dowse.interfaces import render_graph
from dowse.interfaces.entity_lookup import (
    DIRECTIONS,
    entity_type,
    expand_terms,
    find_entities,
    parse_types,
)
from dowse.interfaces.mcp import responses
from dowse.interfaces.mcp.handlers import Context, find_related, index_states, select_engine
from dowse.interfaces.mcp.responses import Answer
from dowse.interfaces.theme import escape_text, plain
from dowse.search.output.budget import list_cut_ranges
from dowse.types.answers import Detail, Match, PackedHit, Reason, SearchResult
from dowse.types.graph_values import (
    DEFAULT_DEPTHS,
    EntityCode,
    EntityHit,
    GraphAnswer,
    Relation,
    Step,
    Walk,
    parse_depth,
)
from dowse.types.source import Kind, Role

MAX_NODES = 500
"""Nodes of an answer; far fewer fit into any budget."""

MAX_SHOWN_STEPS = 30
"""Nodes that are shown unless a budget is given: the counts say what else there is."""

MIN_SUMMARY_STEPS = 10
MAX_FOLDERS = 6
"""From how many nodes on they are counted by folder, and how many folders are named."""

_MATCHES_BY_TIER = {"content": Match.KEYWORD, "file": Match.FILE, "directory": Match.FILE, "id": Match.EXACT}

SNIPPET_DETAILS = {"fold": Detail.SIGNATURE, "preview": Detail.PREVIEW, "full": Detail.FULL}


def graph(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Query the graph."""
    kind = arguments["ask"]
    if kind == "related":
        return find_related(context, arguments)
    engine, target = fresh_engine(context, arguments, arguments["target"])
    if kind == "path" and "to" not in arguments:
        raise UsageError("a path needs both ends: 'target' and 'to'")
    walk = Walk(
        depth=_read_depth(arguments, DEFAULT_DEPTHS.get(kind, 1)),
        ambiguous=arguments.get("ambiguous", False),
        limit=MAX_NODES,
    )
    queries: dict[str, Callable[[], GraphAnswer]] = {
        "callers": lambda: engine.graph.callers(target, walk),
        "callees": lambda: engine.graph.callees(target, walk),
        "deps": lambda: engine.graph.deps(target, walk),
        "impact": lambda: engine.graph.impact(target, walk),
        "hierarchy": lambda: engine.graph.hierarchy(target, walk.depth),
        "path": lambda: engine.graph.path(target, arguments["to"], ambiguous=walk.ambiguous),
    }
    return _answer_walk(context, engine, queries[kind](), arguments)


def search_entities(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Find entities by id, name, prefix or content, for each term and for all together."""
    started = time.perf_counter()
    engine, _ = fresh_engine(context, arguments, "")
    terms = [*([arguments["query"]] if "query" in arguments else []), *arguments.get("search_terms", ())]
    if not terms and not arguments.get("line_nums"):
        raise UsageError("nothing to look for: give terms, or line_nums with the path of a file")
    kinds, pattern = parse_types(arguments.get("entity_types", ())), arguments.get("file_pattern", "")
    limit, content = arguments.get("limit"), arguments.get("use_bm25", True)
    found: dict[str, EntityHit] = {}
    for term in expand_terms(terms):
        for hit in find_entities(engine, term, kinds, pattern, limit, content=content):
            found.setdefault(hit.id, hit)
    results = _read_lines(engine, pattern, arguments.get("line_nums", ())) + _to_results(
        engine, _drop_nested(found.values())
    )
    tiers = ", ".join(dict.fromkeys(hit.tier for hit in found.values())) or "none"
    milliseconds = (time.perf_counter() - started) * 1e3
    summary = f"{len(results)} entities; tiers: {tiers}; {milliseconds:.0f} ms"
    detail = SNIPPET_DETAILS[arguments["snippet_mode"]] if "snippet_mode" in arguments else None
    return _answer_results(context, engine, results, arguments, summary, detail)


def traverse_graph(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Walk the graph around some entities."""
    engine, _ = fresh_engine(context, arguments, "")
    walk = Walk(
        direction=DIRECTIONS[arguments.get("direction", "forward")],
        depth=_read_depth(arguments, DEFAULT_DEPTHS["traverse"]),
        relations=frozenset(map(Relation, arguments.get("relation_filter", ()))),
        kinds=parse_types(arguments.get("entity_type_filter", ())),
        limit=MAX_NODES,
    )
    return _answer_walk(context, engine, engine.graph.traverse(arguments["start_entities"], walk), arguments)


def _read_depth(arguments: Mapping[str, Any], default: int | None) -> int | None:
    return parse_depth(arguments["depth"]) if "depth" in arguments else default


def retrieve_entity(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Return the whole code of entities."""
    engine, _ = fresh_engine(context, arguments, "")
    found: list[SearchResult] = []
    problems: list[str] = []
    for id in arguments["entity_ids"]:
        try:
            found += map(_to_result, engine.graph.retrieve([id], arguments.get("context_lines", 0)))
        except (EntityNotFound, EntityAmbiguous) as error:
            problems.append(str(error))
    if not found:
        return responses.error_answer("; ".join(problems))
    described = [f"{_name_entity(result)} is a {entity_type(result.kind)}" for result in found]
    summary = "; ".join([*(described if arguments.get("include_metadata", True) else []), *problems])
    return _answer_results(context, engine, found, arguments, summary, None)


def _name_entity(result: SearchResult) -> str:
    return f"{result.path}:{result.entity}" if result.entity else result.path


# --- queries ---------------------------------------------------------------------------------------


def fresh_engine(context: Context, arguments: Mapping[str, Any], target: str) -> tuple[Engine, str]:
    """Return the one engine to query, with a fresh index: a graph does not span repositories."""
    engines, rest = select_engine(context.engines(arguments.get("repo", "")), target)
    (engine,) = engines.values()
    engine.refresh(context.call.progress)
    return engine, rest


def _read_lines(engine: Engine, path: str, lines: Iterable[int]) -> list[SearchResult]:
    """Read the definitions around some lines of a file."""
    found = [result for line in lines for result in engine.read(f"{path}:{line}")]
    return list({(result.path, result.start_line, result.end_line): result for result in found}.values())


def _drop_nested(hits: Iterable[EntityHit]) -> list[EntityHit]:
    """Drop hits that lie within one that comes before."""
    kept: list[EntityHit] = []
    for hit in hits:
        around = (k for k in kept if k.path == hit.path and k.kind is not Kind.FILE)
        if not any(k.start_line <= hit.start_line and hit.end_line <= k.end_line for k in around):
            kept.append(hit)
    return kept


def _to_results(engine: Engine, hits: Sequence[EntityHit]) -> list[SearchResult]:
    codes = {code.id: code for hit in hits for code in engine.graph.retrieve([hit.id])}
    return [_to_result(codes[hit.id], hit.tier, hit.signature) for hit in hits if hit.id in codes]


def _to_result(code: EntityCode, tier: str = "", signature: str = "") -> SearchResult:
    return SearchResult(
        path=code.path,
        start_line=max(1, code.start_line),
        end_line=max(1, code.end_line),
        entity=code.id.partition(":")[2],
        kind=code.kind,
        language="",
        relevance=1.0,
        score=1.0,
        match=_MATCHES_BY_TIER.get(tier, Match.NAME if tier else Match.EXACT),
        reasons=(Reason(tier, 2.0),) if tier else (),
        text=code.text,
        signature=signature,
    )


# --- answers ------------------------------------------------------------------------------------


def _answer_results(
    context: Context,
    engine: Engine,
    results: Sequence[SearchResult],
    arguments: Mapping[str, Any],
    summary: str,
    detail: Detail | None,
) -> Answer:
    states = index_states({"": engine}, results)

    def footer(shown: Sequence[PackedHit], omitted: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
        cut = list_cut_ranges(shown)
        lines = [*([escape_text(summary)] if summary else []), *responses.omitted_lines([*omitted, *cut])]
        values = {"summary": summary, "cut": cut, "index": responses.state_values(states)}
        return [*lines, responses.state_line(states)], values

    options = replace(context.response_options(arguments), detail=detail, explain=responses.name_reasons)
    return responses.answer_hits(results, options, context.session.sent, footer)


def _answer_walk(
    context: Context, engine: Engine, answer: GraphAnswer, arguments: Mapping[str, Any]
) -> Answer:
    """Answer with a tree of text and edges as values: as much of each as fits, near nodes before far ones."""
    states = index_states({"": engine}, ())
    by_distance = sorted(range(len(answer.steps)), key=lambda number: _rate_step(answer.steps[number]))
    summary = [_summarize(answer.steps)] if len(answer.steps) >= MIN_SUMMARY_STEPS else []

    def nearest(count: int) -> tuple[Step, ...]:
        return tuple(answer.steps[number] for number in sorted(by_distance[:count]))

    def text(count: int) -> str:
        if arguments.get("format") == "graph":
            return "\n".join(map(_format_edge, nearest(count)))
        return "\n".join([*summary, render_graph.tree_text(replace(answer, steps=nearest(count)), plain)])

    notes = [escape_text(note) for note in answer.notes]
    most = len(answer.steps) if "budget" in arguments else min(len(answer.steps), MAX_SHOWN_STEPS)
    return responses.answer_tree(
        most,
        len(answer.steps),
        text,
        lambda count: [_edge_values(step) for step in nearest(count)],
        [*notes, responses.state_line(states)],
        context.response_options(arguments).budget,
    )


def _rate_step(step: Step) -> tuple[int, bool]:
    """Rate how soon a step is shown: near ones before far ones, and code before the tests of it."""
    return step.depth, classify_role(step.node.partition(":")[0]) is Role.TEST


def _summarize(steps: Sequence[Step]) -> str:
    """Count the nodes of an answer by their folders, the largest first."""
    folders = Counter(step.node.partition(":")[0].rpartition("/")[0] or "." for step in steps)
    counts = [f"{escape_text(folder)} {count}" for folder, count in folders.most_common(MAX_FOLDERS)]
    more = f" and {len(folders) - MAX_FOLDERS} more folders" if len(folders) > MAX_FOLDERS else ""
    return f"{len(steps)} in all: {', '.join(counts)}{more}"


def _format_edge(step: Step) -> str:
    return escape_text(f"{step.parent} -[{render_graph.relation_name(step)}]-> {step.node}")


def _edge_values(step: Step) -> dict[str, Any]:
    return {
        "from": step.parent,
        "to": step.node,
        "relation": render_graph.relation_name(step),
        "line": step.edge.line,
        "certainty": step.edge.certainty.value,
    }
