"""Import resolution by language: the table of import rules, from a language or file format to its dialect.

One file for each language, and one row in ``DIALECTS``.
"""

from __future__ import annotations

from dowse.graph.import_rules.c_includes import CFamily
from dowse.graph.import_rules.csharp_imports import CSharp
from dowse.graph.import_rules.dockerfile_copies import Dockerfile
from dowse.graph.import_rules.format_links import EntityLinks
from dowse.graph.import_rules.go_imports import Go
from dowse.graph.import_rules.java_imports import Java
from dowse.graph.import_rules.javascript_imports import JavaScript
from dowse.graph.import_rules.kotlin_imports import Kotlin
from dowse.graph.import_rules.markdown_links import Markdown
from dowse.graph.import_rules.php_imports import Php
from dowse.graph.import_rules.python_imports import Python
from dowse.graph.import_rules.ruby_requires import Ruby
from dowse.graph.import_rules.rule import Dialect
from dowse.graph.import_rules.rust_uses import Rust
from dowse.graph.import_rules.sourced_files import SourcedFiles
from dowse.graph.import_rules.terraform_modules import Terraform
from dowse.graph.import_rules.yaml_links import Yaml

DIALECTS: tuple[Dialect, ...] = (
    Python(),
    JavaScript(),
    Go(),
    Rust(),
    Java(),
    Kotlin(),
    CSharp(),
    CFamily(),
    Ruby(),
    Php(),
    Terraform(),
    Dockerfile(),
    Yaml(),
    Markdown(),
    EntityLinks(),
    SourcedFiles(),
)

BY_LANGUAGE = {language: dialect for dialect in DIALECTS for language in dialect.languages}

_NO_DIALECT = Dialect()


def get_dialect(language: str) -> Dialect:
    """Return the import rules of a language; rules that resolve nothing if it is not in the table."""
    return BY_LANGUAGE.get(language, _NO_DIALECT)
