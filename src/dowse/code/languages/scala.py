"""Scala."""

from dowse.code.languages.spec import Language

_BODIES = ("compilation_unit", "template_body", "with_template_body", "enum_body", "ERROR")
"""Where a value is not a local one, or in a broken file need not be one."""

LANGUAGE = Language(
    name="scala",
    extensions=(".scala", ".sc", ".sbt", ".mill"),
    interpreters=("scala", "scala-cli", "amm"),
    grammar="tree_sitter_scala:language",
    definitions="""
(class_definition name: (_) @name body: (_)? @body) @class
(object_definition name: (_) @name body: (_)? @body) @class
(trait_definition name: (_) @name body: (_)? @body) @trait
(enum_definition name: (_) @name body: (_) @body) @enum
(simple_enum_case name: (_) @name) @constant
(full_enum_case name: (_) @name) @constant
(package_object name: (_) @name body: (_)? @body) @module
(package_clause name: (_) @name body: (_) @body) @module
(extension_definition parameters: (_ (_ type: [(type_identifier) @name (_ type: (_) @name)]))) @impl
(function_definition name: (_) @name body: (_) @body) @function
(function_declaration name: (_) @name) @function
(given_definition name: (_) @name body: (with_template_body) @body) @class
(given_definition name: (_) @name body: (_) @body) @variable
(type_definition name: (_) @name) @type
(class_parameter ["val" "var"] name: (_) @name) @variable
(val_declaration name: (_) @name) @variable
(var_declaration name: (_) @name) @variable
(comment) @comment
(block_comment) @comment
"""
    + "".join(f"({body} (_ !name !body pattern: (identifier) @name) @variable)\n" for body in _BODIES),
    references="""
(import_declaration . (identifier) @import ("." (identifier) @import)*)
(namespace_selectors (identifier) @import)
(namespace_selectors (_ name: (_) @import))
(call_expression function: [
  (identifier) @call
  (_ field: (_) @call)
  (generic_function function: [(identifier) @call (_ field: (_) @call)])
])
(instance_expression (type_identifier) @call)
(instance_expression (generic_type type: (_) @call))
(extends_clause [(type_identifier) (stable_type_identifier)] @inherit)
(extends_clause (generic_type type: (_) @inherit))
(derives_clause (_) @inherit)
""",
)
