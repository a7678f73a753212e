"""Views of a report: title, prose, code with the names of code in the text, and what the program said."""

from __future__ import annotations

from dowse.lazy_regex import compile_lazily
from dowse.search.query.issue_text import IssueText
from dowse.types.queries import Query, QueryView

REPORT_WORDS = 30
"""Words from which on a text without markup is a report; a shorter one asks for one thing."""

_QUOTED_CODE = compile_lazily(r"`([^`\n]{1,200})`")
_CODE_NAME = compile_lazily(
    r"[^\W\d]\w{0,99}(?:(?:\.|::)[^\W\d]\w{0,99}){1,9}|\w{0,50}[^\W_]_\w{1,50}|[^\W\d_]{0,50}[a-z][A-Z]\w{0,50}|[^\W\d]\w{0,99}(?=\()"
)


def is_report(query: Query) -> bool:
    """Return whether a query is a report that asks for any place; output alone is ranked by its frames.

    A long text in plain words, without a name of code or markup, is a question: it asks for a file first.
    """
    return (
        bool(query.views) and query.type != "words" and not query.filter.about_chunks and not query.is_exact
    )


def split_issue(issue: IssueText) -> tuple[QueryView, ...]:
    """Split a report that has markup or output into its views."""
    return _make_views(issue.title, issue.prose, issue.code, issue.message)


def split_text(text: str) -> tuple[QueryView, ...]:
    """Split a text into its views: its first line is its title; nothing if it is too short for a report."""
    if len(text.split()) < REPORT_WORDS:
        return ()
    title, _, prose = text.strip().partition("\n")
    return _make_views(title, prose, "", "")


def _make_views(title: str, prose: str, code: str, message: str) -> tuple[QueryView, ...]:
    """Make the views that have words; names of code in the title and the prose count as code too."""
    said = f"{title}\n{prose}"
    names = dict.fromkeys([*_QUOTED_CODE.findall(said), *_CODE_NAME.findall(said)])
    texts = {"title": title, "prose": prose, "code": "\n".join([code, *names]).strip(), "message": message}
    return tuple(QueryView(name, text) for name, text in texts.items() if text.strip())
