"""Writes docs/modules.md, a list of every module by its docstring; with --check only says whether it is up to date."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).with_name("modules.md")
SOURCE = Path(__file__).parent.parent / "src" / "dowse"

INTRODUCTION = """\
# Every module

This page is written by `docs/generate_modules.py` from the first sentence of each module's docstring. Paths are below
`src/dowse/`. How the parts belong together is in [architecture.md](architecture.md).
"""


def make_page() -> str:
    """Make the page: a table for each folder."""
    folders = sorted({path.parent for path in SOURCE.rglob("*.py")})
    return "\n".join([INTRODUCTION, *(line for folder in folders for line in _list_folder(folder))])


def _list_folder(folder: Path) -> Iterator[str]:
    name = folder.relative_to(SOURCE).as_posix()
    yield f"## {'The top' if name == '.' else f'`{name}/`'}\n"
    yield "| module | what it is for |\n|---|---|"
    for path in sorted(folder.glob("*.py")):
        sentence = _read_first_sentence(path).replace("|", "\\|")
        yield f"| `{path.name}` | {sentence} |"
    yield ""


def _read_first_sentence(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[a-z)`\"'0-9])\.(?:\s|$)", paragraph)[0].removesuffix(":").replace("``", "`")


if __name__ == "__main__":
    from generated_page import write_or_check

    sys.exit(write_or_check(PAGE, make_page()))
