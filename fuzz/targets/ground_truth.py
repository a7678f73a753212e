"""Ground truth in every form: UsageError for a file that has none."""

from dowse.errors import UsageError
from dowse.evaluation import dataset
from fuzz.inputs import choose, scratch, split

NAMES = ("truth.jsonl", "truth.csv", "truth.tsv", "truth.qrels")


def run(data: bytes) -> None:
    """Load a file (qrels with their queries); what was read can be written and read again."""
    place, rest = choose(data, len(NAMES))
    content, queries = split(rest, 2)
    folder = scratch("ground-truth")
    path, asked, written = folder / NAMES[place], folder / "queries", folder / "written.jsonl"
    path.write_bytes(content)
    asked.write_bytes(queries)
    try:
        loaded = dataset.load(path, queries=asked if place == 3 else None)
    except UsageError:
        return
    assert all(question.query and question.relevant for question in loaded.queries)
    written.write_text(dataset.dump(loaded.queries), encoding="utf-8", errors="surrogatepass")
