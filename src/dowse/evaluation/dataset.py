"""Ground truth files (queries with relevance judgements): JSON lines, JSON, CSV, TREC qrels and topics, public query
sets.

docs/groundtruth.schema.json has the fields of a line. A format is recognised by content; only CSV by its file name.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dowse.errors import UsageError
from dowse.evaluation.eval_types import Dataset, EvalQuery, GoldTarget

MAX_BYTES = 200_000_000
"""A larger file is refused: it is hardly ground truth."""

ANSWER_SEPARATOR = re.compile(r"[;\n]")
"""Separates several answers in one cell of a CSV file."""

_TARGET_LINES = re.compile(r"^(.+?):(\d{1,9})(?:-(\d{1,9}))?$")
_TARGET_ENTITY = re.compile(r"^(.+?\.[A-Za-z0-9_+-]+|[^:]*/[^:/]+):([^\d:].*)$")
_QRELS = re.compile(r"^(\S+)\s+(?:\S+\s+)?(\S+)\s+(-?\d{1,9})\s*$")
_TOPIC = re.compile(r"<num>\s*(?:Number:)?\s*(\S+).*?<title>\s*(?:Topic:)?\s*([^<]+)", re.S)

Item = Mapping[str, Any]


def load(path: Path, *, queries: Path | None = None, repo: str = "") -> Dataset:
    """Load the queries of a file; ``queries`` goes with qrels, ``repo`` picks one of several repositories."""
    text = _read_text(path)
    if queries is not None or _is_qrels(text):
        eval_queries, suffix = _parse_qrels(text, path, queries), False
    elif path.suffix.lower() in (".csv", ".tsv"):
        eval_queries, suffix = _parse_csv(text, path), False
    else:
        items = _select_repo(_parse_items(text, path), repo, path)
        suffix = any("secondary" in item for item in items)
        eval_queries = [_parse_query(item, number, path) for number, item in enumerate(items, 1)]
    answered = [eval_query for eval_query in eval_queries if eval_query.relevant]
    if not answered:
        raise UsageError(
            f"{path} has no query with an answer: see docs/evaluation.md for what a line should hold"
        )
    skipped = len(eval_queries) - len(answered)
    notes = (f"{skipped} of {len(eval_queries)} queries have no answer and are skipped",) if skipped else ()
    return Dataset(path.name, tuple(_check_distinct_ids(answered, path)), suffix, notes)


def dump(eval_queries: Iterable[EvalQuery]) -> str:
    """Format queries as JSON lines, one each, so that a person can edit and keep them."""
    return "".join(json.dumps(_as_json(eval_query), ensure_ascii=False) + "\n" for eval_query in eval_queries)


def _as_json(eval_query: EvalQuery) -> dict[str, Any]:
    values: dict[str, Any] = {
        "id": eval_query.id,
        "query": eval_query.query,
        "relevant": [
            str(t) if t.grade == 1 else {"target": str(t), "grade": t.grade} for t in eval_query.relevant
        ],
    }
    for name in ("category", "cursor_file", "source", "base"):
        if value := getattr(eval_query, name):
            values[name] = value
    return values


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path} is too large to be ground truth")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


# --- JSON ---


def _parse_items(text: str, path: Path) -> list[Item]:
    """Parse the objects of a file: a list, one per line, or a list under ``questions`` or ``queries``."""
    if text.lstrip().startswith("["):
        found = _decode_json(text, path, 1)
    else:
        lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) > 1 and lines[0][1].strip() == "{":  # one object that spans the file
            found = _decode_json(text, path, 1)
        else:
            found = [_decode_json(line, path, n) for n, line in lines]
    if isinstance(found, dict):
        found = found.get("questions") or found.get("queries") or []
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise UsageError(f"{path} must hold one JSON object per query")
    return found


def _decode_json(text: str, path: Path, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}:{line} is not JSON: {error}") from None


def _select_repo(items: list[Item], repo: str, path: Path) -> list[Item]:
    """Select the queries about one repository, where a file has several."""
    names = list(dict.fromkeys(_get_repo_name(item) for item in items if item.get("repo")))
    if repo:
        kept = [
            item for item in items if repo in (_get_repo_name(item), item.get("repo"), item.get("task_id"))
        ]
        if not kept:
            raise UsageError(
                f"{path} has nothing about '{repo}': it is about {', '.join(names) or 'one tree'}"
            )
        return kept
    if len(names) > 1:
        raise UsageError(
            f"{path} is about several repositories: choose with --repo one of {', '.join(names)}"
        )
    return items


def _get_repo_name(item: Item) -> str:
    return str(item.get("repo", "")).rstrip("/").rpartition("/")[2]


def _parse_query(item: Item, number: int, path: Path) -> EvalQuery:
    query = item.get("query") or item.get("text") or _join_description(item)
    if not isinstance(query, str) or not query.strip():
        raise UsageError(f"{path}: query {number} has no 'query'")
    category = item.get("category") or item.get("query_category") or item.get("kind") or ""
    found = next((item[name] for name in ("id", "task_id", "qid", "_id") if name in item), number)
    return EvalQuery(
        id=str(found),
        query=query.strip(),
        relevant=tuple(dict.fromkeys(_parse_targets(item, number, path))),
        category=str(category),
        cursor_file=str(item.get("cursor_file") or ""),
        source=str(item.get("source") or ""),
        base=str(item.get("base") or ""),
    )


def _join_description(item: Item) -> str:
    """Build the query of a task from its description and its terms."""
    terms = item.get("query_terms") or []
    return " ".join(filter(None, [str(item.get("description") or ""), *map(str, terms)]))


def _parse_targets(item: Item, number: int, path: Path) -> Iterator[GoldTarget]:
    raw = [*_as_list(item.get("relevant")), *_as_list(item.get("secondary")), *_as_list(item.get("gold"))]
    raw += [*_as_list(item.get("files_edited")), *_as_list(item.get("targets"))]
    for one in raw:
        if isinstance(one, str):
            yield parse_target(one)
        elif isinstance(one, dict) and one.get("test") is True:
            continue  # SWE-QA: a test that the answer happens to cite
        elif isinstance(one, dict) and (one.get("path") or one.get("target")):
            yield from _parse_target_object(one, number, path)
        else:
            raise UsageError(f"{path}: query {number}: {one!r} is not a path, path:start-end or path:Name")


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _parse_target_object(raw: Mapping[str, Any], number: int, path: Path) -> Iterator[GoldTarget]:
    """Parse targets written as an object: a path with lines, several spans, an entity, a grade."""
    try:
        grade = int(raw.get("grade", 1))
        if grade != float(raw.get("grade", 1)):
            raise ValueError("a grade is a whole number")
        if "target" in raw:
            yield parse_target(str(raw["target"]))._replace(grade=grade)
            return
        start, end = raw.get("start_line") or raw.get("start"), raw.get("end_line") or raw.get("end")
        spans = raw.get("spans") or ([(start, end or start)] if start else [(0, 0)])
        for first, last in spans:
            entity = str(raw.get("entity") or "")
            yield GoldTarget(_clean_path(str(raw["path"])), int(first), int(last), entity, grade)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{path}: query {number}: {dict(raw)} is not a target: {error}") from None


def parse_target(text: str) -> GoldTarget:
    """Parse ``path``, ``path:12``, ``path:12-30`` or ``path:Class.method``."""
    if match := _TARGET_LINES.match(text):
        first = int(match[2])
        return GoldTarget(_clean_path(match[1]), first, max(first, int(match[3] or first)))
    if match := _TARGET_ENTITY.match(text):
        return GoldTarget(_clean_path(match[1]), entity=match[2])
    return GoldTarget(_clean_path(text))


def _clean_path(path: str) -> str:
    return path.strip().replace("\\", "/").removeprefix("./").strip("/")


# --- CSV ---


def _parse_csv(text: str, path: Path) -> list[EvalQuery]:
    """Parse columns ``query`` and ``relevant`` (answers separated by ``;``, or one per row), and the optional ones."""
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    names = [name.strip().lower() for name in reader.fieldnames or ()]
    if not {"query", "relevant"} <= set(names):
        raise UsageError(
            f"{path} needs columns 'query' and 'relevant': its first line has {', '.join(names)}"
        )
    reader.fieldnames = names
    rows: dict[tuple[str, str], EvalQuery] = {}
    for number, row in enumerate(reader, 1):
        answers = [part.strip() for part in ANSWER_SEPARATOR.split(row.get("relevant") or "") if part.strip()]
        item = {name: value for name, value in row.items() if value and name} | {"relevant": answers}
        eval_query = _parse_query(item, number, path)
        key = (str(row.get("id") or ""), eval_query.query)
        if key in rows:
            merged = dict.fromkeys([*rows[key].relevant, *eval_query.relevant])
            eval_query = replace(rows[key], relevant=tuple(merged))
        rows[key] = eval_query
    return list(rows.values())


# --- TREC ---


def _is_qrels(text: str) -> bool:
    """Tell whether the first lines are ``query [iteration] document grade``."""
    lines = [line for line in text.split("\n")[:20] if line.strip()]
    return bool(lines) and all(_QRELS.match(line) for line in lines[1 if _has_header(lines) else 0 :])


def _has_header(lines: Sequence[str]) -> bool:
    return len(lines) > 1 and lines[0].lower().startswith(("query-id", "query_id", "qid"))


def _parse_qrels(text: str, path: Path, queries: Path | None) -> list[EvalQuery]:
    if queries is None:
        raise UsageError(f"{path} has judgements but no queries: give them with --queries FILE")
    answers: dict[str, list[GoldTarget]] = defaultdict(list)
    lines = [line for line in text.split("\n") if line.strip()]
    for number, line in enumerate(lines[1 if _has_header(lines) else 0 :], 1):
        match = _QRELS.match(line)
        if not match:
            raise UsageError(f"{path}: line {number} is not 'query [iteration] document grade': {line!r}")
        if int(match[3]) > 0:
            answers[match[1]].append(parse_target(match[2])._replace(grade=int(match[3])))
    topics = _read_topics(queries)
    if unknown := [id for id in answers if not topics.get(id)]:
        raise UsageError(f"{queries} does not have query {unknown[0]} of {path.name}")
    return [EvalQuery(id, topics[id], tuple(dict.fromkeys(found))) for id, found in answers.items()]


def _read_topics(path: Path) -> dict[str, str]:
    """Read queries by id: tab-separated, JSON lines (``_id`` and ``text``), or TREC topics."""
    text = _read_text(path)
    if "<top>" in text:
        return {match[1]: " ".join(match[2].split()) for match in _TOPIC.finditer(text)}
    if text.lstrip().startswith(("{", "[")):
        topics = (
            (i.get("_id", i.get("id", i.get("qid"))), i.get("text", i.get("query")))
            for i in _parse_items(text, path)
        )
        return {str(id): str(query) for id, query in topics}
    pairs = (line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    found = {id.strip(): query.strip() for id, query in pairs}
    if not found:
        raise UsageError(f"{path} has no queries: write one per line, its id, a tab, the query")
    return found


def _check_distinct_ids(eval_queries: Sequence[EvalQuery], path: Path) -> Iterator[EvalQuery]:
    """Pass queries on; raise an error if two have the same id."""
    seen: set[str] = set()
    for number, eval_query in enumerate(eval_queries, 1):
        if eval_query.id in seen:
            raise UsageError(
                f"{path}: two queries have the id '{eval_query.id}' (the second is number {number})"
            )
        seen.add(eval_query.id)
        yield eval_query
