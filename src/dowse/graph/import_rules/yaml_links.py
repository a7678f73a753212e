"""Links in YAML files: paths in Docker Compose, GitHub Actions, GitLab CI, Kubernetes and Helm files."""

from __future__ import annotations

from dowse.graph.import_rules.by_link import LinkDialect


class Yaml(LinkDialect):
    """YAML: a value that is the path of a file or folder of the tree is a link to it."""

    languages = ("yaml",)
