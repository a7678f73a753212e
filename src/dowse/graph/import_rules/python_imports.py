"""How Python names modules: packages, source roots, relative imports, annotations."""

from __future__ import annotations

import builtins
import re
import sys
from posixpath import dirname, join

from dowse.graph.import_rules.rule import CLASS, EACH, FOLDER, INSTANCE, MODULE, Dialect, Imported, Value
from dowse.graph.scopes import FileScopes, Mention
from dowse.graph.symbol_table import Tree

_SUFFIXES = (".py", ".pyi", ".pyx")
_TRANSPARENT = frozenset(
    {"Optional", "Union", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly"}
)
_CLASS_OF = frozenset({"Type", "type"})
_MANY = frozenset({
    "List", "list", "Set", "set", "FrozenSet", "frozenset", "Sequence", "MutableSequence", "Iterable", "Iterator",
    "Collection", "Generator", "Tuple", "tuple", "Deque", "deque", "AsyncIterator", "AsyncIterable", "AsyncGenerator",
})  # fmt: skip
_SELF = frozenset({"Awaitable", "Coroutine", "ContextManager", "AsyncContextManager"})
_SOURCE_FOLDERS = frozenset({"src", "lib", "python", "source"})
"""Folders beside which tests, examples and tools lie that import from them."""
_PARTS = re.compile(r"[\w.]+|[\[\],|]")


class Python(Dialect):
    """Python."""

    languages = ("python",)
    declares_receiver = True
    class_scope_visible = False
    builtins = frozenset(dir(builtins))

    def constructors(self, name: str) -> tuple[str, ...]:
        """``__init__`` and ``__new__``."""
        return ("__init__", "__new__")

    def imported(self, mention: Mention) -> list[Imported]:
        """``import a.b`` binds ``a``; ``from a import b as c`` binds ``c``."""
        module, detail = mention.target, mention.detail
        if detail.startswith("* as "):
            return [Imported(detail[5:], module)]
        if not detail:
            return [Imported(module.partition(".")[0], module.partition(".")[0])]
        name, _, alias = detail.partition(" as ")
        return [Imported(alias.strip() or name, module.replace(" ", ""), name.strip())]

    def locate(self, tree: Tree, file: FileScopes, module: str) -> list[Value]:
        """A module by its dotted name, seen from a file."""
        name = module.lstrip(".")
        level = len(module) - len(name)
        if level:
            folder = dirname(file.path)
            for _ in range(level - 1):
                folder = dirname(folder)
            found = _module(tree, join(folder, *name.split(".")) if name else folder)
            return [found] if found else []
        parts = name.split(".")
        candidates = [
            (root, found) for root in _roots(tree, parts[0]) if (found := _module(tree, join(root, *parts)))
        ]
        if not candidates:
            return []
        files = [pair for pair in candidates if pair[1].sort == MODULE]
        own = _root(tree, file.path)
        best = max(_nearness(root, own, file.path) for root, _ in files or candidates)
        return [found for root, found in files or candidates if _nearness(root, own, file.path) == best]

    def submodule(self, tree: Tree, module: Value, name: str) -> Value | None:
        """``package.name``."""
        if module.sort == MODULE and module.place.rpartition("/")[2].partition(".")[0] != "__init__":
            return None
        folder = module.place if module.sort == FOLDER else dirname(module.place)
        return _module(tree, join(folder, name))

    def type_names(self, declared: str) -> list[tuple[str, str]]:
        """``Optional["Pool"]``, ``list[Pool]``, ``type[Pool]``, ``Pool | None``."""
        tokens = _PARTS.findall(declared.replace('"', "").replace("'", ""))
        found, _ = _types(tokens, 0, INSTANCE)
        return found


def _types(tokens: list[str], at: int, sort: str) -> tuple[list[tuple[str, str]], int]:
    """The types of a list up to its closing bracket."""
    found: list[tuple[str, str]] = []
    while at < len(tokens) and tokens[at] != "]":
        token = tokens[at]
        at += 1
        if token in ",|[":
            continue
        short = token.rpartition(".")[2]
        if at < len(tokens) and tokens[at] == "[":
            inner, at = _types(tokens, at + 1, _inner_sort(short, sort))
            at += 1
            if short in _TRANSPARENT or short in _SELF or short in _MANY or short in _CLASS_OF:
                found += inner
                continue
        if short not in ("None", "Any"):
            found.append((token, sort))
    return found, at


def _inner_sort(short: str, sort: str) -> str:
    if short in _CLASS_OF:
        return CLASS
    return EACH if short in _MANY else sort


def _module(tree: Tree, stem: str) -> Value | None:
    """The file or folder that a module is."""
    for suffix in _SUFFIXES:
        for path in (f"{stem}/__init__{suffix}" if stem else f"__init__{suffix}", f"{stem}{suffix}"):
            if tree.exists(path):
                return Value(MODULE, path)
    return Value(FOLDER, stem) if stem and tree.is_folder(stem) else None


def _roots(tree: Tree, top: str) -> list[str]:
    """Folders in which a top-level module may lie: not inside of another package."""
    if top in sys.stdlib_module_names:
        return []  # a file of that name is rarely meant: a script would have to lie beside it
    holders = dict.fromkeys(tree.folders_named(top))
    for suffix in _SUFFIXES:
        holders |= dict.fromkeys(dirname(file) for file in tree.files_named(top + suffix))
    return [root for root in holders if not _is_package(tree, root)]


def _is_package(tree: Tree, folder: str) -> bool:
    return any(tree.exists(join(folder, f"__init__{suffix}")) for suffix in (".py", ".pyi"))


def _root(tree: Tree, path: str) -> str:
    """The folder above the outermost package of a file."""
    folder = dirname(path)
    while folder and _is_package(tree, folder):
        folder = dirname(folder)
    return folder


def _nearness(root: str, own: str, path: str) -> tuple[int, int]:
    """How likely a root is meant: the file's own, one above the file or a source folder there, any other."""
    if root == own:
        return 2, 0
    above = dirname(root) if root.rpartition("/")[2] in _SOURCE_FOLDERS else root
    return int(not above or path.startswith(f"{above}/")), _shared(root, path)


def _shared(root: str, path: str) -> int:
    """How many folders two paths have in common."""
    common = 0
    for a, b in zip(root.split("/"), path.split("/"), strict=False):
        if a != b:
            break
        common += 1
    return common
