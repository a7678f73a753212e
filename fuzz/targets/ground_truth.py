"""Ground truth in every form: UsageError for a file that has none."""

from dowse.errors import UsageError
from dowse.evaluation import dataset
from fuzz.inputs import choose, make_folder, split

NAMES = ("truth.jsonl", "truth.csv", "truth.tsv", "truth.qrels")


def run(data: bytes) -> None:
    """Load a file (qrels with their queries); what was read can be written and read again."""
    choice, rest = choose(data, len(NAMES))
    content, queries = split(rest, 2)
    folder = make_folder("ground-truth")
    path, queries_path, written = folder / NAMES[choice], folder / "queries", folder / "written.jsonl"
    path.write_bytes(content)
    queries_path.write_bytes(queries)
    try:
        loaded = dataset.load(path, queries=queries_path if choice == 3 else None)
    except UsageError:
        return
    assert all(labelled.query and labelled.relevant for labelled in loaded.queries)
    written.write_text(dataset.dump(loaded.queries), encoding="utf-8", errors="surrogatepass")
