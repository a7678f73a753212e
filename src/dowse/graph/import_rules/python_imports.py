"""Import resolution for Python: packages, source roots, relative imports; type annotations."""

from __future__ import annotations

import builtins
import re
import sys
from posixpath import dirname, join

from dowse.graph.import_rules.rule import (
    CLASS,
    CONTAINER,
    FOLDER,
    INSTANCE,
    MODULE,
    Dialect,
    ImportedName,
    Value,
)
from dowse.graph.scopes import FileScopes, Mention
from dowse.graph.symbol_table import SymbolTable

_SUFFIXES = (".py", ".pyi", ".pyx")
_TRANSPARENT_TYPES = frozenset(
    {"Optional", "Union", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly"}
)
_CLASS_TYPES = frozenset({"Type", "type"})
_CONTAINER_TYPES = frozenset({
    "List", "list", "Set", "set", "FrozenSet", "frozenset", "Sequence", "MutableSequence", "Iterable", "Iterator",
    "Collection", "Generator", "Tuple", "tuple", "Deque", "deque", "AsyncIterator", "AsyncIterable", "AsyncGenerator",
})  # fmt: skip
_AWAITED_TYPES = frozenset({"Awaitable", "Coroutine", "ContextManager", "AsyncContextManager"})
_SOURCE_FOLDERS = frozenset({"src", "lib", "python", "source"})
"""Names of source folders; tests, examples and tools beside them import from them."""
_TYPE_TOKEN = re.compile(r"[\w.]+|[\[\],|]")


class Python(Dialect):
    """Python: imports name modules and packages below a source root."""

    languages = ("python", "jupyter")
    declares_receiver = True
    class_scope_visible = False
    builtins = frozenset(dir(builtins))

    def list_constructor_names(self, name: str) -> tuple[str, ...]:
        """Return ``__init__`` and ``__new__``."""
        return ("__init__", "__new__")

    def parse_import(self, mention: Mention) -> list[ImportedName]:
        """Bind ``a`` for ``import a.b``, and ``c`` for ``from a import b as c``."""
        module, detail = mention.target, mention.detail
        if detail.startswith("* as "):
            return [ImportedName(detail[5:], module)]
        if not detail:
            return [ImportedName(module.partition(".")[0], module.partition(".")[0])]
        name, _, alias = detail.partition(" as ")
        return [ImportedName(alias.strip() or name, module.replace(" ", ""), name.strip())]

    def locate(self, tree: SymbolTable, file: FileScopes, module: str) -> list[Value]:
        """Find a module by its dotted name, seen from a file."""
        name = module.lstrip(".")
        level = len(module) - len(name)
        if level:
            folder = dirname(file.path)
            for _ in range(level - 1):
                folder = dirname(folder)
            found = _find_module(tree, join(folder, *name.split(".")) if name else folder)
            return [found] if found else []
        parts = name.split(".")
        candidates = [
            (root, found)
            for root in _find_roots(tree, parts[0])
            if (found := _find_module(tree, join(root, *parts)))
        ]
        if not candidates:
            return []
        files = [pair for pair in candidates if pair[1].kind == MODULE]
        own = _find_own_root(tree, file.path)
        best = max(_rate_root(root, own, file.path) for root, _ in files or candidates)
        return [found for root, found in files or candidates if _rate_root(root, own, file.path) == best]

    def find_submodule(self, tree: SymbolTable, module: Value, name: str) -> Value | None:
        """Find the module ``package.name``."""
        if module.kind == MODULE and module.location.rpartition("/")[2].partition(".")[0] != "__init__":
            return None
        folder = module.location if module.kind == FOLDER else dirname(module.location)
        return _find_module(tree, join(folder, name))

    def parse_type(self, declared: str) -> list[tuple[str, str]]:
        """Parse ``Optional["Pool"]``, ``list[Pool]``, ``type[Pool]``, ``Pool | None``."""
        tokens = _TYPE_TOKEN.findall(declared.replace('"', "").replace("'", ""))
        found, _ = _parse_types(tokens, 0, INSTANCE)
        return found


def _parse_types(tokens: list[str], at: int, kind: str) -> tuple[list[tuple[str, str]], int]:
    """Parse a list of types up to its closing bracket."""
    found: list[tuple[str, str]] = []
    while at < len(tokens) and tokens[at] != "]":
        token = tokens[at]
        at += 1
        if token in ",|[":
            continue
        short = token.rpartition(".")[2]
        if at < len(tokens) and tokens[at] == "[":
            inner, at = _parse_types(tokens, at + 1, _choose_inner_kind(short, kind))
            at += 1
            if (
                short in _TRANSPARENT_TYPES
                or short in _AWAITED_TYPES
                or short in _CONTAINER_TYPES
                or short in _CLASS_TYPES
            ):
                found += inner
                continue
        if short not in ("None", "Any"):
            found.append((token, kind))
    return found, at


def _choose_inner_kind(short: str, kind: str) -> str:
    if short in _CLASS_TYPES:
        return CLASS
    return CONTAINER if short in _CONTAINER_TYPES else kind


def _find_module(tree: SymbolTable, stem: str) -> Value | None:
    """Find the file or folder of a module."""
    for suffix in _SUFFIXES:
        for path in (f"{stem}/__init__{suffix}" if stem else f"__init__{suffix}", f"{stem}{suffix}"):
            if tree.exists(path):
                return Value(MODULE, path)
    return Value(FOLDER, stem) if stem and tree.is_folder(stem) else None


def _find_roots(tree: SymbolTable, top: str) -> list[str]:
    """Find folders that may contain a top-level module: those that are not inside of another package."""
    if top in sys.stdlib_module_names:
        return []  # the standard library is meant, unless a script has such a file beside it, which is rare
    holders = dict.fromkeys(tree.find_folder_parents(top))
    for suffix in _SUFFIXES:
        holders |= dict.fromkeys(dirname(file) for file in tree.find_files(top + suffix))
    return [root for root in holders if not _is_package(tree, root)]


def _is_package(tree: SymbolTable, folder: str) -> bool:
    return any(tree.exists(join(folder, f"__init__{suffix}")) for suffix in (".py", ".pyi"))


def _find_own_root(tree: SymbolTable, path: str) -> str:
    """Find the folder above the outermost package of a file."""
    folder = dirname(path)
    while folder and _is_package(tree, folder):
        folder = dirname(folder)
    return folder


def _rate_root(root: str, own: str, path: str) -> tuple[int, int]:
    """Rate how likely a root is meant: the file's own, then one above it or a source folder there, then others."""
    if root == own:
        return 2, 0
    above = dirname(root) if root.rpartition("/")[2] in _SOURCE_FOLDERS else root
    return int(not above or path.startswith(f"{above}/")), _count_shared_folders(root, path)


def _count_shared_folders(root: str, path: str) -> int:
    """Count the leading folders that two paths share."""
    common = 0
    for a, b in zip(root.split("/"), path.split("/"), strict=False):
        if a != b:
            break
        common += 1
    return common
