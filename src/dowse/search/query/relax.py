"""Query relaxation: what is left of a query whose phrases, patterns or filters nothing in the index meets."""

from __future__ import annotations

from collections.abc import Iterator

from dowse.types.answers import SearchResponse
from dowse.types.queries import ParsedQuery


def relax_query(query: ParsedQuery) -> Iterator[tuple[ParsedQuery, str]]:
    """Yield queries that require less, nearest first, with a note on the answer: words of phrases stay words."""
    if query.is_exact:
        text = " ".join([query.text, *query.phrases]).strip()
        if not text.isprintable() and text != text.encode("utf-8", "ignore").decode():
            return  # no text at all
        query = query._replace(text=text, phrases=(), regexes=())
        if text:
            yield query, "nothing has the phrase or pattern as written: this is what its words find"
    if query.has_filters and query.text.strip():
        yield (
            ParsedQuery(text=query.text, rewrite=query.rewrite),
            "nothing is left by the filters of the query: this is what is found without them",
        )


def found_nothing(response: SearchResponse) -> bool:
    """Return whether nothing meets what a query requires; hits that are not relevant enough are something."""
    exact = [report.hits for report in response.channels if report.name == "exact"]
    hits = exact or [report.hits for report in response.channels]
    return not response.results and not any(hits)
