"""The term graph of a tree: SettingsError for any other file."""

from dowse.errors import SettingsError
from dowse.search.query import term_graph
from fuzz.inputs import decode_text, make_folder, split


def run(data: bytes) -> None:
    """Load a file and add to a query what it says."""
    content, query = split(data, 2)
    path = make_folder("term-graph") / "terms.json"
    path.write_bytes(content)
    try:
        graph = term_graph.load_term_graph(path)
    except SettingsError:
        return
    assert graph.digest
    text = decode_text(query)
    enriched = graph.enrich(text)
    assert enriched.text.startswith(text)
    assert len(enriched.added) <= term_graph.MAX_ADDED_TERMS
    for entry in graph.entries:
        graph.enrich(entry.canonical)
