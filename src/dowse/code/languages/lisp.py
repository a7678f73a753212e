"""Common Lisp."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="lisp",
    extensions=(".lisp", ".lsp", ".asd"),
    aliases=("common-lisp",),
    interpreters=("sbcl", "clisp"),
    reader="definition_lines",
    lines=(
        ("module", r"\((?:\w+:)?(?:defpackage|defsystem)\h+[#:]*(?P<name>[^\s()\[\]{}\"']+)"),
        ("class", r"\((?:\w+:)?(?:defclass|define-condition)\h+(?P<name>[^\s()\[\]{}\"']+)"),
        ("struct", r"\((?:\w+:)?defstruct\h+\(?(?P<name>[^\s()\[\]{}\"']+)"),
        ("macro", r"\((?:\w+:)?defmacro\h+(?P<name>[^\s()\[\]{}\"']+)"),
        ("function", r"\((?:\w+:)?(?:defun|defgeneric|deftest)\h+\(?(?P<name>[^\s()\[\]{}\"']+)"),
        ("method", r"\((?:\w+:)?defmethod\h+\(?(?P<name>[^\s()\[\]{}\"']+)"),
        ("variable", r"\((?:\w+:)?(?:defvar|defparameter|defconstant)\h+(?P<name>[^\s()\[\]{}\"']+)"),
    ),
)
