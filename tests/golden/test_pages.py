"""Ranking, reviewed as pages: real queries on real packages, and what comes first.

``pytest tests/golden --update-golden`` writes the pages again; the difference is what to review. Known failures
are on the pages too: a query whose wanted file is not among the first is marked, so that it is seen when it works.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine, SearchOptions, SearchResponse

HERE = Path(__file__).parent
QUESTIONS: dict[str, dict[str, str]] = tomllib.loads((HERE / "queries.toml").read_text("utf-8"))
SHOWN = 5
GOOD = 3
"""A wanted file that comes later than this is a failure."""


def pinned(package: str) -> str:
    """The version of a package that tests are run with."""
    lock = (HERE.parent.parent / "requirements-dev.txt").read_text("utf-8")
    found = re.search(rf"^{re.escape(package)}==(\S+)", lock, re.M)
    assert found, f"{package} is not in requirements-dev.txt"
    return found.group(1)


def copied(package: str, to: Path) -> Path:
    """The files of an installed package, without what was compiled."""
    for file in importlib.metadata.files(package) or ():
        if file.suffix in (".py", ".pyi", ".json", ".txt", ".md") and ".dist-info" not in file.parts[0]:
            target = to / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target)
    return to


def page(package: str, engine: Engine) -> Iterator[str]:
    """What comes first for every query."""
    yield f"# {package} {pinned(package)}"
    for question, wanted in QUESTIONS[package].items():
        answer = engine.search(question, SearchOptions(limit=20))
        yield f"\n## {question}"
        yield verdict(wanted, answer)
        for rank, hit in enumerate(answer.results[:SHOWN], 1):
            mark = "*" if hit.path == wanted else " "
            yield f"{mark}{rank} {hit.path}:{hit.start_line}-{hit.end_line} {hit.entity} ({hit.kind})"


def verdict(wanted: str, answer: SearchResponse) -> str:
    if not wanted:
        good = answer.results and not answer.low_confidence
        return "KNOWN FAILURE: nothing here is good" if good else "nothing good, as it should be"
    files = list(dict.fromkeys(hit.path for hit in answer.results))
    rank = files.index(wanted) + 1 if wanted in files else 0
    if 0 < rank <= GOOD:
        return f"wanted {wanted}: file {rank}"
    return f"KNOWN FAILURE: wanted {wanted}: {f'file {rank}' if rank else 'not found'}"


@pytest.mark.parametrize("package", QUESTIONS)
def test_the_page_is_as_reviewed(package: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    installed = importlib.metadata.version(package)
    if installed != pinned(package):
        pytest.skip(f"{package} {installed} is installed, the page is of {pinned(package)}: run 'make test'")
    with Engine.open(
        copied(package, tmp_path / "tree"), embedder="none", index_dir=str(tmp_path / "index")
    ) as engine:
        text = "\n".join(page(package, engine)) + "\n"
    path = HERE / f"{package}.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")
