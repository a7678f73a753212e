"""Scheme and Racket."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="scheme",
    extensions=(".scm", ".ss", ".sld", ".rkt", ".rktl"),
    aliases=("racket", "guile"),
    interpreters=("guile", "racket"),
)
