"""The languages and formats whose names can be resolved: one file each, one row in the table."""

from __future__ import annotations

from dowse.graph.dialects.base import Dialect
from dowse.graph.dialects.c import CFamily
from dowse.graph.dialects.csharp import CSharp
from dowse.graph.dialects.dockerfile import Dockerfile
from dowse.graph.dialects.go import Go
from dowse.graph.dialects.java import Java
from dowse.graph.dialects.javascript import JavaScript
from dowse.graph.dialects.kotlin import Kotlin
from dowse.graph.dialects.markdown import Markdown
from dowse.graph.dialects.php import Php
from dowse.graph.dialects.python import Python
from dowse.graph.dialects.ruby import Ruby
from dowse.graph.dialects.rust import Rust
from dowse.graph.dialects.terraform import Terraform
from dowse.graph.dialects.yaml import Yaml

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
)

BY_LANGUAGE = {language: dialect for dialect in DIALECTS for language in dialect.languages}

_NONE = Dialect()


def dialect_of(language: str) -> Dialect:
    """How a language names things; one that names nothing if it is not in the table."""
    return BY_LANGUAGE.get(language, _NONE)
