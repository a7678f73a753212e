"""GDScript, the language of the Godot engine."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="gdscript",
    extensions=(".gd",),
    aliases=("godot",),
    grammar="tree_sitter_gdscript:language",
    definitions="""
(class_definition name: (_) @name body: (_) @body) @class
(function_definition name: (_) @name body: (_) @body) @function
(enum_definition name: (_) @name) @enum
(source (class_name_statement name: (_) @name) @class)
(source (signal_statement name: (_) @name) @constant)
(source (const_statement name: (_) @name) @constant)
(source (variable_statement name: (_) @name) @variable)
(comment) @comment
""",
    references="""
(call . (identifier) @call)
(attribute (attribute_call . (identifier) @call))
(extends_statement (type (identifier) @inherit))
""",
)
