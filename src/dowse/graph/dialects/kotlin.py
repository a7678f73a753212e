"""How Kotlin names classes and functions."""

from __future__ import annotations

from dowse.graph.dialects.named import Named


class Kotlin(Named):
    """Kotlin."""

    languages = ("kotlin",)
    family = ("java", "kotlin")
    one_base_class = True
