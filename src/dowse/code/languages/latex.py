"""LaTeX."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="latex",
    extensions=(".tex", ".sty", ".bib", ".ltx"),
    aliases=("bibtex",),
    prose=True,
)
