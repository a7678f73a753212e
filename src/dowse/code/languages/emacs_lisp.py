"""Emacs Lisp."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="emacs-lisp",
    extensions=(".el",),
    filenames=(".emacs", "Cask"),
    aliases=("elisp",),
    interpreters=("emacs",),
)
