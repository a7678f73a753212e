"""Common Lisp."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="lisp",
    extensions=(".lisp", ".lsp", ".asd"),
    aliases=("common-lisp",),
    interpreters=("sbcl", "clisp"),
)
