"""LocAgent-compatible tools for coding agents: search entities, traverse the code graph, retrieve code, as a Python
API.

``search_entities``, ``traverse_graph`` and ``retrieve_entity`` return values for JSON; ``search_code_snippets``,
``explore_tree_structure`` and ``get_entity_contents`` do the same under LocAgent's own names, and return text.
Errors are returned, not raised: each has a code, and says what to do next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError, EntityAmbiguous, EntityNotFound, IndexProblem, UsageError
from dowse.interfaces import render_graph
from dowse.interfaces.entity_lookup import DIRECTIONS, entity_type, expand_terms, find_entities, parse_types
from dowse.interfaces.theme import plain
from dowse.types.graph_values import (
    ALL_STEPS,
    EntityCode,
    EntityHit,
    GraphAnswer,
    Relation,
    Walk,
    parse_depth,
)
from dowse.types.source import Kind, ParseHealth

if TYPE_CHECKING:
    from dowse.engine import Engine

INDEX_NOT_FOUND, ENTITY_NOT_FOUND, ENTITY_AMBIGUOUS, PARSE_ERROR, TIMEOUT, INVALID_ARGUMENT, FAILED = (
    "INDEX_NOT_FOUND", "ENTITY_NOT_FOUND", "ENTITY_AMBIGUOUS", "PARSE_ERROR", "TIMEOUT", "INVALID_ARGUMENT", "FAILED",
)  # fmt: skip
"""Codes of errors."""

ERROR_CODES: tuple[tuple[type[Exception], str], ...] = (
    (EntityNotFound, ENTITY_NOT_FOUND),
    (EntityAmbiguous, ENTITY_AMBIGUOUS),
    (IndexProblem, INDEX_NOT_FOUND),
    (TimeoutError, TIMEOUT),
    (SyntaxError, PARSE_ERROR),
    (UsageError, INVALID_ARGUMENT),
    (DowseError, FAILED),
)
"""The code of each kind of error; the first that fits."""

MAX_PREVIEW_LINES = 60
"""Lines up to which an entity is previewed whole; of a longer one, only its skeleton is shown."""

MAX_ENTITIES = 100
"""Entities that one call may ask for."""

CONTEXT_LINES = 10
"""Lines shown before and after a line that was asked for."""

TIMEOUT_SECONDS = 30.0
"""Time that one call may take by default."""

Values = dict[str, Any]


class EntityTools:
    """The LocAgent tools on one tree."""

    def __init__(self, engine: Engine, *, seconds: float = TIMEOUT_SECONDS) -> None:
        self._engine = engine
        self._seconds = seconds

    # --- values ---

    def search_entities(
        self,
        query: str | Sequence[str] | None = None,
        *,
        search_terms: Sequence[str] | None = None,
        line_nums: Sequence[int] | int | None = None,
        file_pattern: str | None = None,
        entity_types: Sequence[str] | None = None,
        limit: int | None = None,
        use_bm25: bool = True,
        snippet_mode: str = "preview",
    ) -> Values:
        """Find entities that some terms name or describe: for each term, and for all together."""
        return _catch_errors(
            lambda: self._search(
                _as_list(search_terms or query),
                _as_list(line_nums),
                file_pattern or "",
                entity_types or (),
                limit,
                use_bm25,
                snippet_mode,
            )
        )

    def traverse_graph(
        self,
        start_entities: Sequence[str] | str,
        direction: str = "forward",
        depth: int = 2,
        relation_filter: Sequence[str] | None = None,
        entity_type_filter: Sequence[str] | None = None,
        format: str = "graph",
    ) -> Values:
        """Walk the graph around some entities: nodes and steps, or with ``format="tree"`` a tree of text."""

        def work() -> Values:
            answer = self._traverse(
                _as_list(start_entities), direction, depth, relation_filter, entity_type_filter
            )
            if format == "tree":
                return {"tree": render_graph.tree_text(answer, plain), "notes": list(answer.notes)}
            if format != "graph":
                raise UsageError(f"format is 'graph' or 'tree', not '{format}'")
            return render_graph.answer_values(answer)

        return _catch_errors(work)

    def retrieve_entity(
        self, entity_ids: Sequence[str] | str, context_lines: int = 0, include_metadata: bool = True
    ) -> Values:
        """Return the whole code of entities, numbered; an id that cannot be resolved has its error instead."""
        if not 0 <= context_lines <= 50:
            return _error(INVALID_ARGUMENT, f"context_lines is 0 to 50, not {context_lines}")
        retrieve = partial(self._retrieve, context=context_lines, metadata=include_metadata)
        entities = [{"id": id} | _catch_errors(partial(retrieve, id)) for id in _as_list(entity_ids)]
        return {"entities": entities}

    # --- text, as LocAgent's agents call it ---

    def search_code_snippets(
        self,
        search_terms: Sequence[str] | None = None,
        line_nums: Sequence[int] | int | None = None,
        file_path_or_pattern: str | None = "**/*.py",
    ) -> str:
        """Find code by names, words or lines; return text."""
        found = self.search_entities(
            search_terms=search_terms, line_nums=line_nums, file_pattern=file_path_or_pattern
        )
        if "error" in found:
            return _error_text(found)
        blocks = []
        for group in found["results"]:
            lines = [f"## {group['term']}"]
            for entity in group["entities"]:
                lines.append(f"{entity['id']} ({entity['type']}, {entity['source']}, {entity['detail']})")
                lines += [entity["code"]] if entity["code"] else []
            lines += (
                [] if group["entities"] else ["nothing found: try other words, or a part of a name with *"]
            )
            blocks.append("\n".join(lines))
        return "\n\n".join(blocks)

    def explore_tree_structure(
        self,
        start_entities: Sequence[str],
        direction: str = "downstream",
        traversal_depth: int = 2,
        entity_type_filter: Sequence[str] | None = None,
        dependency_type_filter: Sequence[str] | None = None,
    ) -> str:
        """Walk the graph around some entities; return an indented tree."""
        found = self.traverse_graph(
            start_entities, direction, traversal_depth, dependency_type_filter, entity_type_filter, "tree"
        )
        return _error_text(found) if "error" in found else "\n".join([found["tree"], *found["notes"]])

    def get_entity_contents(self, entity_names: Sequence[str]) -> str:
        """Return the whole code of entities as text."""
        return "\n\n".join(
            _error_text(entity) if "error" in entity else f"{entity['id']}\n{entity['code']}"
            for entity in self.retrieve_entity(entity_names)["entities"]
        )

    # --- implementation ---

    def _search(
        self,
        terms: Sequence[str],
        lines: Sequence[int],
        pattern: str,
        types: Sequence[str],
        limit: int | None,
        use_bm25: bool,
        mode: str,
    ) -> Values:
        if limit is not None and not 1 <= limit <= MAX_ENTITIES:
            raise UsageError(f"limit is 1 to {MAX_ENTITIES}, not {limit}")
        if mode not in ("fold", "preview", "full"):
            raise UsageError(f"snippet_mode is fold, preview or full, not '{mode}'")
        if not terms and not lines:
            raise UsageError("nothing to look for: give search_terms, or line_nums and the path of a file")
        started = time.monotonic()
        kinds = parse_types(types)
        results = [self._find_lines(pattern, lines)] if lines else []
        shown: list[tuple[str, int, int]] = []
        for term in expand_terms(terms):
            self._check_time(started)
            hits = find_entities(self._engine, term, kinds, pattern, limit, content=use_bm25)
            results.append(self._collect_term(term, hits, mode, shown))
        tiers = sorted({entity["source"] for group in results for entity in group["entities"]})
        milliseconds = round((time.monotonic() - started) * 1e3, 1)
        return {"results": results, "metadata": {"tiers": tiers, "milliseconds": milliseconds}}

    def _check_time(self, started: float) -> None:
        if time.monotonic() - started > self._seconds:
            raise TimeoutError(f"took longer than {self._seconds:g} s: ask for fewer terms at once")

    def _collect_term(
        self,
        term: str,
        hits: Sequence[EntityHit],
        mode: str,
        shown: list[tuple[str, int, int]],
    ) -> Values:
        entities = []
        for hit in hits:
            exact = hit.id == term
            detail, code = (
                ("complete", self._read_code(hit, "full")) if exact else self._choose_detail(hit, mode)
            )
            if any(
                hit.path == path and first <= hit.start_line and hit.end_line <= last
                for path, first, last in shown
            ):
                continue
            if code and detail in ("complete", "snippet"):
                shown.append((hit.path, hit.start_line, hit.end_line))
            entities.append(_entity_values(hit, detail, code))
        hint = (
            "ask retrieve_entity for the code of an id"
            if any(e["detail"] == "fold" for e in entities)
            else ""
        )
        return {"term": term, "entities": entities, "hint": hint}

    def _choose_detail(self, hit: EntityHit, mode: str) -> tuple[str, str]:
        """Choose how much of a hit is shown; return the name of the detail, and the code."""
        if mode == "fold":
            return "fold", ""
        if mode == "full" or hit.end_line - hit.start_line < MAX_PREVIEW_LINES:
            return "snippet", self._read_code(hit, "full")
        return "preview", self._read_code(hit, "skeleton")

    def _read_code(self, hit: EntityHit, mode: str) -> str:
        loaded = self._engine.load_file(hit.path)
        if loaded is None:
            return ""
        file, lines = loaded[0], loaded[1].splitlines()
        first, last = hit.start_line, hit.end_line
        if mode == "full":
            return _number_lines(lines, range(first, last + 1))
        inside = (
            e for e in file.parsed.entities if first <= e.line <= last and e.kind not in (Kind.VARIABLE,)
        )
        numbers = sorted({first, *(entity.line for entity in inside)})
        return _number_lines(lines, numbers)

    def _find_lines(self, path: str, numbers: Sequence[int]) -> Values:
        loaded = self._engine.load_file(path)
        if loaded is None:
            raise EntityNotFound(f"line_nums needs the path of one file, and '{path}' is none of the index")
        file, lines = loaded[0], loaded[1].splitlines()
        entities = []
        for number in numbers:
            around = [e for e in file.parsed.entities if e.start_line <= number <= e.end_line]
            inner = around[-1] if around else None
            id = f"{path}:{inner.qualified}" if inner else path
            first, last = max(1, number - CONTEXT_LINES), min(len(lines), number + CONTEXT_LINES)
            kind = inner.kind if inner else Kind.FILE
            hit = EntityHit(id, kind, path, first, last, "", "line", 1.0)
            entities.append(_entity_values(hit, "snippet", _number_lines(lines, range(first, last + 1))))
        return {"term": f"{path}:{','.join(map(str, numbers))}", "entities": entities, "hint": ""}

    def _traverse(
        self,
        starts: Sequence[str],
        direction: str,
        depth: int,
        relations: Sequence[str] | None,
        types: Sequence[str] | None,
    ) -> GraphAnswer:
        if direction not in DIRECTIONS:
            raise UsageError(f"direction is one of {', '.join(DIRECTIONS)}, not '{direction}'")
        if depth != ALL_STEPS and not 1 <= depth <= 10:
            raise UsageError(f"depth is 1 to 10, or {ALL_STEPS} for all, not {depth}")
        unknown = set(relations or ()) - set(Relation)
        if unknown:
            raise UsageError(f"unknown relation '{min(unknown)}': known are {', '.join(Relation)}")
        walk = Walk(
            DIRECTIONS[direction],
            parse_depth(depth),
            frozenset(map(Relation, relations or ())),
            parse_types(types or ()),
        )
        return self._engine.graph.traverse(starts, walk)

    def _retrieve(self, id: str, context: int, metadata: bool) -> Values:
        (found,) = self._engine.graph.retrieve([id], context)
        self._check_parsed(found)
        lines = found.text.split("\n")
        first = max(1, found.start_line)
        code = "\n".join(f"{number} | {line}" for number, line in enumerate(lines, first))
        values: Values = {"id": found.id, "code": code if found.start_line else found.text}
        if metadata:
            values |= {
                "type": entity_type(found.kind),
                "path": found.path,
                "lines": [found.start_line, found.end_line],
            }
        return values

    def _check_parsed(self, found: EntityCode) -> None:
        if found.kind is Kind.DIRECTORY:
            return
        loaded = self._engine.load_file(found.path)
        if loaded and loaded[0].parsed.health is ParseHealth.FAILED:
            raise SyntaxError(f"{found.path} could not be parsed: only the file as a whole can be read")


def _catch_errors(work: Callable[[], Values]) -> Values:
    """Return what the work returns, or its error with a code."""
    try:
        return work()
    except (DowseError, TimeoutError, SyntaxError) as error:
        return _error(next(code for kind, code in ERROR_CODES if isinstance(error, kind)), str(error))


def _error(code: str, message: str) -> Values:
    return {"error": {"code": code, "message": message}}


def _error_text(values: Mapping[str, Any]) -> str:
    return f"{values['error']['code']}: {values['error']['message']}"


def _entity_values(hit: EntityHit, detail: str, code: str) -> Values:
    return {
        "id": hit.id,
        "type": entity_type(hit.kind),
        "kind": hit.kind.value,
        "source": hit.tier,
        "score": round(hit.score, 4),
        "path": hit.path,
        "lines": [hit.start_line, hit.end_line],
        "detail": detail,
        "code": code,
    }


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return [value] if isinstance(value, str | int) else list(value)


def _number_lines(lines: Sequence[str], numbers: Iterable[int]) -> str:
    return "\n".join(f"{n} | {lines[n - 1]}" for n in numbers if 1 <= n <= len(lines))
