"""How C# names types."""

from __future__ import annotations

from dowse.graph.import_rules.by_namespace import Named


class CSharp(Named):
    """C#, where a namespace says nothing of files."""

    languages = ("csharp",)
    supers = frozenset({"base"})
    global_types = True
    one_base_class = True
