"""Emacs Lisp."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="emacs-lisp",
    extensions=(".el",),
    filenames=(".emacs", "Cask"),
    aliases=("elisp",),
    interpreters=("emacs",),
)
