"""The example of a term graph: what its page and the saved validation say is what the program finds.

``pytest tests/test_term_graph_example.py --update-golden`` writes both again.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dowse import Engine
from dowse.evaluation import dataset
from dowse.evaluation.term_graph_checks.save import (
    MAX_EXAMPLES,
    MIN_EXAMPLES,
    choose_examples,
    save_validation,
)
from dowse.evaluation.term_graph_checks.validate import Validation, ValidationRow, validate

FOLDER = Path(__file__).parent.parent / "examples" / "terms"
PAGE = FOLDER / "README.md"
SAVED = FOLDER / "validation"
EVALUATION = FOLDER.parent.parent / "docs" / "evaluation.md"
RUNS = [(queries, embedder) for queries in ("queries", "queries-known") for embedder in ("none", "static")]
ROW = re.compile(r"^\| `(queries[\w-]*)\.jsonl` \| `(\w+)` \|.*$", re.MULTILINE)


def measure(queries: str, embedder: str, index: Path) -> Validation:
    with Engine.open(FOLDER / "corpus", embedder=embedder, index_dir=str(index)) as engine:
        return validate(engine, dataset.load(FOLDER / f"{queries}.jsonl"), FOLDER / "kubernetes.json")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Validation]:
    folder = tmp_path_factory.mktemp("indexes")
    return {run: measure(*run, folder / "-".join(run)) for run in RUNS}


def table_row(queries: str, embedder: str, run: Validation) -> str:
    conclusion = "validated" if run.validated else "**not validated**"
    cells = [
        f"`{queries}.jsonl`",
        f"`{embedder}`",
        f"{run.fired} of {len(run.rows)}",
        f"{run.baseline * 100:.0f} %",
    ]
    cells += [f"{run.enriched * 100:.0f} %", str(run.improved), str(run.regressed), conclusion]
    return f"| {' | '.join(cells)} |"


def test_the_page_has_the_figures(
    found: dict[tuple[str, str], Validation], pytestconfig: pytest.Config
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    fresh = ROW.sub(lambda row: table_row(row[1], row[2], found[row[1], row[2]]), page)
    if pytestconfig.getoption("--update-golden"):
        PAGE.write_text(fresh, encoding="utf-8")
    assert [(row[1], row[2]) for row in ROW.finditer(page)] == RUNS
    assert PAGE.read_text(encoding="utf-8") == fresh


@pytest.mark.parametrize(
    ("embedder", "row"), [("none", "keywords and names"), ("static", "with the built-in model")]
)
def test_the_page_on_evaluation_has_the_hits_on_documentation(
    found: dict[tuple[str, str], Validation], embedder: str, row: str
) -> None:
    runs = [found[queries, embedder] for queries in ("queries", "queries-known")]
    asked = sum(len(run.rows) for run in runs)
    hits = round(sum(run.baseline * len(run.rows) for run in runs))
    section = EVALUATION.read_text(encoding="utf-8").partition("## Questions about documentation")[2]
    assert f"for the {asked} questions" in section
    (line,) = [line for line in section.splitlines() if line.startswith(f"| {row}")]
    assert line.endswith(f"| {hits} of {asked} = {hits / asked:.0%} |".replace("%", " %"))


def test_the_saved_validation_is_what_comes_out(
    found: dict[tuple[str, str], Validation], tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    run = found["queries", "static"]
    if pytestconfig.getoption("--update-golden"):
        save_validation(run, SAVED)
    written = save_validation(run, tmp_path / "new")
    assert {path.name for path in written} == {
        "baseline.json", "enriched.json", "comparison.json", "enrichment-log.json", "analysis.md",
    }  # fmt: skip
    for path in written:
        assert (SAVED / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8"), path.name


def test_the_analysis_has_every_part(found: dict[tuple[str, str], Validation], tmp_path: Path) -> None:
    for number, run in enumerate(found.values()):
        save_validation(run, tmp_path / str(number))
        text = (tmp_path / str(number) / "analysis.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert headings == ["Summary", "Every query", "Examples", "Conclusion", "Next steps"]
        assert all(f"| {row.query} |" in text for row in run.rows)
        assert (
            MIN_EXAMPLES <= text.partition("## Examples")[2].partition("## ")[0].count("\n- ") <= MAX_EXAMPLES
        )


def test_examples_are_first_what_changed_and_what_was_missed() -> None:
    def row(id: str, change: str, after: int, *added: str) -> ValidationRow:
        return ValidationRow(id, id, 0, after, change, added, id)

    rows = (
        row("fine", "unchanged", 1),
        row("missed", "unchanged", 0),
        row("touched", "unchanged", 1, "term"),
        row("better", "improved", 1, "term"),
    )
    assert [one.id for one in choose_examples(rows)] == ["better", "touched", "missed"]
    assert [one.id for one in choose_examples(rows[:1])] == ["fine"]
