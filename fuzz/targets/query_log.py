"""The list of earlier queries: lines that are none are skipped, what is read has its types."""

from dowse.search import query_log
from fuzz.inputs import scratch


def run(data: bytes) -> None:
    """Read a list of any bytes."""
    path = scratch("query-log") / "searches.jsonl"
    path.write_bytes(data)
    for asked in query_log.read_log(path):
        assert isinstance(asked.query, str)
        assert isinstance(asked.time, int | float)
        assert isinstance(asked.hits, int)
        assert isinstance(asked.best, int | float)
