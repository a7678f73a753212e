"""How Markdown names files."""

from __future__ import annotations

from dowse.graph.dialects.linked import Linked


class Markdown(Linked):
    """Links of Markdown."""

    languages = ("markdown",)
    from_root = False
