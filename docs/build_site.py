"""Builds the documentation site into site/: ``make site``. Fails on any link that leads nowhere.

The pages are those of the repository, at the same places, so that a link works in both. The README is the front page.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
STAGE = ROOT / "build" / "site-pages"

FOLDERS = ("docs", "benchmarks", "examples", "training/questions")
TYPES = {".md", ".svg", ".png", ".json", ".jsonl", ".toml", ".yml", ".py"}
"""What pages show or link to."""


def list_pages() -> Iterator[Path]:
    """List the files of the site that git knows, relative to the root."""
    listed = subprocess.run(
        ("git", "ls-files", "-z", "*.md", "LICENSE", *FOLDERS),
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        path = Path(name)
        if (len(path.parts) == 1 or name.startswith(FOLDERS)) and (path.suffix in TYPES or name == "LICENSE"):
            yield path


def stage() -> None:
    """Copy the pages to where the site is built from."""
    shutil.rmtree(STAGE, ignore_errors=True)
    for path in list_pages():
        target = STAGE / ("index.md" if path.name == "README.md" and len(path.parts) == 1 else path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)


def main() -> int:
    """Build the site; return the exit code of the builder."""
    stage()
    builder = Path(sys.executable).with_name("zensical")
    command = [str(builder), "build", "--strict", "--clean", "--config-file", str(ROOT / "zensical.toml")]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
