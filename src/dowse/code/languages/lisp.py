"""Common Lisp."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="lisp",
    extensions=(".lisp", ".lsp", ".asd"),
    aliases=("common-lisp",),
    interpreters=("sbcl", "clisp"),
)
