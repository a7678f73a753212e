"""SCSS and Sass."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="scss",
    extensions=(".scss", ".sass"),
    grammar="tree_sitter_scss:language",
    definitions="""
(mixin_statement name: (_) @name (block) @body) @function
(function_statement name: (_) @name (block) @body) @function
(stylesheet (rule_set (selectors) @name (block) @body) @block)
(stylesheet (declaration (property_name) @name (#match? @name "^[$]")) @variable)
(comment) @comment
""",
    references="""
(use_statement (string_value) @import)
(forward_statement (string_value) @import)
(import_statement (string_value) @import)
(include_statement (identifier) @call)
(call_expression (function_name) @call)
""",
)
