"""JSON output schema: convert responses, explanations, reports and status to JSON values. The one place with field
names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dowse.types.answers import ChannelReport, Packed, SearchResponse, SearchResult, Stage
from dowse.types.discovered import FoundFile, IndexReport, Skipped
from dowse.types.explanations import Explanation
from dowse.types.queries import Query, RewriteTrace
from dowse.types.stored import IndexStatus, ServerStatus, StoredFile

if TYPE_CHECKING:
    from dowse.code.languages.spec import Language

SCHEMA = 2
"""Version of every JSON object: raised when a field goes or changes its meaning, not when one is added."""


def results_values(results: Iterable[SearchResult]) -> dict[str, Any]:
    """Convert places that were read."""
    return {"schema": SCHEMA, "results": [_result_values(result) for result in results]}


def search_values(response: SearchResponse, packed: Packed | None = None) -> dict[str, Any]:
    """Convert the answer of a search; see docs/search.schema.json. With a budget, all text is in what was packed."""
    results = (
        response.results if packed is None else [result._replace(text="") for result in response.results]
    )
    return {
        "schema": SCHEMA,
        "query": _query_values(response.query),
        "root": response.root,
        "generation": response.generation,
        "milliseconds": round(response.milliseconds, 3),
        "stages": _stage_values(response.stages),
        "cached": response.cached,
        "low_confidence": response.low_confidence,
        "relaxed": response.relaxed,
        "channels": [_channel_values(channel) for channel in response.channels],
        "results": [_result_values(result) for result in results],
        "notes": list(response.notes),
        "repositories": [asdict(report) for report in response.repositories],
        "rewrite": rewrite_values(response.query.rewrite),
        **({"packed": packed_values(packed)} if packed else {}),
    }


_QUERY_ROWS = ("frames", "versions", "spellings")
"""Fields of a query that are tables."""


def _query_values(query: Query) -> dict[str, Any]:
    terms = [term._asdict() for term in query.terms]
    rows = {name: [one._asdict() for one in getattr(query, name)] for name in _QUERY_ROWS}
    texts = {"text": query.text, "type": query.type, "message": query.message}
    views = {view.name: view.text for view in query.views}
    lists = {name: list(getattr(query, name)) for name in ("names", "files", "words", "dropped", "unknown")}
    return texts | {"views": views, "terms": terms} | rows | lists


def _stage_values(stages: Iterable[Stage]) -> list[dict[str, Any]]:
    return [{"name": stage.name, "milliseconds": round(stage.milliseconds, 3)} for stage in stages]


def explanation_values(explanation: Explanation) -> dict[str, Any]:
    """Convert what became of one place; see docs/explain.schema.json."""
    return (
        {"schema": SCHEMA}
        | asdict(explanation)
        | {
            "query": _query_values(explanation.query),
            "result": _result_values(explanation.result) if explanation.result else None,
            "terms": [term._asdict() for term in explanation.terms],
            "above": [
                asdict(rival) | {"reasons": [reason._asdict() for reason in rival.reasons]}
                for rival in explanation.above
            ],
            "stages": _stage_values(explanation.stages),
        }
    )


def rewrite_values(trace: RewriteTrace) -> dict[str, Any]:
    """Convert the trace of how a query was rewritten and enriched."""
    return trace._asdict() | {"added": [added._asdict() for added in trace.added]}


def _result_values(result: SearchResult) -> dict[str, Any]:
    reasons = [reason._asdict() for reason in result.reasons]
    return result._asdict() | {"reasons": reasons, "channel_scores": dict(result.channel_scores)}


def packed_values(packed: Packed) -> dict[str, Any]:
    """Convert an answer cut to a budget, and what had no room."""
    return {
        "text": packed.text,
        "tokens": packed.tokens,
        "budget": packed.budget,
        "omitted": list(packed.omitted),
        "cut": list(packed.cut),
    }


def _channel_values(channel: ChannelReport) -> dict[str, Any]:
    return asdict(channel) | {"milliseconds": round(channel.milliseconds, 3)}


def report_values(report: IndexReport, status: IndexStatus, root: str) -> dict[str, Any]:
    """Convert what an indexing run did, and the index it left."""
    return {"schema": SCHEMA, "root": root, "report": _report_values(report), "index": _index_values(status)}


def status_values(status: IndexStatus, root: str, pending: int | None) -> dict[str, Any]:
    """Convert the state of an index."""
    report = _report_values(status.report) if status.report else None
    return {
        "schema": SCHEMA,
        "root": root,
        "index": _index_values(status),
        "pending": pending,
        "report": report,
    }


def _report_values(report: IndexReport) -> dict[str, Any]:
    failures = [failure._asdict() for failure in report.failures]
    return asdict(report) | {"failures": failures, "seconds": round(report.seconds, 3)}


def _index_values(status: IndexStatus) -> dict[str, Any]:
    values = asdict(status) | {"secrets": [secret._asdict() for secret in status.secrets]}
    del values["report"]
    return values


def server_values(status: ServerStatus) -> dict[str, Any]:
    """Convert the state of a shared store."""
    views = [{name: getattr(view, name) for name in view.__dataclass_fields__} for view in status.views]
    return {
        "schema": SCHEMA,
        "location": status.location,
        "store_schema": status.schema,
        "product": status.product,
        "version": status.version,
        "extensions": dict(status.extensions),
        "size_bytes": status.size_bytes,
        "repositories": len({view.repository for view in status.views}),
        "views": views,
        "notes": list(status.notes),
    }


def files_values(files: Iterable[StoredFile], root: str) -> dict[str, Any]:
    """Convert the files of an index."""
    rows = [
        {
            "path": file.path,
            "language": file.parsed.language,
            "role": file.role,
            "health": file.parsed.health,
            "chunks": len(file.parsed.chunks),
            "definitions": len(file.parsed.entities),
        }
        for file in files
    ]
    return {"schema": SCHEMA, "root": root, "files": rows}


def skipped_values(found: Iterable[Skipped], root: str) -> dict[str, Any]:
    """Convert the files and folders that are skipped, with their reasons."""
    return {"schema": SCHEMA, "root": root, "skipped": [skipped._asdict() for skipped in found]}


def why_values(verdict: FoundFile | Skipped) -> dict[str, Any]:
    """Convert whether a file belongs in the index, and if not, why."""
    is_skipped = isinstance(verdict, Skipped)
    reason, detail = (verdict.reason, verdict.detail) if isinstance(verdict, Skipped) else ("", "")
    return {
        "schema": SCHEMA,
        "path": verdict.path,
        "indexed": not is_skipped,
        "reason": reason,
        "detail": detail,
    }


def languages_values(languages: Iterable[Language]) -> dict[str, Any]:
    """Convert languages, and what is known of each."""
    return {"schema": SCHEMA, "languages": [language_values(language) for language in languages]}


def language_values(language: Language) -> dict[str, Any]:
    """Convert one language."""
    return {
        "name": language.name,
        "aliases": list(language.aliases),
        "extensions": list(language.extensions),
        "filenames": list(language.filenames),
        "interpreters": list(language.interpreters),
        "symbols": bool(language.definitions or language.reader),
        "imports": "@import" in language.references,
        "calls": "@call" in language.references,
        "grammar": language.grammar.partition(":")[0],
        "extra": language.extra,
        "written_in": list(language.bases),
    }
