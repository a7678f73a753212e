"""How Kotlin names classes and functions."""

from __future__ import annotations

from dowse.graph.import_rules.by_namespace import NamespaceDialect


class Kotlin(NamespaceDialect):
    """Kotlin."""

    languages = ("kotlin",)
    family = ("java", "kotlin")
    single_inheritance = True

    def constructor_names(self, name: str) -> tuple[str, ...]:
        """``constructor``, beside the one in the head of the class."""
        return ("constructor",)
