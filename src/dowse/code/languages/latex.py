"""LaTeX."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="latex",
    extensions=(".tex", ".sty", ".bib", ".ltx"),
    aliases=("bibtex",),
    prose=True,
)
