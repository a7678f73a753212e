"""Solidity."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="solidity",
    extensions=(".sol",),
    grammar="tree_sitter_solidity:language",
    definitions="""
(contract_declaration name: (identifier) @name body: (_) @body) @class
(interface_declaration name: (identifier) @name body: (_) @body) @interface
(library_declaration name: (identifier) @name body: (_) @body) @module
(struct_declaration name: (identifier) @name body: (_) @body) @struct
(enum_declaration name: (identifier) @name body: (_) @body) @enum
(function_definition name: (identifier) @name body: (_)? @body) @function
(modifier_definition name: (identifier) @name body: (_)? @body) @function
(constructor_definition "constructor" @name body: (_) @body) @function
(fallback_receive_definition ["receive" "fallback"] @name body: (_)? @body) @function
(event_definition name: (identifier) @name) @type
(error_declaration name: (identifier) @name) @type
(user_defined_type_definition name: (identifier) @name) @type
(state_variable_declaration name: (identifier) @name) @variable
(constant_variable_declaration name: (identifier) @name) @constant
(comment) @comment
""",
    references="""
(import_directive source: (string) @import)
(call_expression function: (expression (identifier) @call))
(call_expression function: (expression (member_expression property: (identifier) @call)))
(new_expression name: (type_name (user_defined_type (identifier) @call)))
(emit_statement name: (expression (identifier) @call))
(revert_statement error: (expression (identifier) @call))
(modifier_invocation (identifier) @call)
(inheritance_specifier ancestor: (user_defined_type) @inherit)
""",
)
