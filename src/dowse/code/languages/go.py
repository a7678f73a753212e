"""Go."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="go",
    extensions=(".go",),
    aliases=("golang",),
    grammar="tree_sitter_go:language",
    definitions="""
(function_declaration name: (identifier) @name body: (_)? @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (generic_type type: (_) @owner)
    (pointer_type [(type_identifier) @owner (generic_type type: (_) @owner)])
  ]))
  name: (_) @name
  body: (_)? @body) @method
(type_spec name: (_) @name type: (struct_type (_) @body)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @type
(field_declaration name: (_) @name) @variable
(method_elem name: (_) @name) @method
((source_file (const_declaration (const_spec name: (identifier) @name) @constant)) (#not-eq? @name "_"))
((source_file (var_declaration (var_spec name: (identifier) @name) @variable)) (#not-eq? @name "_"))
((ERROR (_ [(const_spec name: (identifier) @name) (var_spec name: (identifier) @name)] @variable))
  (#not-eq? @name "_"))
((var_spec_list (var_spec name: (identifier) @name) @variable) (#not-eq? @name "_"))
(comment) @comment
""",
    references="""
(import_spec !name path: (_) @import)
(import_spec name: (_) @namespace path: (_) @import)
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression operand: (_) @through field: (_) @call))
(composite_literal type: (type_identifier) @call)
(composite_literal type: (qualified_type package: (_) @through name: (_) @call))
(short_var_declaration left: (expression_list . (identifier) @bind) right: (expression_list . (_) @value))
(short_var_declaration left: (expression_list (_) (identifier) @bind))
(var_spec name: (identifier) @bind type: (_) @type)
(var_spec name: (identifier) @bind !type value: (expression_list . (_) @value))
(assignment_statement left: (expression_list . (identifier) @bind) right: (expression_list . (_) @value))
(range_clause left: (expression_list (_) . (identifier) @bind .) right: (_) @each)
(parameter_declaration name: (identifier) @parameter type: (_) @type)
(variadic_parameter_declaration name: (identifier) @parameter)
(field_declaration name: (_) @field type: (_) @type)
(function_declaration name: (_) @return result: (_) @type)
(method_declaration name: (_) @return result: (_) @type)
(type_conversion_expression type: (generic_type type: (_) @call))
(field_declaration !name type: [(type_identifier) (qualified_type)] @inherit)
(field_declaration !name type: (generic_type type: (_) @inherit))
(interface_type (type_elem . [(type_identifier) (qualified_type)] @inherit .))
""",
)
