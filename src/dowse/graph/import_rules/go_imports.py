"""How Go names packages: folders under a module."""

from __future__ import annotations

from posixpath import dirname, join

from dowse.graph.import_rules.rule import CLASS, EACH, FOLDER, FUNCTION, INSTANCE, Dialect, Imported, Value
from dowse.graph.scopes import FILE, FileScopes, Mention
from dowse.graph.symbol_table import Tree


class Go(Dialect):
    """Go."""

    languages = ("go",)
    supers = frozenset()
    shared_folder = True
    builtins = frozenset({
        "append", "cap", "clear", "close", "complex", "copy", "delete", "error", "imag", "len", "make", "max", "min",
        "new", "panic", "print", "println", "real", "recover", "string", "byte", "rune", "int", "int64", "uint64",
        "float64",
    })  # fmt: skip

    def constructors(self, name: str) -> tuple[str, ...]:
        """There are none: functions make objects."""
        return ()

    def imported(self, mention: Mention) -> list[Imported]:
        """The last part of a path, or the alias; a dot imports everything."""
        alias = mention.detail.removeprefix("* as ")
        if alias == ".":
            return [Imported("*", mention.target, "*")]
        parts = mention.target.split("/")
        last = parts[-2] if len(parts) > 1 and parts[-1][:1] == "v" and parts[-1][1:].isdigit() else parts[-1]
        return [Imported(alias or last.partition(".")[0], mention.target)]

    def locate(self, tree: Tree, file: FileScopes, module: str) -> list[Value]:
        """The folder of a package, below the module that its path begins with."""
        for path in tree.files_named("go.mod"):
            for link in tree.file(path).links:
                if module == link.target or module.startswith(f"{link.target}/"):
                    folder = join(dirname(path), module[len(link.target) + 1 :]).rstrip("/")
                    if any(name.endswith(".go") for name in tree.files_in(folder)):
                        return [Value(FOLDER, folder)]
        return []

    def submodule(self, tree: Tree, module: Value, name: str) -> Value | None:
        """A definition of a package."""
        if module.sort != FOLDER:
            return None
        for path in tree.files_in(module.place):
            if path.endswith(".go") and not path.endswith("_test.go"):
                other = tree.file(path)
                if scope := other.scopes[FILE].members.get(name):
                    return Value(FUNCTION if other.scopes[scope].is_function else CLASS, path, scope)
        return None

    def type_names(self, declared: str) -> list[tuple[str, str]]:
        """``*Server``, ``[]Server``, ``(*Server, error)``."""
        text = declared.strip().lstrip("(").split(",")[0].rstrip(")").strip()
        sort = INSTANCE
        if text.startswith(("[]", "...")):
            text, sort = text.lstrip("[].").strip(), EACH
        name = text.split()[-1].lstrip("*&").split("[")[0] if text.split() else ""
        return [(name, sort)] if name and not name.startswith("map") else []
