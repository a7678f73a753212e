"""Kotlin."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="kotlin",
    extensions=(".kt", ".kts", ".ktm"),
    interpreters=("kotlin", "kscript"),
    grammar="tree_sitter_kotlin:language",
    definitions="""
(class_declaration "interface" name: (_) @name (class_body)? @body) @interface
(class_declaration name: (_) @name (enum_class_body) @body) @enum
(class_declaration name: (_) @name (class_body)? @body) @class
(ERROR "class" . (identifier) @name) @class
(object_declaration name: (_) @name (class_body)? @body) @class
(companion_object name: (_) @name (class_body)? @body) @class
(enum_entry (identifier) @name) @constant
(type_alias type: (_) @name) @type
(function_declaration (user_type . (identifier) @owner) . name: (_) @name (function_body)? @body) @method
(class_body (function_declaration name: (_) @name (function_body)? @body) @method)
(function_declaration name: (_) @name (function_body)? @body) @function
(secondary_constructor "constructor" @name (block)? @body) @method
(class_parameter ["val" "var"] (identifier) @name) @variable
(source_file (property_declaration (variable_declaration (identifier) @name)) @variable)
(class_body (property_declaration (variable_declaration (identifier) @name)) @variable)
(enum_class_body (property_declaration (variable_declaration (identifier) @name)) @variable)
(ERROR (property_declaration (variable_declaration (identifier) @name)) @variable)
(line_comment) @comment
(block_comment) @comment
""",
    references="""
(import (qualified_identifier) @import)
(call_expression . (identifier) @call)
(call_expression . (navigation_expression . (_) @through (identifier) @call .))
(property_declaration (variable_declaration (identifier) @bind (_) @type))
(property_declaration (variable_declaration (identifier) @bind .) "=" . (_) @value)
(class_parameter (identifier) @field (_) @type)
(parameter (identifier) @parameter (_) @type)
(delegation_specifier (user_type . (identifier) @inherit ("." (identifier) @inherit)*))
(delegation_specifier (_ . (_ . (identifier) @inherit ("." (identifier) @inherit)*)))
""",
)
