"""The query language and the analysis of a query: a value, or a UsageError that says what is wrong."""

from dowse.code import languages
from dowse.errors import UsageError
from dowse.search.query import analyze, parse, query_format
from fuzz.inputs import decode_text


def run(data: bytes) -> None:
    """Parse a query; write it and parse it again; analyse its text."""
    text = decode_text(data)
    try:
        parsed = parse.parse_query(text)
    except UsageError:
        return
    written = query_format.format_query(parsed)
    if len(written) <= parse.MAX_QUERY_CHARS and "\n" not in written and "\r" not in written:
        again = parse.parse_query(written)
        assert again._replace(notes=()) == parsed._replace(notes=()), (parsed, written, again)
    known = languages.load_builtin().extensions
    analysed = analyze.analyze_text(parsed.text, known.__contains__, parsed.names)
    assert len(analysed.terms) <= analyze.MAX_TERMS
    assert len(analysed.names) <= analyze.MAX_NAMES
    analyze._add_terms(analysed, [parsed.text[:50]])
