"""Programming language registry and language detection by file name, extension, shebang or content.

Adding a language is one data file here and one row in ``_MODULES``. A user extends or adds one through
``[languages.NAME]`` in the settings, without touching the package.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache, cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from dowse.code.languages.spec import FORMAT_KEYS, GRAMMAR, GRAMMAR_FORM, Language
from dowse.errors import SettingsError, UsageError
from dowse.frozen import frozen
from dowse.lazy_regex import compile_lazily

_MODULES = (
    "asciidoc",
    "assembly",
    "bash",
    "batch",
    "c",
    "clojure",
    "cmake",
    "cpp",
    "crystal",
    "csharp",
    "css",
    "csv",
    "d",
    "dart",
    "diff",
    "dockerfile",
    "elixir",
    "elm",
    "emacs_lisp",
    "erlang",
    "fish",
    "fortran",
    "fsharp",
    "gdscript",
    "go",
    "go_module",
    "groovy",
    "haskell",
    "hcl",
    "html",
    "ini",
    "java",
    "javascript",
    "json",
    "jsonnet",
    "julia",
    "kotlin",
    "latex",
    "less",
    "lisp",
    "lua",
    "make",
    "markdown",
    "nim",
    "nix",
    "objective_c",
    "ocaml",
    "ocaml_interface",
    "org",
    "pascal",
    "perl",
    "php",
    "powershell",
    "prisma",
    "python",
    "r",
    "restructuredtext",
    "ruby",
    "rust",
    "scala",
    "scheme",
    "scss",
    "shader",
    "solidity",
    "sql",
    "starlark",
    "swift",
    "template",
    "thrift",
    "toml",
    "tsx",
    "typescript",
    "verilog",
    "vhdl",
    "vim",
    "visual_basic",
    "xml",
    "yaml",
    "zig",
)

OPTIONAL_GRAMMARS = (
    "tree_sitter_fortran",
    "tree_sitter_julia",
    "tree_sitter_objc",
    "tree_sitter_ocaml",
    "tree_sitter_perl",
)
"""Packages of the extra ``languages``: large grammars of languages that few trees have. Without them, definitions are
found by their first lines (``Language.lines``)."""

_FORMATS = "dowse.code.formats"
"""The table of formats, which are languages too; it has some of their readers import this module."""

TEXT = Language(name="text", extensions=(".txt", ".text", ".log"), aliases=("plain", "txt"), prose=True)

CLAIM_BYTES = 50_000
"""How far into a file the patterns of ``claims`` are searched."""

_KEY_FORMS = {
    "extensions": 'a list of endings with their dot, as in [".sage"]',
    "claims": "a list of pairs of an extension and a pattern",
    "links": "a list of patterns",
    "blanks": "a list of patterns with a group",
    "grammar": GRAMMAR_FORM,
}
_TYPE_FORMS = {tuple: "a list of strings", str: "text", bool: "true or false", int: "a number"}
"""What a value in a user's table must be, in words."""


@frozen(slots=False)
class Languages:
    """The languages in force: the built-in ones with the user's additions."""

    by_name: Mapping[str, Language]

    @cached_property
    def _by_extension(self) -> dict[str, Language]:
        return {ext: lang for lang in self.by_name.values() for ext in lang.extensions}

    @cached_property
    def _by_filename(self) -> dict[str, Language]:
        return {n: lang for lang in self.by_name.values() for n in lang.filenames if not _is_glob(n)}

    @cached_property
    def _filename_globs(self) -> list[tuple[str, Language]]:
        return [(n, lang) for lang in self.by_name.values() for n in lang.filenames if _is_glob(n)]

    @cached_property
    def _by_alias(self) -> dict[str, Language]:
        aliases = {a: lang for lang in self.by_name.values() for a in lang.aliases}
        return aliases | {ext[1:]: lang for ext, lang in self._by_extension.items()} | dict(self.by_name)

    @cached_property
    def _by_interpreter(self) -> dict[str, Language]:
        return {i: lang for lang in self.by_name.values() for i in lang.interpreters}

    @property
    def extensions(self) -> frozenset[str]:
        """Every extension that some language claims."""
        return frozenset(self._by_extension)

    @cached_property
    def _claims(self) -> dict[str, list[tuple[re.Pattern[bytes], Language]]]:
        claims: dict[str, list[tuple[re.Pattern[bytes], Language]]] = {}
        for language in self.by_name.values():
            for extension, pattern in language.claims:
                claims.setdefault(extension, []).append((compile_lazily(pattern.encode(), re.M), language))
        return claims

    @cached_property
    def _formats(self) -> dict[str, list[Language]]:
        """The formats that files of a language may be in, in the order in which they are tried."""
        formats: dict[str, list[Language]] = {}
        for row in self.by_name.values():
            for base in row.bases:
                formats.setdefault(base, []).append(row)
        return formats

    def detect(self, path: str, content: bytes = b"") -> Language:
        """Detect the language of a file by its name, or by its content where languages share an extension.

        A file in a format that is more than its language (a Kubernetes manifest in YAML) is of that format.
        """
        language = self._detect_language(path, content)
        if content:
            for row in self._formats.get(language.name, ()):
                if _is_in_format(row, path, content):
                    return row
        return language

    def list_formats(self, name: str) -> list[str]:
        """List a language and the formats that are written in it."""
        return [name, *(row.name for row in self._formats.get(name, ()))]

    def _detect_language(self, path: str, content: bytes) -> Language:
        filename = path.rpartition("/")[2]
        if found := self._by_filename.get(filename):
            return found
        for pattern, language in self._filename_globs:
            if fnmatchcase(filename, pattern):
                return language
        dot = filename.rfind(".")
        extension = filename[dot:].lower() if dot > 0 else ""
        for mark, language in self._claims.get(extension, ()):
            if mark.search(content, 0, CLAIM_BYTES):
                return language
        if found := self._by_extension.get(extension):
            return found
        if content.startswith(b"#!") and (found := self._by_interpreter.get(_read_interpreter(content))):
            return found
        return TEXT

    def find(self, name: str) -> Language:
        """Look up a language by name, alias or extension; an unknown one is an error with a suggestion."""
        key = name.lower().lstrip(".")
        if found := self._by_alias.get(key):
            return found
        close = get_close_matches(key, self._by_alias, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "see 'dowse languages'"
        raise UsageError(f"unknown language '{name}': {hint}")


@lru_cache(maxsize=1)
def load_builtin() -> Languages:
    """Load the languages that ship with dowse."""
    modules = (import_module(f"{__name__}.{module}") for module in _MODULES)
    formats = import_module(_FORMATS).FORMATS
    rows = [*(module.LANGUAGE for module in modules), TEXT, *formats]
    missing = list_missing_grammars()
    return Languages(
        {row.name: _without_grammar(row) if _get_package(row) in missing else row for row in rows}
    )


@lru_cache(maxsize=1)
def list_missing_grammars() -> tuple[str, ...]:
    """List the optional grammars that are not installed."""
    return tuple(package for package in OPTIONAL_GRAMMARS if find_spec(package) is None)


def _get_package(language: Language) -> str:
    return language.grammar.partition(":")[0]


def _without_grammar(language: Language) -> Language:
    """Return a language of which only the first lines of definitions are recognised."""
    return replace(
        language,
        grammar="",
        definitions="",
        references="",
        blanks=(),
        reader="definition_lines",
        extra="languages",
    )


def extend_builtin(additions: Mapping[str, Mapping[str, Any]]) -> Languages:
    """Extend the built-in languages by a user's tables: queries and lists are appended, other values replaced."""
    if not additions:
        return load_builtin()
    check_tables(additions)
    by_name = dict(load_builtin().by_name)
    for name, table in additions.items():
        by_name[name] = _extend_language(by_name.get(name, Language(name=name)), table)
    return Languages(by_name)


def check_tables(additions: Mapping[str, Any]) -> None:
    """Raise an error that names what is wrong with a user's tables, if something is; load no language."""
    known = {f.name: f.default for f in fields(Language) if f.name not in {"name", *FORMAT_KEYS}}
    for name, table in additions.items():
        if not isinstance(table, Mapping):
            raise SettingsError(f"setting 'languages.{name}' must be a table, not {table!r}")
        for key, value in table.items():
            if key not in known:
                close = get_close_matches(key, known, n=1)
                hint = f"did you mean '{close[0]}'?" if close else f"known keys: {', '.join(sorted(known))}"
                raise SettingsError(f"unknown key 'languages.{name}.{key}': {hint}")
            if not _is_valid(key, value, type(known[key])):
                form = _KEY_FORMS.get(key) or _TYPE_FORMS[type(known[key])]
                raise SettingsError(f"setting 'languages.{name}.{key}' must be {form}, not {value!r}")


def _is_valid(key: str, value: Any, kind: type) -> bool:
    """Return whether a value fits a field of a language; tuples are lists in the settings."""
    if key == "claims":
        return isinstance(value, list | tuple) and all(
            _are_strings(pair) and len(pair) == 2 and _is_pattern(pair[1]) for pair in value
        )
    if kind is tuple:
        accepts = {"extensions": _is_extension, "links": _is_pattern, "blanks": _has_group}.get(key, bool)
        return _are_strings(value) and all(map(accepts, value))
    if key == "grammar":
        return isinstance(value, str) and (not value or GRAMMAR.fullmatch(value) is not None)
    return isinstance(value, kind)


def _are_strings(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _is_extension(text: str) -> bool:
    return len(text) > 1 and text.startswith(".")


def _is_pattern(text: str, groups: int = 0) -> bool:
    try:
        return re.compile(text).groups >= groups
    except re.error:
        return False


def _has_group(text: str) -> bool:
    return _is_pattern(text, 1)


def _extend_language(language: Language, table: Mapping[str, Any]) -> Language:
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key in ("definitions", "references"):
            values[key] = getattr(language, key) + "\n" + value
        elif key == "claims":
            values[key] = (*language.claims, *map(tuple, value))
        elif isinstance(value, list | tuple):
            values[key] = tuple(dict.fromkeys((*getattr(language, key), *value)))
        else:
            values[key] = value
    return replace(language, **values)


def _is_in_format(row: Language, path: str, content: bytes) -> bool:
    """Return whether a file in a base language of a format is in that format: whether it has one of its forms."""
    return any(
        _compile_path(place).search(path)
        and all(_compile_sign(sign).search(content, 0, CLAIM_BYTES) for sign in signs)
        for place, *signs in row.forms
    )


@cache
def _compile_path(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _compile_sign(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode(), re.M)


def _is_glob(name: str) -> bool:
    return any(c in name for c in "*?[")


def _read_interpreter(head: bytes) -> str:
    """Read the interpreter of a script: ``#!/usr/bin/env -S python3 -u`` -> ``python3``."""
    words = head[2:200].split(b"\n", 1)[0].decode("ascii", "replace").split()
    names = [w.rpartition("/")[2] for w in words if not w.startswith("-") and "=" not in w]
    if names and names[0] == "env":
        names = names[1:]
    return names[0] if names else ""
