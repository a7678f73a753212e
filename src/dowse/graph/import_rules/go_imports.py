"""Import resolution for Go: packages are folders below a module (``go.mod``)."""

from __future__ import annotations

from posixpath import dirname, join

from dowse.graph.import_rules.rule import (
    CONTAINER,
    FOLDER,
    INSTANCE,
    Dialect,
    ImportedName,
    Value,
    find_member,
)
from dowse.graph.scopes import FileScopes, Mention
from dowse.graph.symbol_table import SymbolTable


class Go(Dialect):
    """Go: packages are folders below a module."""

    languages = ("go",)
    super_words = frozenset()
    folder_is_namespace = True
    builtins = frozenset({
        "append", "cap", "clear", "close", "complex", "copy", "delete", "error", "imag", "len", "make", "max", "min",
        "new", "panic", "print", "println", "real", "recover", "string", "byte", "rune", "int", "int64", "uint64",
        "float64",
    })  # fmt: skip

    def list_constructor_names(self, name: str) -> tuple[str, ...]:
        """Return none: plain functions create objects."""
        return ()

    def parse_import(self, mention: Mention) -> list[ImportedName]:
        """Bind the last part of a path, or the alias; a dot imports everything."""
        alias = mention.detail.removeprefix("* as ")
        if alias == ".":
            return [ImportedName("*", mention.target, "*")]
        parts = mention.target.split("/")
        last = parts[-2] if len(parts) > 1 and parts[-1][:1] == "v" and parts[-1][1:].isdigit() else parts[-1]
        return [ImportedName(alias or last.partition(".")[0], mention.target)]

    def locate(self, tree: SymbolTable, file: FileScopes, module: str) -> list[Value]:
        """Find the folder of a package, below the module that its path begins with."""
        for path in tree.find_files("go.mod"):
            for link in tree.get_file(path).links:
                if module == link.target or module.startswith(f"{link.target}/"):
                    folder = join(dirname(path), module[len(link.target) + 1 :]).rstrip("/")
                    if any(name.endswith(".go") for name in tree.list_files(folder)):
                        return [Value(FOLDER, folder)]
        return []

    def find_submodule(self, tree: SymbolTable, module: Value, name: str) -> Value | None:
        """Find a definition of a package."""
        if module.kind != FOLDER:
            return None
        files = (
            path
            for path in tree.list_files(module.location)
            if path.endswith(".go") and not path.endswith("_test.go")
        )
        return find_member(tree, files, name)

    def parse_type(self, declared: str) -> list[tuple[str, str]]:
        """Parse ``*Server``, ``[]Server``, ``(*Server, error)``."""
        text = declared.strip().lstrip("(").split(",")[0].rstrip(")").strip()
        kind = INSTANCE
        if text.startswith(("[]", "...")):
            text, kind = text.lstrip("[].").strip(), CONTAINER
        name = text.split()[-1].lstrip("*&").split("[")[0] if text.split() else ""
        return [(name, kind)] if name and not name.startswith("map") else []
