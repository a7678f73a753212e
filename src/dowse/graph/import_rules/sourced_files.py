"""Files that shell scripts source and Nix expressions import, by their paths."""

from __future__ import annotations

from dowse.graph.import_rules.by_link import LinkDialect


class SourcedFiles(LinkDialect):
    """Bash and Nix: files are named by path."""

    languages = ("bash", "nix")
