"""Link resolution for Markdown: relative paths to files of the tree."""

from __future__ import annotations

from dowse.graph.import_rules.by_link import LinkDialect


class Markdown(LinkDialect):
    """Markdown: links to files, relative to the page."""

    languages = ("markdown",)
    from_root = False
