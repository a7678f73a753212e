"""Hold the coverage of the tests: floors for the core, in CI, and for all of ``src``, and the figures in the README.

    python -m pytest --cov --cov-config=tests/core_coverage.ini --cov-report=json   # the core alone
    python tests/check_coverage.py [--update]

Reads ``coverage.json``; with ``--update``, writes the figures of the core into the README. Without ``--cov-config`` all
of ``src`` is measured, which takes half as much CPU again, and held too.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


class Part(NamedTuple):
    """A part of the program, the files that make it up (none: all), and the least share of its lines to be covered."""

    name: str
    files: tuple[str, ...]
    floor: float


WHOLE = Part("all of `src`", (), 0.90)

CORE = (
    Part(
        "names",
        (
            "stores/name_match.py",
            "stores/postgres/name_search.py",
            "search/channels/name_lookup.py",
            "search/query/name_spelling.py",
            "graph/entity_search.py",
        ),
        0.95,
    ),
    Part(
        "keyword index",
        (
            "search/channels/keyword_channel.py",
            "stores/embedded/lexical_index.py",
            "stores/postgres/postings.py",
            "stores/postgres/lexical_search.py",
        ),
        0.95,
    ),
    Part("fusion", ("search/ranking/fusion.py",), 0.95),
)

MARGIN = 0.005
"""What the README says less than was measured: a few lines run in some runs only."""

LINE = re.compile(r"^Lines that tests run: .*$", re.MULTILINE)
"""The line of the README with the figures."""


def measure(report: dict[str, dict[str, dict[str, dict[str, int]]]], part: Part) -> float:
    """Return the share of the lines of a part that tests run."""
    wanted = [f"src/dowse/{file}" for file in part.files]
    found = {
        path.replace("\\", "/"): file["summary"]
        for path, file in report["files"].items()
        if not wanted or path.replace("\\", "/") in wanted
    }
    if missing := set(wanted) - found.keys():
        raise SystemExit(f"coverage.json lacks {', '.join(sorted(missing))}")
    statements = sum(summary["num_statements"] for summary in found.values())
    return sum(summary["covered_lines"] for summary in found.values()) / statements


def write_line(shares: Sequence[float]) -> str:
    """Write the line of the README: whole percents, rounded down, and full only if no line is left."""
    told = (int((share if share == 1 else share - MARGIN) * 100) for share in shares)
    cells = (f"{part.name} {percent} %" for part, percent in zip(CORE, told, strict=True))
    return f"Lines that tests run: {', '.join(cells)}."


def main(arguments: Sequence[str]) -> int:
    """Check, or update, and say what was found."""
    report = json.loads((ROOT / "coverage.json").read_text(encoding="utf-8"))
    shares = [measure(report, part) for part in CORE]
    is_whole = len(report["files"]) > len({file for part in CORE for file in part.files})
    found = [*zip(CORE, shares, strict=True), *([(WHOLE, measure(report, WHOLE))] if is_whole else [])]
    for part, share in found:
        print(f"{part.name}: {share:.1%} (at least {part.floor:.0%})")
    if "--update" in arguments:
        page = README.read_text(encoding="utf-8")
        README.write_text(LINE.sub(write_line(shares), page), encoding="utf-8")
    if not is_honest(README.read_text(encoding="utf-8"), shares):
        print(f"the README says something else than is so: python {Path(__file__).name} --update")
        return 1
    return int(any(share < part.floor for part, share in found))


def is_honest(page: str, shares: Sequence[float]) -> bool:
    """Return whether the README has the figures, and none is more than was measured."""
    shown = LINE.search(page)
    told = [int(percent) for percent in re.findall(r"(\d+) %", shown[0])] if shown else []
    return len(told) == len(CORE) and all(
        percent <= share * 100 for percent, share in zip(told, shares, strict=True)
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
