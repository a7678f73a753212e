"""The table of what a query and a file cross is the recorded one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "architecture.md"
RESULT = ROOT / "benchmarks" / "results" / "walk.json"
TABLE = re.compile(
    r"(?<=\| part \| functions of the query \| of the file \|\n\|---\|---:\|---:\|\n)(?:\|.*\n)+"
)


def render_table() -> str:
    recorded = json.loads(RESULT.read_text(encoding="utf-8"))["figures"]
    counts = {figure["name"]: (round(figure["value"]), figure["beside"]) for figure in recorded}
    query, file = (
        f"{counts[f'{walked}: functions'][0]} in {counts[f'{walked}: files'][0]} files"
        for walked in ("query", "file")
    )
    parts = dict.fromkeys(name.partition(" of ")[2] for name in counts if ": functions of " in name)
    rows = [
        ["all", query, file],
        *([part, *(_cell(counts, walked, part) for walked in ("query", "file"))] for part in parts),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(counts: dict[str, tuple[int, str]], walked: str, part: str) -> str:
    functions, files = counts.get(f"{walked}: functions of {part}", (0, ""))
    return f"{functions} {files}".strip() if functions else ""


def test_the_table_is_the_recorded_one(pytestconfig: pytest.Config) -> None:
    page = PAGE.read_text(encoding="utf-8")
    fresh = TABLE.sub(lambda _: render_table(), page)
    if pytestconfig.getoption("--update-golden"):
        PAGE.write_text(fresh, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == fresh
