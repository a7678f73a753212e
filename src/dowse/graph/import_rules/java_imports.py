"""How Java names classes."""

from __future__ import annotations

from dowse.graph.import_rules.by_namespace import Named


class Java(Named):
    """Java."""

    languages = ("java",)
    family = ("java", "kotlin")
    one_base_class = True
