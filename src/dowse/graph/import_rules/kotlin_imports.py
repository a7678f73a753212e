"""How Kotlin names classes and functions."""

from __future__ import annotations

from dowse.graph.import_rules.by_namespace import Named


class Kotlin(Named):
    """Kotlin."""

    languages = ("kotlin",)
    family = ("java", "kotlin")
    one_base_class = True

    def constructors(self, name: str) -> tuple[str, ...]:
        """``constructor``, beside the one in the head of the class."""
        return ("constructor",)
