"""Module resolution for JavaScript and TypeScript: relative paths, index files, ``tsconfig`` path aliases, packages."""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath

from dowse.graph.import_rules.rule import CONTAINER, INSTANCE, MODULE, Dialect, ImportedName, Value
from dowse.graph.scopes import FileScopes, Mention
from dowse.graph.symbol_table import SymbolTable

_SUFFIXES = (
    ".ts",
    ".tsx",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".mts",
    ".cts",
    ".d.ts",
    ".vue",
    ".svelte",
    ".astro",
    ".json",
)
_SOURCE_SUFFIXES = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""Source suffixes of modules that are imported under the name they will be compiled to."""

_CONFIG_NAMES = ("tsconfig.json", "jsconfig.json", "tsconfig.base.json")
_TYPE_NAME = re.compile(r"[A-Za-z_$][\w$.]*")
_CONTAINER_TYPE = re.compile(r"^(?:readonly\s+)?(?:Array|ReadonlyArray|Set|Iterable)<(.+)>$|^(.+)\[\]$", re.S)
_WRAPPER_TYPE = re.compile(r"^(?:Promise|Readonly|Partial|Required|NonNullable|Awaited)<(.+)>$", re.S)


_LIBRARY = "$lib"


class JavaScript(Dialect):
    """JavaScript and TypeScript: imports name modules by path or package."""

    languages = ("javascript", "typescript", "tsx", "vue", "svelte", "astro")
    family = languages
    super_words = frozenset({"super"})
    class_scope_visible = False
    module_value_name = "module.exports"
    builtins = frozenset({
        "Array", "Boolean", "Date", "Error", "JSON", "Map", "Math", "Number", "Object", "Promise", "Proxy", "Reflect",
        "RegExp", "Set", "String", "Symbol", "TypeError", "RangeError", "WeakMap", "WeakSet", "console", "document",
        "fetch", "parseInt", "parseFloat", "process", "setTimeout", "setInterval", "clearTimeout", "clearInterval",
        "window", "global", "globalThis", "Buffer", "URL", "describe", "it", "test", "expect",
        "beforeEach", "afterEach",
    })  # fmt: skip

    def list_constructor_names(self, name: str) -> tuple[str, ...]:
        """Return ``constructor``."""
        return ("constructor",)

    def parse_import(self, mention: Mention) -> list[ImportedName]:
        """Parse ``import d, { a as b } from "m"``, ``const { a: b } = require("m")``, ``export * from "m"``."""
        detail, module = mention.detail, mention.target
        if detail.startswith("* as "):
            return [ImportedName(detail[5:], module)]
        if detail in ("export *", "*"):
            return [ImportedName("*", module, "*")]
        detail = detail.removeprefix("export ").removeprefix("type ")
        if not detail:
            return []
        name, _, alias = re.sub(r"\s*:\s*", " as ", detail).partition(" as ")
        return [ImportedName((alias or name).strip(), module, name.strip())]

    def locate(self, tree: SymbolTable, file: FileScopes, module: str) -> list[Value]:
        """Find the file of a module: relative, by the nearest configuration, or a package of the tree."""
        folder = dirname(file.path)
        if module.startswith("."):
            found = _find_file(tree, normpath(join(folder, module)))
        else:
            found = (
                _find_by_config(tree, folder, module)
                or _find_in_library(tree, folder, module)
                or _find_package(tree, module)
            )
        return [Value(MODULE, found)] if found else []

    def parse_type(self, declared: str) -> list[tuple[str, str]]:
        """Parse ``Pool | null``, ``Pool[]``, ``Promise<Pool>``."""
        found = []
        for part in declared.split("|"):
            text, kind = part.strip(), INSTANCE
            while match := _WRAPPER_TYPE.match(text):
                text = match[1].strip()
            if match := _CONTAINER_TYPE.match(text):
                text, kind = (match[1] or match[2]).strip(), CONTAINER
            if (name := _TYPE_NAME.match(text)) and name[0] not in (
                "null",
                "undefined",
                "any",
                "unknown",
                "typeof",
            ):
                found.append((name[0], kind))
        return found


def _find_file(tree: SymbolTable, stem: str) -> str:
    """Find the file that a folder, or a path without its extension, stands for."""
    if stem.startswith(".."):
        return ""
    stem = "" if stem == "." else stem
    dot = stem.rfind(".")
    if stem and dot > stem.rfind("/"):
        for suffix in _SOURCE_SUFFIXES.get(stem[dot:], ()):
            if tree.exists(stem[:dot] + suffix):
                return stem[:dot] + suffix
        if tree.exists(stem):
            return stem
    index = join(stem, "index")
    for suffix in _SUFFIXES:
        if stem and tree.exists(stem + suffix):
            return stem + suffix
    return next((index + suffix for suffix in _SUFFIXES if tree.exists(index + suffix)), "")


def _find_by_config(tree: SymbolTable, folder: str, module: str) -> str:
    """Find a module by ``paths`` and ``baseUrl`` of the nearest ``tsconfig`` that has it."""
    while True:
        for name in _CONFIG_NAMES:
            config = join(folder, name)
            if tree.exists(config) and (found := _apply_config(tree, config, module)):
                return found
        if not folder:
            return ""
        folder = dirname(folder)


def _find_in_library(tree: SymbolTable, folder: str, module: str) -> str:
    """Find a module of a SvelteKit project by ``$lib``, which is ``src/lib``; its configuration is not committed."""
    head, _, rest = module.partition("/")
    while head == _LIBRARY:
        if found := _find_file(tree, join(folder, "src/lib", rest).rstrip("/")):
            return found
        if not folder:
            break
        folder = dirname(folder)
    return ""


def _apply_config(tree: SymbolTable, config: str, module: str) -> str:
    links = tree.get_file(config).links
    base = next((link.target for link in links if link.detail == "baseUrl"), "")
    root = normpath(join(dirname(config), base)) if dirname(config) or base else ""
    root = "" if root == "." else root
    for link in links:
        head, star, tail = link.detail.partition("*")
        if link.detail in ("name", "baseUrl", "extends", "main") or not link.detail:
            continue
        fits = module.startswith(head) and module.endswith(tail) if star else module == link.detail
        if fits:
            middle = module[len(head) : len(module) - len(tail)] if star else ""
            if found := _find_file(tree, normpath(join(root, link.target.replace("*", middle)))):
                return found
    return _find_file(tree, normpath(join(root, module))) if base else ""


def _find_package(tree: SymbolTable, module: str) -> str:
    """Find a module of another package of the same tree."""
    parts = module.split("/")
    size = 2 if module.startswith("@") else 1
    name, rest = "/".join(parts[:size]), parts[size:]
    for path in tree.find_files("package.json"):
        if any(link.detail == "name" and link.target == name for link in tree.get_file(path).links):
            folder = dirname(path)
            for inner in ("src", "", "lib"):
                if found := _find_file(tree, join(folder, inner, *rest).rstrip("/")):
                    return found
    return ""
