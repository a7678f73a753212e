"""How Markdown names files."""

from __future__ import annotations

from dowse.graph.import_rules.by_link import Linked


class Markdown(Linked):
    """Links of Markdown."""

    languages = ("markdown",)
    from_root = False
