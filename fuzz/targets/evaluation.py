"""Evaluations that were saved: UsageError for a file that is none; what is read can be saved again."""

from dowse.errors import UsageError
from dowse.evaluation import storage
from fuzz.inputs import make_folder


def run(data: bytes) -> None:
    """Load an evaluation, save it, load it again."""
    path = make_folder("evaluation") / "saved.json"
    path.write_bytes(data)
    try:
        loaded = storage.load(path)
    except UsageError:
        return
    storage.save(loaded, path)
    assert repr(storage.load(path)) == repr(loaded)
