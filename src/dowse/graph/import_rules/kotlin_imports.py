"""Import resolution for Kotlin: classes and functions by qualified name."""

from __future__ import annotations

from dowse.graph.import_rules.by_namespace import NamespaceDialect


class Kotlin(NamespaceDialect):
    """Kotlin: imports name classes and functions."""

    languages = ("kotlin",)
    family = ("java", "kotlin")
    single_inheritance = True

    def list_constructor_names(self, name: str) -> tuple[str, ...]:
        """Return ``constructor``; the primary one is part of the class itself."""
        return ("constructor",)
