"""Scheme and Racket."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="scheme",
    extensions=(".scm", ".ss", ".sld", ".rkt", ".rktl"),
    aliases=("racket", "guile"),
    interpreters=("guile", "racket"),
    reader="definition_lines",
    lines=(
        ("function", r"\(define\*?(?:/\w+)?(?:-public)?\h+\(+(?P<name>[^\s()\[\]{}\"']+)"),
        ("macro", r"\((?:define-syntax(?:-rule)?|defmacro|define-macro)\h+\(?(?P<name>[^\s()\[\]{}\"']+)"),
        ("struct", r"\((?:define-record-type|struct|define-struct)\h+\(?(?P<name>[^\s()\[\]{}\"']+)"),
        ("module", r"\((?:define-)?(?:module|library)\h+\(?(?P<name>[^\s()\[\]{}\"']+)"),
        ("variable", r"\(define(?:-public|-values|/contract)?\h+(?P<name>[^\s()\[\]{}\"']+)"),
    ),
)
