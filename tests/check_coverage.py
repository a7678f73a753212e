"""Hold the coverage of the tests: floors for the core, in CI, and for all of ``src``, and the figures in the README.

    python -m pytest --cov --cov-config=tests/core_coverage.ini --cov-report=json   # the core alone
    python tests/check_coverage.py [--update]

Reads ``coverage.json``; with ``--update``, writes the figures into the README. Without ``--cov-config`` all of ``src``
is measured, which takes half as much CPU again, and held too; CI does both.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
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


def write_line(told: Mapping[str, int]) -> str:
    """Write the line of the README from the percents of each part."""
    return f"Lines that tests run: {', '.join(f'{name} {percent} %' for name, percent in told.items())}."


def read_line(page: str) -> dict[str, int]:
    """Read the percents of each part from the line of the README."""
    shown = LINE.search(page)
    cells = re.findall(r"(?:: |, )([^,:]+?) (\d+) %", shown[0]) if shown else []
    return {name: int(percent) for name, percent in cells}


def round_down(share: float) -> int:
    """Round a share down to whole percents, and to all of it only if no line is left."""
    return int((share if share == 1 else share - MARGIN) * 100)


def main(arguments: Sequence[str]) -> int:
    """Check, or update, and say what was found."""
    report = json.loads((ROOT / "coverage.json").read_text(encoding="utf-8"))
    is_whole = len(report["files"]) > len({file for part in CORE for file in part.files})
    found = {part: measure(report, part) for part in (*CORE, *([WHOLE] if is_whole else []))}
    for part, share in found.items():
        print(f"{part.name}: {share:.1%} (at least {part.floor:.0%})")
    page = README.read_text(encoding="utf-8")
    if "--update" in arguments:
        told = read_line(page) | {part.name: round_down(share) for part, share in found.items()}
        page = LINE.sub(lambda _: write_line(told), page)
        README.write_text(page, encoding="utf-8")
    if not is_honest(page, found):
        print(f"the README says something else than is so: python {Path(__file__).name} --update")
        return 1
    return int(any(share < part.floor for part, share in found.items()))


def is_honest(page: str, found: Mapping[Part, float]) -> bool:
    """Return whether the README has the figures, and none is more than was measured."""
    told = read_line(page)
    return all(part.name in told and told[part.name] <= share * 100 for part, share in found.items())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
