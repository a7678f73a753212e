"""Every format against a small tree written by hand: entities, chunks that stand alone, and edges of the graph.

A folder under ``samples`` is a tree and an ``expected.txt`` that a person has read. After a change,
``pytest tests/formats --update-golden`` rewrites the latter; the difference is what there is to review.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.graph import build
from dowse.indexing.analyze_file import analyze
from dowse.indexing.decode import SourceText, read_source
from dowse.stores.memory import MemoryStore
from dowse.types.graph_values import Certainty
from tests.stores.building import HOW, write

SAMPLES = Path(__file__).parent / "samples"
EXPECTED = "expected.txt"
FOLDERS = sorted(folder.name for folder in SAMPLES.iterdir())


def read_tree(folder: Path) -> dict[str, str]:
    """The files of a sample, read as indexing reads them."""
    tree = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder).as_posix()
        if path.is_file() and relative != EXPECTED:
            source = read_source(path, relative, 1_000_000)
            assert isinstance(source, SourceText), source
            tree[relative] = source.content.decode()
    return tree


def render_file(path: str, text: str) -> Iterator[str]:
    parsed = analyze(HOW, path, text.encode()).parsed
    yield f"# {path}: {parsed.language}, {parsed.health}"
    for e in parsed.entities:
        parent = f" in {parsed.entities[e.parent].qualified}" if e.parent is not None else ""
        yield f"{e.kind} {e.qualified} {e.start_line}-{e.end_line}{parent}"
        if e.signature:
            yield f"    {e.signature}"
        if e.doc:
            yield f"    doc: {e.doc.splitlines()[0]}"
    yield "chunks " + " ".join(f"{chunk.start_line}-{chunk.end_line}" for chunk in parsed.chunks)


def render_edges(tree: dict[str, str]) -> Iterator[str]:
    store = MemoryStore()
    write(store, tree)
    with store.snapshot() as snapshot:
        files = build.update_graph(snapshot, {})
    yield "# edges"
    for edge in sorted(edge for file in files.values() for edge in file.edges):
        if edge.certainty is Certainty.RESOLVED:
            yield f"{edge.source} {edge.relation} {edge.target}"
        elif edge.candidates:
            yield f"{edge.source} {edge.relation} one of {' '.join(edge.candidates)}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_sample_is_read(folder: str, request: pytest.FixtureRequest) -> None:
    tree = read_tree(SAMPLES / folder)
    lines = [line for path, text in tree.items() for line in render_file(path, text)]
    rendered = "".join(f"{line}\n" for line in [*lines, *dict.fromkeys(render_edges(tree))])
    golden = SAMPLES / folder / EXPECTED
    if request.config.getoption("--update-golden"):
        golden.write_text(rendered, encoding="utf-8", newline="\n")
    assert rendered == golden.read_text(encoding="utf-8")
