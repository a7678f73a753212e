"""PowerShell."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="powershell",
    extensions=(".ps1", ".psm1", ".psd1"),
    aliases=("pwsh", "posh"),
    interpreters=("pwsh", "powershell"),
    grammar="tree_sitter_powershell:language",
    definitions="""
(function_statement (function_name) @name (script_block)? @body) @function
(class_statement . (simple_name) @name) @class
(class_method_definition (simple_name) @name (script_block)? @body) @method
(enum_statement . (simple_name) @name) @enum
(comment) @comment
""",
    references="""
(command
  command_name: (command_name) @_import
  command_elements: (command_elements . (command_argument_sep) . (generic_token) @import)
  (#match? @_import "^(?i:import-module)$"))
(command
  command_name: (command_name) @_using
  command_elements: (command_elements (generic_token) @import .)
  (#match? @_using "^(?i:using)$"))
(command (command_invokation_operator) command_name: (command_name_expr (command_name) @import))
(command command_name: (command_name) @call)
(invokation_expression (member_name (simple_name) @call))
(class_statement . (simple_name) (simple_name) @inherit)
""",
)
