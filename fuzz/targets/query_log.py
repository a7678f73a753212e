"""The query log: invalid lines are skipped, and every field of an entry has its type."""

from dowse.search import query_log
from fuzz.inputs import make_folder


def run(data: bytes) -> None:
    """Read a log of any bytes."""
    path = make_folder("query-log") / "searches.jsonl"
    path.write_bytes(data)
    for entry in query_log.read_log(path):
        assert isinstance(entry.query, str)
        assert isinstance(entry.time, int | float)
        assert isinstance(entry.hits, int)
        assert isinstance(entry.best, int | float)
