"""Dependencies of Dockerfiles: the files that they copy."""

from __future__ import annotations

from dowse.graph.import_rules.by_link import LinkDialect


class Dockerfile(LinkDialect):
    """Dockerfiles: the files that they copy."""

    languages = ("dockerfile",)
