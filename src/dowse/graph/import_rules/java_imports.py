"""Import resolution for Java: classes by qualified name."""

from __future__ import annotations

from dowse.graph.import_rules.by_namespace import NamespaceDialect


class Java(NamespaceDialect):
    """Java: imports name classes."""

    languages = ("java",)
    family = ("java", "kotlin")
    single_inheritance = True
