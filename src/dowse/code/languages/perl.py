"""Perl."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="perl",
    extensions=(".pl", ".pm", ".t", ".psgi", ".plx"),
    filenames=("cpanfile", "Makefile.PL", "Build.PL"),
    aliases=("perl5",),
    interpreters=("perl", "perl5"),
    grammar="tree_sitter_perl:language",
    definitions="""
(package_statement name: (package) @name (block)? @body) @module
(class_statement name: (package) @name) @class
(role_statement name: (package) @name) @trait
(subroutine_declaration_statement name: (bareword) @name body: (block) @body) @function
(method_declaration_statement name: (bareword) @name body: (block) @body) @method
(source_file (expression_statement (assignment_expression
  left: (variable_declaration variable: (_ (varname) @name)))) @variable)
(use_statement
  module: (package) @_constant
  (_ . (autoquoted_bareword) @name)
  (#eq? @_constant "constant")) @constant
(use_statement
  module: (package) @_constant
  (anonymous_hash_expression (_ (autoquoted_bareword) @name @constant))
  (#eq? @_constant "constant"))
(comment) @comment
(pod) @comment
""",
    references="""
(use_statement module: (package) @import)
(use_statement
  module: (package) @_parent
  (quoted_word_list content: (string_content) @inherit)
  (#any-of? @_parent "parent" "base"))
(require_expression (bareword) @import)
(function_call_expression function: (function) @call)
(ambiguous_function_call_expression function: (function) @call)
(method_call_expression method: (method) @call)
""",
    lines=(
        ("module", r"package\h+(?P<name>[\w:]+)"),
        ("function", r"(?:sub|method)\h+(?P<name>[\w:]+)"),
    ),
)
