"""Files with nothing in them: part of the tree and of its graph, never a hit."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine, SearchOptions
from dowse.types.explanations import Verdict

FILES = {
    "main.py": "import pkg.sub\nfrom pkg.sub.leaf import grow\n\n\ndef main():\n    grow()\n",
    "pkg/__init__.py": "",
    "pkg/sub/__init__.py": "\n \n",
    "pkg/sub/leaf.py": "def grow():\n    return 1\n",
    "tests/test_leaf.py": "",
    "notes.txt": "",
}
EMPTY = [path for path, text in FILES.items() if not text.strip()]


@pytest.fixture(params=["memory", "embedded"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    with Engine.open(tmp_path, store=request.param, embedder="none") as engine:
        engine.index()
        yield engine


def test_they_count_as_indexed(engine: Engine) -> None:
    report = engine.index()
    assert (report.seen, report.indexed) == (len(FILES), len(FILES))


@pytest.mark.parametrize("path", EMPTY)
def test_they_are_never_hits(engine: Engine, path: str) -> None:
    for query in (path, f"{path}:1", f"grow {path}"):
        assert path not in {hit.path for hit in engine.search(query).results}
    assert engine.explain(path, path).verdict is Verdict.NOT_CONSIDERED
    assert engine.explain(path, path).detail == "the file is empty"


def test_they_do_not_stand_in_the_way_of_what_leads_to_them(engine: Engine) -> None:
    near = engine.search("grow", SearchOptions(near=engine.near("main.py:1")))
    assert "pkg/sub/leaf.py" in {hit.path for hit in near.results}
    assert engine.related("pkg/__init__.py", 1) is not None
    assert "pkg/sub/leaf.py" in {hit.path for hit in engine.search("grow").results}


def test_imports_lead_to_them(engine: Engine) -> None:
    graph = engine.graph.load()
    targets = {edge.target for edge in graph.files["main.py"].edges}
    assert {"pkg/sub/__init__.py", "pkg/sub/leaf.py"} <= targets
    assert "pkg/__init__.py" in graph.files


def test_a_file_that_is_emptied_is_found_no_more(engine: Engine) -> None:
    assert engine.search("grow").results
    (engine.root / "pkg/sub/leaf.py").write_text("", encoding="utf-8")
    engine.force_check()
    assert "pkg/sub/leaf.py" not in {hit.path for hit in engine.search("grow").results}
    assert "pkg/sub/leaf.py" in engine.graph.load().files
