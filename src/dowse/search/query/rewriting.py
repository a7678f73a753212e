"""Query rewriting and expansion: a language model may rephrase a query, then the term graph adds synonyms.

Both are off unless the settings name a rewriter or a term graph, and what they did is part of the answer.
"""

from __future__ import annotations

from dowse.errors import RewriterError
from dowse.search.query import stack_traces
from dowse.search.query.llm_rewriter import Rewriter
from dowse.search.query.term_graph import MAX_ADDED_TERMS, EnrichedQuery, TermGraph
from dowse.types.queries import ParsedQuery, RewriteTrace


def rewrite_query(
    parsed: ParsedQuery, graph: TermGraph | None, rewriter: Rewriter | None, max_terms: int = MAX_ADDED_TERMS
) -> ParsedQuery:
    """Rewrite and enrich the text of a query, with a trace of it. Filters, phrases and patterns stay as they are."""
    text = parsed.text
    if not text.strip() or stack_traces.looks_like_output(text):
        return parsed._replace(rewrite=RewriteTrace(text, text, text))
    rewritten, why_not = _try_rewriter(text, rewriter)
    enriched = graph.enrich(rewritten, max_terms) if graph else EnrichedQuery(rewritten, ())
    name = rewriter.name if rewriter else ""
    notes = (f"the query was not rewritten by {name}: {why_not}",) if why_not else ()
    trace = RewriteTrace(text, rewritten, enriched.text, enriched.added, name, why_not)
    return parsed._replace(text=rewritten, notes=(*parsed.notes, *notes), rewrite=trace)


def _try_rewriter(text: str, rewriter: Rewriter | None) -> tuple[str, str]:
    """Return the query in other words, or as it is and why."""
    if rewriter is None:
        return text, ""
    try:
        return rewriter.rewrite(text), ""
    except RewriterError as error:
        return text, str(error)
