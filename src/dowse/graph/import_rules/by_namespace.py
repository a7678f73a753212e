"""Languages whose imports name definitions rather than files: found by name, told apart by their paths."""

from __future__ import annotations

import re
from posixpath import join

from dowse.graph.import_rules.rule import CLASS, FOLDER, FUNCTION, Dialect, Imported, Value
from dowse.graph.scopes import FILE, FileScopes, Mention
from dowse.graph.symbol_table import Place, Tree

_SEPARATORS = re.compile(r"::|\\|\.|/")


class Named(Dialect):
    """An import is a dotted name; its last part is defined in a file whose folders are the parts before."""

    shared_folder = True
    implicit_receiver = True

    def imported(self, mention: Mention) -> list[Imported]:
        """The last part of a name, its alias, or everything below it."""
        if mention.detail == "*":
            return [Imported("*", mention.target, "*")]
        parts = parts_of(mention.target)
        alias = mention.detail.removeprefix("* as ")
        return [Imported(alias or parts[-1], mention.target)] if parts else []

    def locate(self, tree: Tree, file: FileScopes, module: str) -> list[Value]:
        """The definitions that a name may mean; those in the folders it names, if there are any."""
        parts = parts_of(module)
        if not parts:
            return []
        places = _outermost(tree, tree.named(self.family or self.languages, parts[-1]))
        near = [place for place in places if _agreement(place.path, parts[:-1]) > 0] or (
            places if len(parts) == 1 else []
        )
        if not near:
            return self._folder(tree, parts)
        best = max(_agreement(place.path, parts[:-1]) for place in near)
        return [_value(tree, place) for place in near if _agreement(place.path, parts[:-1]) == best]

    def _folder(self, tree: Tree, parts: list[str]) -> list[Value]:
        for above in tree.folders_named(parts[-1]):
            folder = join(above, parts[-1])
            if len(parts) > 1 and f"/{folder}".endswith("/" + "/".join(parts[-2:])):
                return [Value(FOLDER, folder)]
        return []

    def submodule(self, tree: Tree, module: Value, name: str) -> Value | None:
        """A definition in one of the files of a folder."""
        if module.sort != FOLDER:
            return None
        for path in tree.files_in(module.place):
            if tree.languages[path] in (self.family or self.languages):
                other = tree.file(path)
                if scope := other.scopes[FILE].members.get(name):
                    return _value(tree, Place(path, scope))
        return None


def parts_of(name: str) -> list[str]:
    """The parts of a qualified name."""
    return [part for part in _SEPARATORS.split(name.strip().strip("\\;")) if part]


def _outermost(tree: Tree, places: list[Place]) -> list[Place]:
    """Definitions that are not inside of a class or function."""
    found = []
    for place in places:
        file = tree.file(place.path)
        parent = file.scopes[file.scopes[place.scope].parent]
        if not (parent.is_class or parent.is_function):
            found.append(place)
    return found


def _agreement(path: str, parts: list[str]) -> int:
    """How many of the last parts of a name are the last folders (or the stem) of a path."""
    folders = path.rpartition(".")[0].lower().split("/")
    best = 0
    for end in (len(folders), len(folders) - 1):
        count = 0
        for part, folder in zip(reversed(parts), reversed(folders[:end]), strict=False):
            if part.lower() != folder:
                break
            count += 1
        best = max(best, count)
    return best


def _value(tree: Tree, place: Place) -> Value:
    row = tree.file(place.path).scopes[place.scope]
    return Value(FUNCTION if row.is_function else CLASS, place.path, place.scope)
