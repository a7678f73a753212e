"""Import resolution for Rust: ``use`` paths, crates (Cargo packages), modules and their members."""

from __future__ import annotations

import re
from posixpath import dirname, join

from dowse.graph.import_rules.by_namespace import split_name
from dowse.graph.import_rules.rule import CONTAINER, FOLDER, INSTANCE, MODULE, Dialect, ImportedName, Value
from dowse.graph.scopes import FILE, FileScopes, Mention
from dowse.graph.symbol_table import SymbolTable
from dowse.types.source import Kind

_CRATE_ROOTS = ("lib.rs", "main.rs")
_FOLDER_MODULES = frozenset({"mod", "lib", "main"})
"""Stems of files whose submodules are beside them; those of other files are in a folder of their name."""

_QUALIFIERS = re.compile(r"(?:&|\*(?:const|mut)\b|'\w+|\bmut\b|\bdyn\b|\bimpl\b|\s)*")
_GENERIC_TYPE = re.compile(r"([\w:]+)\s*<(.*)>\Z", re.S)
_POINTER_TYPES = frozenset({"Box", "Rc", "Arc"})
"""Pointer types: a method called on one is a method of what it points to."""

_CONTAINER_TYPES = frozenset({"Option", "Result", "Vec"})
"""Types that contain their first type argument; a ``Result`` of any library is one."""


class Rust(Dialect):
    """Rust: crates are Cargo packages, modules are files or folders."""

    languages = ("rust",)
    super_words = frozenset()
    class_scope_visible = False
    imports_alike_in_folder = False
    single_inheritance = True
    unbound_may_be_module = True
    self_type_word = "Self"

    def list_constructor_names(self, name: str) -> tuple[str, ...]:
        """Return none: plain functions create objects."""
        return ()

    def parse_import(self, mention: Mention) -> list[ImportedName]:
        """Bind the last part of a path or its alias, as a member of what the path begins with."""
        parts = split_name(mention.target)
        if not parts:
            return []
        if mention.detail == "*":
            return [ImportedName("*", ".".join(parts), "*")]
        local = mention.detail.removeprefix("* as ") or parts[-1]
        head = next((n for n, part in enumerate(parts) if part != "super"), len(parts) - 1) or 1
        return [ImportedName(local, ".".join(parts[:head]), ".".join(parts[head:]))]

    def locate(self, tree: SymbolTable, file: FileScopes, module: str) -> list[Value]:
        """Find the file of a module by its path, which may begin with a crate of the tree."""
        first, *rest = split_name(module) or [""]
        found = _find_first_module(tree, file, first)
        for part in rest:
            found = [inner for value in found if (inner := self.find_submodule(tree, value, part))]
        return found

    def find_submodule(self, tree: SymbolTable, module: Value, name: str) -> Value | None:
        """Find a module below a module; ``super`` is the one above."""
        if module.kind == FOLDER:
            return _find_module(tree, module.location, name)
        if module.kind != MODULE:
            return None
        if name == "super":
            return next(iter(_find_parent_module(tree, module.location)), None)
        return _find_module(tree, _get_module_folder(module.location), name)

    def parse_type(self, declared: str) -> list[tuple[str, str]]:
        """Parse ``&'a mut Pool``, ``Arc<Pool>``, ``Option<Pool>``, ``[Pool]``, ``dyn Store + Send``."""
        text, kind = declared, INSTANCE
        while True:
            text = text[_QUALIFIERS.match(text).end() :].strip()  # type: ignore[union-attr]
            generic = _GENERIC_TYPE.match(text)
            name = (generic[1] if generic else text).rpartition("::")[2]
            is_slice = text[:1] + text[-1:] == "[]"
            if generic and name in _POINTER_TYPES:
                text = _take_first_type(generic[2])
            elif (generic and name in _CONTAINER_TYPES) or is_slice:
                if kind == CONTAINER:
                    return []  # nested containers are not followed
                text, kind = (
                    _take_first_type(generic[2]) if generic else text[1:-1].partition(";")[0],
                    CONTAINER,
                )
            else:
                break
        path = (generic[1] if generic else text.partition("+")[0]).strip().replace("::", ".")
        return [(path, kind)] if path and path.replace(".", "_").isidentifier() else []


def _find_first_module(tree: SymbolTable, file: FileScopes, name: str) -> list[Value]:
    """Find what a path begins with: ``crate``, ``self``, ``super``, a module of this one, or a crate of the tree."""
    if name == "crate":
        return _find_crate(tree, file)
    if name == "self":
        return [Value(MODULE, file.path)]
    if name == "super":
        return _find_super(tree, file)
    if any(mention.target == name for mention in file.imports):
        for folder in (_get_module_folder(file.path), dirname(file.path)):
            if inner := _find_module(tree, folder, name):
                return [inner]
    return _find_package(tree, name)


def _find_super(tree: SymbolTable, file: FileScopes) -> list[Value]:
    """Find what ``super`` means in a file: the parent module or, in a module inside of the file, the file."""
    scopes = [m.scope for m in file.imports if split_name(m.target)[:1] == ["super"]] or range(
        len(file.scopes)
    )
    inside = {_is_in_module(file, scope) for scope in scopes}
    return [
        *([Value(MODULE, file.path)] if True in inside else ()),
        *(_find_parent_module(tree, file.path) if False in inside else ()),
    ]


def _is_in_module(file: FileScopes, scope: int) -> bool:
    while scope and file.scopes[scope].kind is not Kind.MODULE:
        scope = file.scopes[scope].parent
    return scope != FILE


def _find_crate(tree: SymbolTable, file: FileScopes) -> list[Value]:
    """Find the root files of a crate: a library and a program may have theirs side by side."""
    if "main" in file.scopes[FILE].members:
        return [Value(MODULE, file.path)]
    folder = dirname(file.path)
    while True:
        if roots := [path for name in _CRATE_ROOTS if tree.exists(path := join(folder, name))]:
            return [Value(MODULE, path) for path in roots]
        if not folder:
            return [Value(FOLDER, dirname(file.path))]  # the root file of a test can have any name
        folder = dirname(folder)


def _find_package(tree: SymbolTable, name: str) -> list[Value]:
    """Find the library of that name in the tree, as Cargo calls it."""
    for manifest in tree.find_files("Cargo.toml"):
        if any(link.target.replace("-", "_") == name for link in tree.get_file(manifest).links):
            for root in ("src/lib.rs", "lib.rs"):
                if tree.exists(path := join(dirname(manifest), root)):
                    return [Value(MODULE, path)]
    return []


def _get_module_folder(path: str) -> str:
    """Return the folder that contains the submodules of a file."""
    stem = path.rpartition("/")[2].removesuffix(".rs")
    return dirname(path) if stem in _FOLDER_MODULES else path.removesuffix(".rs")


def _find_module(tree: SymbolTable, folder: str, name: str) -> Value | None:
    for path in (join(folder, f"{name}.rs"), join(folder, name, "mod.rs")):
        if tree.exists(path):
            return Value(MODULE, path)
    return None


def _find_parent_module(tree: SymbolTable, path: str) -> list[Value]:
    """Find the module above a file."""
    stem = path.rpartition("/")[2].removesuffix(".rs")
    folder = dirname(path) if stem != "mod" else dirname(dirname(path))
    around = (join(folder, "mod.rs"), f"{folder}.rs", *(join(folder, name) for name in _CRATE_ROOTS))
    if stem in ("lib", "main"):
        return []
    return [Value(MODULE, found) for found in around if found != path and tree.exists(found)][:1]


def _take_first_type(arguments: str) -> str:
    """Return the first type argument that is a type and not a lifetime."""
    depth, start = 0, 0
    for at, char in enumerate(arguments):
        depth += (char in "<([") - (char in ">)]")
        if char == "," and not depth:
            if not arguments[start:at].strip().startswith("'"):
                return arguments[start:at]
            start = at + 1
    return arguments[start:]
