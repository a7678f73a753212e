"""Resolve the calls and imports of a Python tree with jedi; run by an interpreter that has jedi.

    python oracle.py TREE > oracle.json

Stands alone, because it runs in an environment of its own. For every call (and decorator) the definitions in the
tree that jedi infers for what is called, as ``path:Class.method``; ``outside`` if it only finds others; for every
import the files of the tree that it names, found by the rules of the import system.
"""

from __future__ import annotations

import ast
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jedi  # type: ignore[import-not-found, unused-ignore]

warnings.simplefilter("ignore")

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class File:
    """A parsed file: its definitions by line, and their line ranges."""

    def __init__(self, root: Path, path: Path) -> None:
        self.path = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.by_line: dict[int, str] = {}
        self.spans: list[tuple[int, int, str]] = []
        self._walk(self.tree, "")

    def _walk(self, node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, DEFINITIONS):
                name = f"{prefix}.{child.name}" if prefix else child.name
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                self.by_line[child.lineno] = name
                self.spans.append((first, child.end_lineno or child.lineno, name))
                self._walk(child, name)
            else:
                self._walk(child, prefix)

    def make_id(self, name: str) -> str:
        """Make the id of a definition."""
        return f"{self.path}:{name}" if name else self.path

    def find_owner(self, line: int) -> str:
        """Find the innermost definition around a line."""
        inner = [name for first, last, name in self.spans if first <= line <= last]
        return self.make_id(inner[-1] if inner else "")

    def list_sites(self) -> list[tuple[int, int, str]]:
        """List line, column and name of what each call or decorator calls."""
        seen: set[tuple[int, int, str]] = set()
        for node in ast.walk(self.tree):
            called: list[ast.expr] = []
            if isinstance(node, ast.Call):
                called.append(node.func)
            if isinstance(node, DEFINITIONS):
                called += node.decorator_list
            for name in called:
                if isinstance(name, ast.Name):
                    seen.add((name.lineno, name.col_offset, name.id))
                elif isinstance(name, ast.Attribute):
                    seen.add((name.end_lineno or name.lineno, _find_column(name), name.attr))
        return sorted(seen)


def _find_column(attribute: ast.Attribute) -> int:
    """Find where the last name of a dotted expression begins, in bytes."""
    return (attribute.end_col_offset or 0) - len(attribute.attr.encode())


def infer_definitions(script: Any, files: dict[Path, File], line: int, column: int) -> tuple[set[str], bool]:
    """Infer the definitions in the tree, and whether there are others outside."""
    inside: set[str] = set()
    outside = False
    try:
        names = script.infer(line, column)
    except Exception as error:  # jedi fails on some code; the call is then not judged
        print(f"{type(error).__name__} at line {line}", file=sys.stderr)
        return inside, outside
    for name in names:
        if name.type not in ("function", "class"):
            continue
        path = name.module_path
        known = files.get(Path(path).resolve()) if path else None
        if known is None:
            outside = True
        elif name.line in known.by_line:
            inside.add(known.make_id(known.by_line[name.line]))
    return inside, outside


def resolve_imports(file: File, files: dict[Path, File], roots: Sequence[str]) -> list[str]:
    """Resolve the imports of a file to files of the tree."""
    by_path = {other.path for other in files.values()}

    def module(base: str, parts: Sequence[str]) -> str | None:
        stem = "/".join(filter(None, [base, *parts]))
        for path in (f"{stem}/__init__.py", f"{stem}.py", f"{stem}/__init__.pyi", f"{stem}.pyi"):
            if path.lstrip("/") in by_path:
                return path.lstrip("/")
        return None

    found: set[str | None] = set()
    folder = file.path.rpartition("/")[0]
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found |= {p for root in roots if (p := module(root, alias.name.split(".")))}
        elif isinstance(node, ast.ImportFrom):
            bases = list(roots)
            if node.level:
                bases = ["/".join(folder.split("/")[: len(folder.split("/")) - node.level + 1])]
            parts = node.module.split(".") if node.module else []
            for base in bases:
                if parts or node.level:
                    found.add(module(base, parts))
                found |= {module(base, [*parts, alias.name]) for alias in node.names}
    return sorted(path for path in found if path and path != file.path)


def main() -> None:
    """Print the resolved calls and imports of a tree."""
    root = Path(sys.argv[1]).resolve()
    files: dict[Path, File] = {}
    for path in sorted(root.rglob("*.py")):
        try:
            files[path] = File(root, path)
        except (SyntaxError, UnicodeDecodeError):
            continue
    roots = [
        r
        for r in ("", "src", "tests", "lib")
        if not r or ((root / r).is_dir() and not (root / r / "__init__.py").exists())
    ]
    project = jedi.Project(root, added_sys_path=[str(root / r) for r in roots])
    sites, imported = [], {}
    for path, file in files.items():
        script = jedi.Script(file.text, path=path, project=project)
        lines = file.text.split("\n")
        for line, column, name in file.list_sites():
            characters = len(lines[line - 1].encode()[:column].decode())
            inside, outside = infer_definitions(script, files, line, characters)
            sites.append([file.find_owner(line), line, name, sorted(inside), outside])
        imported[file.path] = resolve_imports(file, files, roots)
    json.dump({"sites": sites, "imports": imported}, sys.stdout)


if __name__ == "__main__":
    main()
