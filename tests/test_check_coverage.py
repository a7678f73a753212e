"""The check of coverage: it reads what coverage writes, and the README shows no more than is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import check_coverage
from tests.check_coverage import LINE, PARTS, README, measure, write_line

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


def test_the_line_is_rounded_down() -> None:
    shares = [0.9199, 0.95, 1.0, 0.999]
    names = [part.name for part in PARTS]
    wanted = ", ".join(f"{name} {n} %" for name, n in zip(names, (91, 95, 100, 99), strict=True))
    assert write_line(shares) == f"Lines that tests run: {wanted}."


def test_the_parts_are_there_and_the_readme_has_the_line() -> None:
    assert [file for part in PARTS for file in part.files if not (SOURCE / file).is_file()] == []
    assert LINE.search(README.read_text(encoding="utf-8"))
