"""What becomes of a question's words before anything is searched for: rewritten if asked for, then enriched.

Both are off unless the settings name a rewriter or a term graph, and whatever they do is part of the answer.
"""

from __future__ import annotations

from dowse.errors import RewriterError
from dowse.search.query import stack_traces
from dowse.search.query.llm_rewriter import Rewriter
from dowse.search.query.term_graph import Enriched, TermGraph
from dowse.types import ParsedQuery, Wording


def worded(parsed: ParsedQuery, graph: TermGraph | None, rewriter: Rewriter | None) -> ParsedQuery:
    """The question as it is searched for, with how it became that. Filters, phrases and patterns stay as they are."""
    text = parsed.text
    if not text.strip() or stack_traces.looks_like_output(text):
        return parsed._replace(wording=Wording(text, text, text))
    rewritten, why_not = _rewritten(text, rewriter)
    enriched = graph.enriched(rewritten) if graph else Enriched(rewritten, ())
    name = rewriter.name if rewriter else ""
    notes = (f"the question was not rewritten by {name}: {why_not}",) if why_not else ()
    wording = Wording(text, rewritten, enriched.text, enriched.added, name, why_not)
    return parsed._replace(text=rewritten, notes=(*parsed.notes, *notes), wording=wording)


def _rewritten(text: str, rewriter: Rewriter | None) -> tuple[str, str]:
    """The question in other words, or itself and why."""
    if rewriter is None:
        return text, ""
    try:
        return rewriter.rewrite(text), ""
    except RewriterError as error:
        return text, str(error)
