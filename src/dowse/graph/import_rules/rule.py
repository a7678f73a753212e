"""Import resolution interface: how a language locates modules, binds imported names, and writes types and constructors.

``Dialect`` has defaults that resolve nothing; a language overrides what it has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from dowse.graph.scopes import FILE, FileScopes, Mention

if TYPE_CHECKING:
    from dowse.graph.symbol_table import SymbolTable


class Value(NamedTuple):
    """One thing that an expression may be. ``location`` is a path; for something outside of the tree, a dotted name."""

    kind: str
    location: str
    scope: int = 0


MODULE, CLASS, FUNCTION, INSTANCE, CONTAINER, SUPER, EXTERNAL, FOLDER = (
    "module", "class", "function", "instance", "container", "super", "external", "folder",
)  # fmt: skip
"""Kinds of values: a file; a class; a function; an object of a class; a container of such objects; ``super()``;
something outside of the tree; a folder, or a package without a file of its own."""


def find_member(tree: SymbolTable, paths: Iterable[str], name: str) -> Value | None:
    """Find the definition of a name at the top of some files."""
    for path in paths:
        file = tree.get_file(path)
        if scope := file.scopes[FILE].members.get(name):
            return Value(FUNCTION if file.scopes[scope].is_function else CLASS, path, scope)
    return None


class ImportedName(NamedTuple):
    """A name that an import binds: to a module, or to a member of it (``*``: all; ``a.b``: a member of that)."""

    local: str
    module: str
    member: str = ""


class Dialect:
    """The import rules of a language. These defaults resolve nothing; each language overrides some of them."""

    languages: tuple[str, ...] = ()
    family: tuple[str, ...] = ()  # languages whose definitions its names can mean; empty: its own
    super_words: frozenset[str] = frozenset({"super", "super()"})
    implicit_receiver = False  # a bare call may mean a method of the enclosing class
    self_type_word = ""  # the word for the enclosing class
    unbound_may_be_module = False  # a name that is not bound may name a module
    single_inheritance = False  # all bases but one are interfaces, which seldom hide what another base has
    declares_receiver = False  # the first parameter of a method is the object
    class_scope_visible = True  # methods see the names of the class body
    folder_is_namespace = False  # files of one folder see each other's definitions
    imports_alike_in_folder = True  # an import means the same in every file of a folder
    global_functions = False  # a function of any file can be called without an import
    global_types = False  # a class of any file can be named without an import
    builtins: frozenset[str] = frozenset()
    header_suffixes: tuple[str, ...] = ()  # suffixes of files that declare what others define
    module_value_name = ""  # the name in a module for its value as a whole

    def parse_import(self, mention: Mention) -> list[ImportedName]:
        """List the names that an import binds."""
        return []

    def list_constructor_names(self, name: str) -> tuple[str, ...]:
        """Return the names of the methods that create an object of a class of that name."""
        return (name,)

    def locate(self, tree: SymbolTable, file: FileScopes, module: str) -> list[Value]:
        """Find what a module name means in a file; nothing if it is not in the tree."""
        return []

    def find_submodule(self, tree: SymbolTable, module: Value, name: str) -> Value | None:
        """Find a module inside of a module or folder."""
        return None

    def resolve_link(self, tree: SymbolTable, file: FileScopes, link: Mention) -> list[Value]:
        """Find the files, folders or entities that a link names; several: it may be any of them."""
        return []

    def parse_type(self, declared: str) -> list[tuple[str, str]]:
        """List the names in a declared type, each with the kind of value that something of that type is."""
        name = declared.strip().lstrip("*&?").split("<")[0].split("[")[0].strip()
        return [(name.replace("::", ".").replace("\\", "."), INSTANCE)] if name else []
