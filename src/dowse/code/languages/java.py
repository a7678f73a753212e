"""Java."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="java",
    extensions=(".java",),
    interpreters=("java",),
    grammar="tree_sitter_java:language",
    definitions="""
(class_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(annotation_type_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_constant name: (_) @name) @constant
(module_declaration name: (_) @name body: (_) @body) @module
(method_declaration name: (_) @name body: (_)? @body) @method
(constructor_declaration name: (_) @name body: (_) @body) @method
(compact_constructor_declaration name: (_) @name body: (_) @body) @method
(annotation_type_element_declaration name: (_) @name) @method
(field_declaration declarator: (variable_declarator name: (_) @name)) @variable
(constant_declaration declarator: (variable_declarator name: (_) @name)) @constant
(line_comment) @comment
(block_comment) @comment
""",
    references="""
(import_declaration [(identifier) (scoped_identifier)] @import . ";")
(import_declaration [(identifier) (scoped_identifier)] @import (asterisk) @names)
(method_invocation !object name: (_) @call)
(method_invocation object: (_) @through name: (_) @call)
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (_) @bind))
((local_variable_declaration type: (_) @_var declarator: (variable_declarator name: (_) @bind value: (_) @value))
  (#eq? @_var "var"))
(enhanced_for_statement type: (_) @type name: (_) @bind)
(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @field))
(formal_parameter type: (_) @type name: (_) @parameter)
(method_declaration type: (_) @type name: (_) @return)
(method_reference (identifier) @call .)
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @call)
(object_creation_expression type: (generic_type . (_) @call))
(superclass [(type_identifier) (scoped_type_identifier)] @inherit)
(superclass (generic_type . (_) @inherit))
(super_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @inherit))
(super_interfaces (type_list (generic_type . (_) @inherit)))
(extends_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @inherit))
(extends_interfaces (type_list (generic_type . (_) @inherit)))
""",
)
