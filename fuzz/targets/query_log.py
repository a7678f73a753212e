"""The list of earlier queries: lines that are none are skipped, what is read has its types."""

from dowse.search import query_log
from fuzz.inputs import make_folder


def run(data: bytes) -> None:
    """Read a list of any bytes."""
    path = make_folder("query-log") / "searches.jsonl"
    path.write_bytes(data)
    for entry in query_log.read_log(path):
        assert isinstance(entry.query, str)
        assert isinstance(entry.time, int | float)
        assert isinstance(entry.hits, int)
        assert isinstance(entry.best, int | float)
