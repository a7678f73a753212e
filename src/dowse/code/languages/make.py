"""Makefiles."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="make",
    extensions=(".mk", ".mak", ".make"),
    filenames=("Makefile", "makefile", "GNUmakefile", "Makefile.*", "Kbuild"),
    aliases=("makefile",),
    interpreters=("make", "gmake"),
    grammar="tree_sitter_make:language",
    definitions="""
(rule (targets [(word) (concatenation) (variable_reference)] @name) (recipe)? @body
  (#not-match? @name "^[.][A-Z]")) @block
(makefile (variable_assignment name: (word) @name !target_or_pattern) @variable)
(makefile (export_directive (variable_assignment name: (word) @name) @variable))
(conditional (variable_assignment name: (word) @name !target_or_pattern) @variable)
(define_directive name: (word) @name) @macro
(comment) @comment
""",
    references="""
(include_directive filenames: (list (word) @import))
(prerequisites (word) @call)
""",
)
