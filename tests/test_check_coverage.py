"""The check of coverage: it reads what coverage writes, and the README shows no more than is so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import check_coverage
from tests.check_coverage import CORE, LINE, README, WHOLE, is_honest, main, measure, read_line, write_line

SOURCE = Path(__file__).parent.parent / "src" / "dowse"


def report(**shares: tuple[int, int]) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    files = {
        f"src/dowse/{name}": {"summary": {"num_statements": total, "covered_lines": covered}}
        for name, (covered, total) in shares.items()
    }
    return {"files": files}


def test_a_part_is_measured_by_lines_of_all_its_files() -> None:
    part = check_coverage.Part("two", ("a.py", "b.py"), 0.5)
    found = report(**{"a.py": (10, 10), "b.py": (20, 90), "c.py": (0, 1000)})
    assert measure(found, part) == 30 / 100
    assert measure(found, part._replace(files=())) == 30 / 1100
    with pytest.raises(SystemExit, match=r"lacks src/dowse/gone\.py"):
        measure(found, part._replace(files=("gone.py",)))


def test_a_share_is_rounded_down_and_leaves_a_margin() -> None:
    assert [check_coverage.round_down(share) for share in (0.953, 1.0, 0.999)] == [94, 100, 99]


def test_what_the_line_says_can_be_read_again() -> None:
    told = {part.name: percent for part, percent in zip((*CORE, WHOLE), (94, 100, 99, 90), strict=True)}
    assert write_line(told).endswith("names 94 %, keyword index 100 %, fusion 99 %, all of `src` 90 %.")
    assert read_line(f"A page.\n\n{write_line(told)}\n") == told


def test_a_readme_that_says_more_than_is_so_or_nothing_is_not_honest() -> None:
    found = dict(zip((*CORE, WHOLE), [0.96, 0.97, 1.0, 0.91], strict=True))
    told = {part.name: int(share * 100) for part, share in found.items()}
    assert is_honest(write_line(told), found)
    assert not is_honest(write_line(told | {WHOLE.name: 92}), found)
    assert not is_honest("Lines that tests run: many.", found)
    assert not is_honest("", found)
    core = {part: share for part, share in found.items() if part is not WHOLE}
    assert is_honest(write_line(told | {WHOLE.name: 99}), core), "what was not measured is left as it is"


@pytest.mark.parametrize(
    ("covered", "others", "code"),
    [(100, 0, 0), (94, 0, 1), (100, 10_000, 0), (94, 10_000, 1), (100, 2, 1)],
    ids=["core", "low core", "whole", "low core of a whole", "low whole"],
)
def test_the_command_fails_where_a_figure_falls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, covered: int, others: int, code: int
) -> None:
    files = {file: (covered, 100) for part in CORE for file in part.files}
    if others:
        files["other.py"] = (others, 10_000 if others > 2 else 1_000)
    (tmp_path / "coverage.json").write_text(json.dumps(report(**files)), encoding="utf-8")
    (tmp_path / "README.md").write_text("Lines that tests run: none.\n", encoding="utf-8")
    monkeypatch.setattr(check_coverage, "ROOT", tmp_path)
    monkeypatch.setattr(check_coverage, "README", tmp_path / "README.md")
    assert main([]) == 1, "the README has no figures yet"
    assert main(["--update"]) == code
    assert main([]) == code


def test_the_parts_are_there_and_the_readme_has_the_line() -> None:
    files = [file for part in CORE for file in part.files]
    assert [file for file in files if not (SOURCE / file).is_file()] == []
    settings = (README.parent / "tests" / "core_coverage.ini").read_text(encoding="utf-8")
    assert [f"    src/dowse/{file}" for file in files] == [
        line for line in settings.splitlines() if line.startswith("    ")
    ]
    assert WHOLE.floor == 0.9 and {part.floor for part in CORE} == {0.95}
    assert LINE.search(README.read_text(encoding="utf-8"))


def test_ci_measures_and_holds_it() -> None:
    check = (
        (README.parent / "Makefile").read_text(encoding="utf-8").partition("\ncheck:")[2].partition("\n\n")[0]
    )
    assert "pytest --numprocesses auto --cov --cov-config=tests/core_coverage.ini --cov-report=json" in check
    assert check.index("--cov") < check.index("tests/check_coverage.py")
    assert "make check" in (README.parent / ".ci" / "run").read_text(encoding="utf-8")
    workflow = (README.parent / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")
    whole = workflow.partition("  coverage:")[2].partition("\n\n")[0]
    assert "pytest --numprocesses auto --cov --cov-report=json" in whole
    assert whole.index("--cov") < whole.index("tests/check_coverage.py")
