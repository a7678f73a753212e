"""How Rust names modules and what is in them."""

from __future__ import annotations

import re
from posixpath import dirname, join

from dowse.graph.import_rules.by_namespace import parts_of
from dowse.graph.import_rules.rule import EACH, FOLDER, INSTANCE, MODULE, Dialect, Imported, Value
from dowse.graph.scopes import FILE, FileScopes, Mention
from dowse.graph.symbol_table import Tree
from dowse.types import Kind

_ROOTS = ("lib.rs", "main.rs")
_IN_FOLDER = frozenset({"mod", "lib", "main"})
"""Files whose modules lie beside them; those of others lie in a folder of their name."""

_QUALIFIERS = re.compile(r"(?:&|\*(?:const|mut)\b|'\w+|\bmut\b|\bdyn\b|\bimpl\b|\s)*")
_GENERIC = re.compile(r"([\w:]+)\s*<(.*)>\Z", re.S)
_POINTERS = frozenset({"Box", "Rc", "Arc"})
"""Types on which methods of what they point to are called."""

_HOLDERS = frozenset({"Option", "Result", "Vec"})
"""Types that hold what their first argument says; a ``Result`` of any library is one."""


class Rust(Dialect):
    """Rust: crates are packages of Cargo, modules are files or folders."""

    languages = ("rust",)
    supers = frozenset()
    class_scope_visible = False
    same_in_folder = False
    one_base_class = True
    names_modules = True
    own_type = "Self"

    def constructors(self, name: str) -> tuple[str, ...]:
        """There are none: functions make objects."""
        return ()

    def imported(self, mention: Mention) -> list[Imported]:
        """The last part of a path or its alias, as a member of what the path begins with."""
        parts = parts_of(mention.target)
        if not parts:
            return []
        if mention.detail == "*":
            return [Imported("*", ".".join(parts), "*")]
        local = mention.detail.removeprefix("* as ") or parts[-1]
        head = next((n for n, part in enumerate(parts) if part != "super"), len(parts) - 1) or 1
        return [Imported(local, ".".join(parts[:head]), ".".join(parts[head:]))]

    def locate(self, tree: Tree, file: FileScopes, module: str) -> list[Value]:
        """The file of a module, by its path; of its first part if that is a crate."""
        first, *rest = parts_of(module) or [""]
        found = _beginning(tree, file, first)
        for part in rest:
            found = [inner for value in found if (inner := self.submodule(tree, value, part))]
        return found

    def submodule(self, tree: Tree, module: Value, name: str) -> Value | None:
        """A module below a module, or above it."""
        if module.sort == FOLDER:
            return _module(tree, module.place, name)
        if module.sort != MODULE:
            return None
        if name == "super":
            return next(iter(_above(tree, module.place)), None)
        return _module(tree, _folder(module.place), name)

    def type_names(self, declared: str) -> list[tuple[str, str]]:
        """``&'a mut Pool``, ``Arc<Pool>``, ``Option<Pool>``, ``[Pool]``, ``dyn Store + Send``."""
        text, sort = declared, INSTANCE
        while True:
            text = text[_QUALIFIERS.match(text).end() :].strip()  # type: ignore[union-attr]
            generic = _GENERIC.match(text)
            name = (generic[1] if generic else text).rpartition("::")[2]
            is_slice = text[:1] + text[-1:] == "[]"
            if generic and name in _POINTERS:
                text = _first(generic[2])
            elif (generic and name in _HOLDERS) or is_slice:
                if sort == EACH:
                    return []  # what is in a list in a list
                text, sort = _first(generic[2]) if generic else text[1:-1].partition(";")[0], EACH
            else:
                break
        path = (generic[1] if generic else text.partition("+")[0]).strip().replace("::", ".")
        return [(path, sort)] if path and path.replace(".", "_").isidentifier() else []


def _beginning(tree: Tree, file: FileScopes, name: str) -> list[Value]:
    """What a path begins with: a word for this crate or module, a module of this one, or a crate of the tree."""
    if name == "crate":
        return _crate(tree, file)
    if name == "self":
        return [Value(MODULE, file.path)]
    if name == "super":
        return _supers(tree, file)
    if any(mention.target == name for mention in file.imports):
        for folder in (_folder(file.path), dirname(file.path)):
            if inner := _module(tree, folder, name):
                return [inner]
    return _package(tree, name)


def _supers(tree: Tree, file: FileScopes) -> list[Value]:
    """What ``super`` means in a file: what is around it or, in a module inside of it, the file."""
    scopes = [m.scope for m in file.imports if parts_of(m.target)[:1] == ["super"]] or range(len(file.scopes))
    inside = {_is_in_module(file, scope) for scope in scopes}
    return [
        *([Value(MODULE, file.path)] if True in inside else ()),
        *(_above(tree, file.path) if False in inside else ()),
    ]


def _is_in_module(file: FileScopes, scope: int) -> bool:
    while scope and file.scopes[scope].kind is not Kind.MODULE:
        scope = file.scopes[scope].parent
    return scope != FILE


def _crate(tree: Tree, file: FileScopes) -> list[Value]:
    """The files that a crate begins with: those of a library and of a program may lie side by side."""
    if "main" in file.scopes[FILE].members:
        return [Value(MODULE, file.path)]
    folder = dirname(file.path)
    while True:
        if roots := [path for name in _ROOTS if tree.exists(path := join(folder, name))]:
            return [Value(MODULE, path) for path in roots]
        if not folder:
            return [Value(FOLDER, dirname(file.path))]  # tests begin in a file of any name
        folder = dirname(folder)


def _package(tree: Tree, name: str) -> list[Value]:
    """The library of that name in the tree, as Cargo calls it."""
    for manifest in tree.files_named("Cargo.toml"):
        if any(link.target.replace("-", "_") == name for link in tree.file(manifest).links):
            for root in ("src/lib.rs", "lib.rs"):
                if tree.exists(path := join(dirname(manifest), root)):
                    return [Value(MODULE, path)]
    return []


def _folder(path: str) -> str:
    """Where the modules of a file lie."""
    stem = path.rpartition("/")[2].removesuffix(".rs")
    return dirname(path) if stem in _IN_FOLDER else path.removesuffix(".rs")


def _module(tree: Tree, folder: str, name: str) -> Value | None:
    for path in (join(folder, f"{name}.rs"), join(folder, name, "mod.rs")):
        if tree.exists(path):
            return Value(MODULE, path)
    return None


def _above(tree: Tree, path: str) -> list[Value]:
    """The module around a file."""
    stem = path.rpartition("/")[2].removesuffix(".rs")
    folder = dirname(path) if stem != "mod" else dirname(dirname(path))
    around = (join(folder, "mod.rs"), f"{folder}.rs", *(join(folder, name) for name in _ROOTS))
    if stem in ("lib", "main"):
        return []
    return [Value(MODULE, found) for found in around if found != path and tree.exists(found)][:1]


def _first(arguments: str) -> str:
    """The first of some type arguments that is a type."""
    depth, start = 0, 0
    for place, char in enumerate(arguments):
        depth += (char in "<([") - (char in ">)]")
        if char == "," and not depth:
            if not arguments[start:place].strip().startswith("'"):
                return arguments[start:place]
            start = place + 1
    return arguments[start:]
