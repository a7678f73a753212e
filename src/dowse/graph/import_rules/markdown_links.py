"""How Markdown names files."""

from __future__ import annotations

from dowse.graph.import_rules.by_link import LinkDialect


class Markdown(LinkDialect):
    """Links of Markdown."""

    languages = ("markdown",)
    from_root = False
