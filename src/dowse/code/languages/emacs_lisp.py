"""Emacs Lisp."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="emacs-lisp",
    extensions=(".el",),
    filenames=(".emacs", "Cask"),
    aliases=("elisp",),
    interpreters=("emacs",),
    reader="definition_lines",
    lines=(
        (
            "function",
            r"\((?:cl-)?(?:defun\*?|defsubst|defmethod|defgeneric|define-minor-mode|define-derived-mode"
            r"|define-inline|transient-define-prefix|ert-deftest)\h+(?P<name>[^\s()\[\]{}\"']+)",
        ),
        ("macro", r"\((?:cl-)?defmacro\*?\h+(?P<name>[^\s()\[\]{}\"']+)"),
        ("struct", r"\(cl-defstruct\h+\(?(?P<name>[^\s()\[\]{}\"']+)"),
        ("class", r"\(defclass\h+(?P<name>[^\s()\[\]{}\"']+)"),
        (
            "variable",
            r"\((?:defvar(?:-local)?|defcustom|defconst|defface|defgroup|defvaralias)\h+"
            r"(?P<name>[^\s()\[\]{}\"']+)",
        ),
    ),
)
