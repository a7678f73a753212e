"""Dependencies of Dockerfiles: the files that they copy."""

from __future__ import annotations

from dowse.graph.import_rules.format_links import EntityLinks


class Dockerfile(EntityLinks):
    """Dockerfiles: the files that they copy, and stages."""

    languages = ("dockerfile",)
