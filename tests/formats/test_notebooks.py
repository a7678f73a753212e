"""Notebooks on disk: what is read of them, where lines point, and what is too much."""

import json
from pathlib import Path
from typing import Any

from dowse import Engine
from dowse.indexing.decode import SourceText, read_source
from dowse.types.discovered import Skipped, SkipReason


def notebook(*cells: dict[str, Any], language: str = "python") -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {"language_info": {"name": language}}, "nbformat": 4}


def code(*lines: str, outputs: list[Any] | None = None) -> dict[str, Any]:
    return {"cell_type": "code", "outputs": outputs or [], "source": [f"{line}\n" for line in lines]}


def read(path: Path, limit: int = 1_000_000) -> str:
    found = read_source(path, path.name, limit)
    assert isinstance(found, SourceText), found
    return found.content.decode()


def test_lines_stay_on_the_lines_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(notebook(code("a = 1", "b = 2"), code("c = 3")), indent=1))
    rows = read(path).split("\n")
    for row, line in enumerate(path.read_text().split("\n")):
        if "= " in line:
            assert rows[row] in line
    assert [row for row in rows if row.startswith("# %%")] == ["# %% cell 1", "# %% cell 2"]


def test_outputs_do_not_count_for_the_size(tmp_path: Path) -> None:
    path = tmp_path / "big.ipynb"
    picture = [{"data": {"image/png": "A" * 5_000_000}}]
    path.write_text(json.dumps(notebook(code("find_me = 1", outputs=picture)), indent=1))
    assert len(read(path)) < 1_000
    with Engine.open(tmp_path) as engine:
        assert engine.search("find_me").results[0].path == "big.ipynb"


def test_cells_count_for_the_size(tmp_path: Path) -> None:
    path = tmp_path / "long.ipynb"
    path.write_text(json.dumps(notebook(code(*["x = 1"] * 1000)), indent=1))
    skipped = read_source(path, "long.ipynb", 2_000)
    assert isinstance(skipped, Skipped)
    assert skipped.reason is SkipReason.TOO_LARGE
    assert "without outputs" in skipped.detail


def test_a_notebook_that_is_none_is_text(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    for text in (
        "",
        "not json",
        "{}",
        '{"cells": []}',
        '{"cells": {"a": 1}}',
        "[" * 5000,
        '{"cells":[{"source"',
    ):
        path.write_text(text)
        assert isinstance(read_source(path, "a.ipynb", 10_000), SourceText)


def test_rows_far_below_are_not_padded_to(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text("\n" * 3_000_000 + json.dumps(notebook(code("x = 1")), indent=1))
    assert "x = 1" in read(path)
    assert len(read(path)) < 1_000


def test_cells_in_another_language_are_parsed_as_such(tmp_path: Path) -> None:
    (tmp_path / "j.ipynb").write_text(
        json.dumps(notebook(code("function area(r)", "  pi * r^2", "end"), language="Julia"), indent=1)
    )
    with Engine.open(tmp_path) as engine:
        hit = engine.search("area kind:function").results[0]
    assert (hit.path, hit.entity) == ("j.ipynb", "area")


def test_a_cell_is_found_by_its_kind_and_shown_with_its_number(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(
        json.dumps(notebook(code("import os"), code("plot(frame)", "show()")), indent=1)
    )
    (tmp_path / "plot.py").write_text("def plot(frame):\n    return frame\n")
    with Engine.open(tmp_path) as engine:
        hits = engine.search("plot frame kind:cell").results
    assert (hits[0].entity, hits[0].kind) == ("cell 2", "cell")
    assert {hit.path for hit in hits} == {"a.ipynb"}


def test_a_definition_is_shown_with_the_number_of_its_cell(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(
        json.dumps(notebook(code("import os"), code("def draw(frame):", "    return frame")), indent=1)
    )
    with Engine.open(tmp_path) as engine:
        hit = engine.search("draw").results[0]
    assert (hit.entity, hit.kind) == ("draw", "function")
    assert "# %% cell 2" in hit.text
