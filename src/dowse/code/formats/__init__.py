"""Formats that are more than the language they are written in: notebooks, manifests, pipelines, components, schemas.

A format is one file here and one row in ``FORMATS``. The row says how a file is recognised: by its name, or by path and
content among the files of a base language; the first row that fits counts. The file has ``read``, which gives entities
with hierarchical names, references and where chunks end, in the same values as a language does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from dowse.code.languages.spec import Language

if TYPE_CHECKING:
    from dowse.code.formats.reading import FormatReader, FormatResult, FormatSource

FORMATS: tuple[Language, ...] = (
    Language(name="jupyter", extensions=(".ipynb",), aliases=("notebook",), reader="notebook"),
)


def read_format(source: FormatSource) -> FormatResult:
    """Read a file in a format."""
    reader: FormatReader = import_module(f"{__name__}.{source.language.reader}").read
    return reader(source)
