"""How Rust names modules and what is in them."""

from __future__ import annotations

from posixpath import dirname, join

from dowse.graph.dialects.base import FOLDER, MODULE, Value
from dowse.graph.dialects.named import Named, parts_of
from dowse.graph.scopes import FileScopes
from dowse.graph.tree import Tree


class Rust(Named):
    """Rust: modules are files or folders."""

    languages = ("rust",)
    supers = frozenset()
    shared_folder = False
    same_in_folder = False
    implicit_receiver = False

    def constructors(self, name: str) -> tuple[str, ...]:
        """There are none: functions make objects."""
        return ()

    def locate(self, tree: Tree, file: FileScopes, module: str) -> list[Value]:
        """A definition by its path, or the file of a module."""
        parts = [part for part in parts_of(module) if part not in ("crate", "self", "super")]
        if not parts:
            return []
        found = super().locate(tree, file, ".".join(parts)) if len(parts_of(module)) > 1 else []
        return [value for value in found if value.sort != FOLDER] or _rust_module(tree, file.path, parts)


def _rust_module(tree: Tree, path: str, parts: list[str]) -> list[Value]:
    """``mod name;`` beside the file or below it; else the one file of that name."""
    folder, stem = dirname(path), path.rpartition("/")[2].removesuffix(".rs")
    below = folder if stem in ("mod", "lib", "main") else join(folder, stem)
    tail = "/".join(parts)
    for candidate in (f"{tail}.rs", f"{tail}/mod.rs"):
        if tree.exists(found := join(below, candidate)):
            return [Value(MODULE, found)]
    for name in (f"{parts[-1]}.rs", "mod.rs"):
        ending = f"/{tail}.rs" if name != "mod.rs" else f"/{tail}/mod.rs"
        fits = [file for file in tree.files_named(name) if f"/{file}".endswith(ending)]
        if len(fits) == 1:
            return [Value(MODULE, fits[0])]
    return []
