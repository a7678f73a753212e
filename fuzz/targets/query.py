"""The query language and how a query is understood: a value, or a UsageError that says what is wrong."""

from dowse.code import languages
from dowse.errors import UsageError
from dowse.search import analyse, query_language
from fuzz.inputs import as_text


def run(data: bytes) -> None:
    """Parse a query; write it and parse it again; analyse its text."""
    text = as_text(data)
    try:
        parsed = query_language.parse(text)
    except UsageError:
        return
    written = query_language.to_text(parsed)
    if len(written) <= query_language.MAX_QUERY and "\n" not in written and "\r" not in written:
        again = query_language.parse(written)
        assert again._replace(notes=()) == parsed._replace(notes=()), (parsed, written, again)
    known = languages.builtin().extensions
    analysed = analyse.analyse(parsed.text, known.__contains__, parsed.names)
    assert len(analysed.terms) <= analyse.MAX_TERMS
    assert len(analysed.names) <= analyse.MAX_NAMES
    analyse.with_added(analysed, [parsed.text[:50]])
