"""TypeScript."""

from dowse.code.languages import javascript
from dowse.code.languages.spec import Language

DEFINITIONS = (
    javascript.DEFINITIONS
    + """
(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_body name: (property_identifier) @name @constant)
(enum_assignment name: (property_identifier) @name) @constant
(internal_module name: (_) @name body: (_) @body) @module
(internal_module body: (_ (lexical_declaration (variable_declarator name: (identifier) @name) @variable)))
(module
  name: [(_ (string_fragment) @name) (identifier) @name (nested_identifier) @name]
  body: (_) @body) @module
(ambient_declaration (_ (variable_declarator name: (identifier) @name) @variable))

(function_signature name: (identifier) @name) @function
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method
(interface_body (property_signature name: (_) @name) @variable)
(public_field_definition name: (_) @name value: (_ body: (_) @body)) @method
(public_field_definition name: (_) @name) @variable
(decorator) @attribute
"""
)
"""What TSX has too."""

REFERENCES = (
    javascript.REFERENCES
    + """
(import_require_clause (identifier) @namespace source: (string) @import)
(variable_declarator name: (identifier) @bind type: (type_annotation (_) @type))
(required_parameter pattern: (identifier) @parameter !type)
(required_parameter pattern: (identifier) @parameter type: (type_annotation (_) @type))
(required_parameter pattern: (object_pattern (shorthand_property_identifier_pattern) @parameter))
(optional_parameter pattern: (identifier) @parameter !type)
(optional_parameter pattern: (identifier) @parameter type: (type_annotation (_) @type))
(required_parameter (accessibility_modifier) pattern: (identifier) @field type: (type_annotation (_) @type))
(public_field_definition name: (_) @field type: (type_annotation (_) @type))
(public_field_definition name: (_) @field !type value: (_) @value)
(property_signature name: (_) @field type: (type_annotation (_) @type))
(function_declaration name: (_) @return return_type: (type_annotation (_) @type))
(method_definition name: (_) @return return_type: (type_annotation (_) @type))
(method_signature name: (_) @return return_type: (type_annotation (_) @type))
(extends_clause value: [(identifier) (member_expression)] @inherit)
(implements_clause [(type_identifier) (nested_type_identifier)] @inherit)
(implements_clause (generic_type name: (_) @inherit))
(extends_type_clause type: [(type_identifier) (nested_type_identifier)] @inherit)
(extends_type_clause type: (generic_type name: (_) @inherit))
"""
)
"""What TSX has too."""

WRAPPERS = (*javascript.WRAPPERS, "ambient_declaration")

LANGUAGE = Language(
    name="typescript",
    extensions=(".ts", ".mts", ".cts"),
    interpreters=("ts-node", "tsx", "deno"),
    grammar="tree_sitter_typescript:language_typescript",
    definitions=DEFINITIONS,
    references=REFERENCES,
    wrappers=WRAPPERS,
)
