"""Check that this tree can be released, and build what is released: ``make release-check``.

Versions agree, the wheel has every file of the package and nothing else, it can be built again byte for byte, it runs
in an empty environment, and what it depends on has a licence that allows that. Exits with 1 after naming what is wrong.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"

ALLOWED_LICENCES = re.compile(
    r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|Unlicense|MPL|Mozilla|LGPL|Zlib|0BSD)\b",
    re.IGNORECASE,
)
"""Licences under which a dependency may be installed beside an Apache-2.0 program: dowse ships none of their code."""

OWN_FILES = re.compile(r"^(dowse/|dowse-[^/]+\.dist-info/)")


def main() -> int:
    """Run every check; return 1 if one fails."""
    problems = [*check_tree(), *check_versions(), *check_licences()]
    first, second = (build(DIST), build(Path(tempfile.mkdtemp())))
    for one, other in zip(first, second, strict=True):
        if _digest(one) != _digest(other):
            problems.append(f"{one.name} is another one when it is built again")
    (wheel,) = (path for path in first if path.suffix == ".whl")
    problems += [*check_contents(wheel), *check_metadata(wheel)]
    if not problems:
        problems += check_installed(wheel)
    for problem in problems:
        print(f"release-check: {problem}", file=sys.stderr)
    print(f"{', '.join(path.name for path in first)}: {len(problems)} problems")
    return 1 if problems else 0


def _run(*command: str, cwd: Path = ROOT) -> str:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _read_commit_time()} if command[0] != "git" else None
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"release-check: '{' '.join(command)}' failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _read_commit_time() -> str:
    return _run("git", "log", "-1", "--format=%ct").strip()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_version() -> str:
    """Read the version from the one place that has it."""
    text = (ROOT / "src/dowse/__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found, "src/dowse/__init__.py has the version"
    return found[1]


def check_tree() -> Iterator[str]:
    """Check that what would be released is committed."""
    if _run("git", "status", "--porcelain").strip():
        yield "there are changes that are not committed"


def check_versions() -> Iterator[str]:
    """Check that the changelog and the tag, if there is one, have the version of the package."""
    version = read_version()
    tags = [tag for tag in _run("git", "tag", "--points-at", "HEAD").split() if tag.startswith("v")]
    if tags and f"v{version}" not in tags:
        yield f"the tag is {tags[0]}, the version is {version}"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if tags and f"## [{version}]" not in changelog:
        yield f"CHANGELOG.md has no section for {version}"


def build(folder: Path) -> list[Path]:
    """Build sdist and wheel into a folder, without what was there before."""
    for old in folder.glob("dowse-*"):
        old.unlink()
    _run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT))
    return sorted(folder.glob("dowse-*"))


def check_contents(wheel: Path) -> Iterator[str]:
    """Check that the wheel has the files of the package that git knows, and no others."""
    expected = {path.removeprefix("src/") for path in _run("git", "ls-files", "src").split("\n") if path}
    with zipfile.ZipFile(wheel) as archive:
        found = set(archive.namelist())
    yield from (f"the wheel has no {path}" for path in sorted(expected - found))
    yield from (
        f"the wheel has {path}"
        for path in sorted(found - expected)
        if not path.split("/")[0].endswith(".dist-info")
    )
    yield from (f"the wheel has {path}" for path in sorted(found) if not OWN_FILES.match(path))


def check_metadata(wheel: Path) -> Iterator[str]:
    """Check what a package index shows."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()
        licences = [each for each in archive.namelist() if "/licenses/" in each]
    for line in (f"Version: {read_version()}", "License-Expression: Apache-2.0", "Requires-Python: >=3.11"):
        if f"\n{line}\n" not in text:
            yield f"the metadata does not say '{line}'"
    if not licences:
        yield "the wheel has no licence"


def check_licences() -> Iterator[str]:
    """Check the licence of everything that is installed with dowse and its extras."""
    for name in sorted(list_dependencies("dowse")):
        fields = importlib.metadata.metadata(name)
        classifiers = [each for each in fields.get_all("Classifier") or () if each.startswith("License")]
        own = [*(fields.get_all("License-Expression") or ()), *(fields.get_all("License") or ())]
        said = " ".join([*own, *classifiers])
        if not ALLOWED_LICENCES.search(said):
            yield f"{name} has the licence '{said.strip()[:200] or 'none'}'"


def list_dependencies(name: str) -> set[str]:
    """List what a distribution depends on, at any depth, as far as it is installed."""
    found: set[str] = set()
    todo = [name]
    while todo:
        for requirement in importlib.metadata.requires(todo.pop()) or ():
            other = re.split(r"[\s\[<>=!~;(]", requirement, maxsplit=1)[0].lower().replace("_", "-")
            if other in found or other == "dowse" or _is_missing(other):
                continue
            found.add(other)
            todo.append(other)
    return found


def _is_missing(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return True
    return False


def check_installed(wheel: Path) -> list[str]:
    """Install the wheel into an empty environment, and index and search a small tree with it."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        scripts = Path(folder) / ("Scripts" if os.name == "nt" else "bin")
        _run(
            str(scripts / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            str(wheel),
        )
        tree = Path(folder) / "tree"
        tree.mkdir()
        (tree / "greeting.py").write_text("def greet(name):\n    return f'hello {name}'\n", encoding="utf-8")
        answer = _run(str(scripts / "dowse"), "search", "greet", "--json", cwd=tree)
    return [] if '"greeting.py"' in answer else ["the installed wheel does not find what it should"]


if __name__ == "__main__":
    sys.exit(main())
