"""Evaluations that were saved: UsageError for a file that is none; what is read can be saved again."""

from dowse.errors import UsageError
from dowse.evaluation import saved
from fuzz.inputs import scratch


def run(data: bytes) -> None:
    """Load an evaluation, save it, load it again."""
    path = scratch("evaluation") / "saved.json"
    path.write_bytes(data)
    try:
        loaded = saved.load(path)
    except UsageError:
        return
    saved.save(loaded, path)
    assert repr(saved.load(path)) == repr(loaded)
