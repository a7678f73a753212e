"""The languages and formats whose names can be resolved: one file each, one row in the table."""

from __future__ import annotations

from dowse.graph.dialects.base import Dialect
from dowse.graph.dialects.python import Python

DIALECTS: tuple[Dialect, ...] = (Python(),)

BY_LANGUAGE = {language: dialect for dialect in DIALECTS for language in dialect.languages}
