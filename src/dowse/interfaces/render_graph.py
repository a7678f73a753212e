"""Render the code graph: as an indented tree, as JSON values, as Graphviz DOT and as Mermaid."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from dowse.interfaces.json_values import SCHEMA
from dowse.interfaces.text_layout import format_table
from dowse.interfaces.theme import Paint, escape_text
from dowse.types.graph_values import (
    Affected,
    Certainty,
    Edge,
    EntityCode,
    EntityHit,
    GraphAnswer,
    Hub,
    Node,
    Relation,
    Step,
)
from dowse.types.source import Kind

INVERSE_NAMES = {
    Relation.CONTAINS: "contained-by",
    Relation.IMPORTS: "imported-by",
    Relation.INVOKES: "invoked-by",
    Relation.INHERITS: "inherited-by",
    Relation.REFERENCES: "referenced-by",
    Relation.DECLARES: "declared-by",
}
"""Names of relations that are followed against their direction."""

_MERMAID_SPECIAL = re.compile(r'["\\\n<>]')


def relation_name(step: Step) -> str:
    """Return the name of the relation of a step, in the direction it was taken."""
    return INVERSE_NAMES[step.edge.relation] if step.backward else step.edge.relation.value


# --- text ---


def tree_text(answer: GraphAnswer, paint: Paint) -> str:
    """Render a traversal as an indented tree."""
    lines = []
    by_parent: dict[str, list[Step]] = {}
    for step in answer.steps:
        by_parent.setdefault(step.parent, []).append(step)
    for start in answer.start:
        lines.append(_format_node(answer.nodes.get(start), start, paint))
        lines += _branches(answer, by_parent, start, "", paint)
    return "\n".join(lines)


def _branches(
    answer: GraphAnswer, by_parent: dict[str, list[Step]], start: str, indent: str, paint: Paint
) -> Iterator[str]:
    stack = [(step, indent, n == 0) for n, step in enumerate(reversed(by_parent.get(start, [])))]
    while stack:
        step, before, is_last = stack.pop()
        mark = "└── " if is_last else "├── "
        yield f"{paint(before + mark, 'faint')}{_format_step(step, answer, paint)}"
        inner = before + ("    " if is_last else "│   ")
        below = [s for s in by_parent.get(step.node, []) if s.depth == step.depth + 1]
        stack += [(s, inner, n == 0) for n, s in enumerate(reversed(below))]


def _format_step(step: Step, answer: GraphAnswer, paint: Paint) -> str:
    parts = [paint(relation_name(step), "faint"), _format_node(answer.nodes.get(step.node), step.node, paint)]
    if step.edge.line and step.edge.certainty is not Certainty.EXTERNAL:
        parts.append(paint(f"({_format_line(step)})", "lines"))
    if step.edge.certainty is not Certainty.RESOLVED:
        parts.append(paint(f"[{step.edge.certainty}]", "warning"))
    return " ".join(parts)


def _format_line(step: Step) -> str:
    """Format the line of an edge; which file it is in depends on the direction of the step."""
    if step.backward:
        return f"line {step.edge.line}"
    path = step.edge.source.partition(":")[0]
    if path == step.parent.partition(":")[0]:
        return f"from line {step.edge.line}"
    return f"line {step.edge.line} of {escape_text(path)}"


def _format_node(node: Node | None, id: str, paint: Paint) -> str:
    path, colon, name = id.rpartition(":")
    if node is None or node.kind in (Kind.FILE, Kind.DIRECTORY) or not colon:
        return paint(escape_text(id), "path")
    return f"{paint(escape_text(path), 'path')}:{paint(escape_text(name), 'entity')}"


def hubs_text(hubs: Sequence[Hub], paint: Paint) -> str:
    """Render hubs as a table."""
    rows = [
        (
            str(hub.dependents),
            f"{hub.rank:.1f}",
            hub.node.kind.value,
            _format_node(hub.node, hub.node.id, paint),
        )
        for hub in hubs
    ]
    return format_table([("dependents", "rank", "kind", "id"), *rows]) if rows else ""


def cycles_text(cycles: Sequence[Sequence[str]], paint: Paint) -> str:
    """Render import cycles, one on a line."""
    return "\n".join(" -> ".join(paint(escape_text(path), "path") for path in [*c, c[0]]) for c in cycles)


def entities_text(hits: Sequence[EntityHit], paint: Paint) -> str:
    """Render entities, one on a line, with the tier that found each."""
    lines = []
    for hit in hits:
        node = Node(hit.id, hit.kind)
        where = paint(f" {hit.start_line}-{hit.end_line}", "lines") if hit.end_line else ""
        lines.append(
            f"{_format_node(node, hit.id, paint)}{where} {hit.kind} {paint(f'[{hit.tier}]', 'faint')}"
        )
    return "\n".join(lines)


def code_text(entities: Sequence[EntityCode], paint: Paint) -> str:
    """Render the numbered code of each entity under its id."""
    return "\n\n".join("\n".join(_number_lines(entity, paint)) for entity in entities)


def _number_lines(entity: EntityCode, paint: Paint) -> Iterator[str]:
    yield f"{_format_node(Node(entity.id, entity.kind), entity.id, paint)} {entity.kind}"
    width = len(str(entity.end_line))
    for number, line in enumerate(entity.text.split("\n"), max(1, entity.start_line)):
        head = paint(f"{number:>{width}} | ", "faint") if entity.start_line else ""
        yield head + _escape_line(line)


def _escape_line(line: str) -> str:
    """Escape a line of code, with tabs as spaces."""
    return escape_text(line.replace("\t", "    "))


def affected_text(affected: Affected, paint: Paint) -> str:
    """Render everything that a change reaches, in sections."""
    sections = []
    if affected.changed or affected.removed:
        rows = [_format_node(node, node.id, paint) for node in affected.changed]
        rows += [f"{paint(escape_text(path), 'path')} (removed)" for path in affected.removed]
        sections.append(_section("changed", rows))
    dependents = [_format_step(step, affected.dependents, paint) for step in affected.dependents.steps]
    if dependents:
        sections.append(_section("what depends on that", dependents))
    if affected.tests:
        rows = [
            f"{paint(escape_text(path), 'path')} {paint(f'({why})', 'faint')}" for path, why in affected.tests
        ]
        sections.append(_section("tests to run", rows))
    if affected.companions:
        rows = [
            f"{paint(escape_text(path), 'path')} {paint(f'({share:.0%}, {times} commits)', 'faint')}"
            for path, share, times in affected.companions
        ]
        sections.append(_section("usually changes with it", rows))
    return "\n\n".join(sections)


def _section(title: str, rows: Sequence[str]) -> str:
    return "\n".join([f"{title}:", *(f"  {row}" for row in rows)])


# --- values ---


def answer_values(answer: GraphAnswer) -> dict[str, Any]:
    """Convert a traversal: nodes, and steps in the order of its tree."""
    return {
        "schema": SCHEMA,
        "question": answer.question,
        "start": list(answer.start),
        "nodes": [_node_values(node) for node in answer.nodes.values()],
        "steps": [_step_values(step) for step in answer.steps],
        "notes": list(answer.notes),
    }


def _node_values(node: Node) -> dict[str, Any]:
    return node._asdict()


def _step_values(step: Step) -> dict[str, Any]:
    return {
        "depth": step.depth,
        "from": step.parent,
        "to": step.node,
        "relation": relation_name(step),
        "certainty": step.edge.certainty,
        "line": step.edge.line,
        "candidates": list(step.edge.candidates),
    }


def hubs_values(hubs: Sequence[Hub]) -> dict[str, Any]:
    """Convert hubs with their numbers."""
    rows = [_node_values(h.node) | {"dependents": h.dependents, "rank": round(h.rank, 4)} for h in hubs]
    return {"schema": SCHEMA, "hubs": rows}


def cycles_values(cycles: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Convert import cycles to lists of paths."""
    return {"schema": SCHEMA, "cycles": [list(cycle) for cycle in cycles]}


def entities_values(hits: Sequence[EntityHit]) -> dict[str, Any]:
    """Convert entities with the tier that found each."""
    return {"schema": SCHEMA, "entities": [hit._asdict() for hit in hits]}


def code_values(entities: Sequence[EntityCode]) -> dict[str, Any]:
    """Convert the code of entities."""
    return {"schema": SCHEMA, "entities": [entity._asdict() for entity in entities]}


def affected_values(affected: Affected) -> dict[str, Any]:
    """Convert everything that a change reaches."""
    return {
        "schema": SCHEMA,
        "changed": [_node_values(node) for node in affected.changed],
        "removed": list(affected.removed),
        "dependents": answer_values(affected.dependents),
        "tests": [{"path": path, "why": why} for path, why in affected.tests],
        "companions": [
            {"path": path, "share": round(share, 4), "commits": commits}
            for path, share, commits in affected.companions
        ],
        "notes": list(affected.notes),
    }


# --- drawings ---


def _orient_edges(answer: GraphAnswer) -> list[tuple[str, str, Edge]]:
    """Return each edge once, in the direction of its relation."""
    drawn = {}
    for step in answer.steps:
        ends = (step.node, step.parent) if step.backward else (step.parent, step.node)
        drawn[(*ends, step.edge.relation)] = step.edge
    return [(source, target, edge) for (source, target, _), edge in drawn.items()]


def dot(answer: GraphAnswer) -> str:
    """Render a traversal in DOT, the language of Graphviz."""
    lines = [f"digraph {json.dumps(answer.question)} {{", "  rankdir=LR;", "  node [shape=box];"]
    for id in _node_ids(answer):
        style = ' style="bold"' if id in answer.start else ""
        lines.append(
            f"  {json.dumps(id, ensure_ascii=False)} [label={json.dumps(id, ensure_ascii=False)}{style}];"
        )
    for source, target, edge in _orient_edges(answer):
        dashed = "" if edge.certainty is Certainty.RESOLVED else ' style="dashed"'
        ends = f"{json.dumps(source, ensure_ascii=False)} -> {json.dumps(target, ensure_ascii=False)}"
        lines.append(f'  {ends} [label="{edge.relation}"{dashed}];')
    return "\n".join([*lines, "}"])


def mermaid(answer: GraphAnswer) -> str:
    """Render a traversal in Mermaid, which Markdown pages can draw."""
    numbers = {id: f"n{n}" for n, id in enumerate(_node_ids(answer))}
    lines = ["graph LR"]
    lines += [f'  {number}["{_MERMAID_SPECIAL.sub("_", id)}"]' for id, number in numbers.items()]
    for source, target, edge in _orient_edges(answer):
        arrow = "-->" if edge.certainty is Certainty.RESOLVED else "-.->"
        lines.append(f"  {numbers[source]} {arrow}|{edge.relation}| {numbers[target]}")
    return "\n".join(lines)


def _node_ids(answer: GraphAnswer) -> list[str]:
    return list(dict.fromkeys([*answer.start, *(end for s in answer.steps for end in (s.parent, s.node))]))
