"""Import resolution for C#: ``using`` directives, namespaces and types."""

from __future__ import annotations

from dowse.graph.import_rules.by_namespace import NamespaceDialect


class CSharp(NamespaceDialect):
    """C#, where a namespace does not say in which file a type is."""

    languages = ("csharp",)
    super_words = frozenset({"base"})
    global_types = True
    single_inheritance = True
