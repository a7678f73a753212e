"""C#."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="csharp",
    extensions=(".cs", ".csx"),
    aliases=("c#", "dotnet"),
    interpreters=("dotnet-script",),
    grammar="tree_sitter_c_sharp:language",
    definitions="""
(namespace_declaration name: (_) @name body: (_) @body) @module
(class_declaration name: (_) @name body: (_)? @body) @class
(record_declaration name: (_) @name body: (_)? @body) @class
(struct_declaration name: (_) @name body: (_)? @body) @struct
(interface_declaration name: (_) @name body: (_)? @body) @interface
(enum_declaration name: (_) @name body: (_)? @body) @enum
(enum_member_declaration name: (_) @name) @constant
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name body: (_)? @body) @method
(local_function_statement name: (_) @name body: (_)? @body) @function
(constructor_declaration name: (_) @name body: (_)? @body) @method
(destructor_declaration name: (_) @name body: (_)? @body) @method
(operator_declaration operator: _ @name body: (_)? @body) @method
(conversion_operator_declaration type: (_) @name body: (_)? @body) @method
(indexer_declaration "this" @name accessors: (_)? @body) @method
(property_declaration name: (_) @name accessors: (_)? @body) @variable
(event_declaration name: (_) @name accessors: (_)? @body) @variable
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @variable
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @variable
(comment) @comment
""",
    references="""
(using_directive !name [(identifier) (qualified_name)] @import)
(using_directive name: (_) (qualified_name) @import)
(invocation_expression function: [
  (identifier) @call
  (_ !expression [
    ((identifier) @call . (type_argument_list))
    name: [(identifier) @call (_ . (identifier) @call)]
  ])
  (_ [
    ([expression: (_) @through] name: [(identifier) @call (_ . (identifier) @call)])
    (_ !expression name: [(identifier) @call (_ . (identifier) @call)])
  ])
])
(field_declaration (variable_declaration type: (_) @type (variable_declarator name: (_) @field)))
(property_declaration type: (_) @type name: (_) @field)
(parameter type: (_) @type name: (_) @parameter)
(method_declaration returns: (_) @type name: (_) @return)
((local_declaration_statement (variable_declaration type: (_) @type (variable_declarator name: (_) @bind)))
  (#not-eq? @type "var"))
((local_declaration_statement (variable_declaration type: (_) @_var (variable_declarator name: (_) @bind (_) @value)))
  (#eq? @_var "var"))
(object_creation_expression type: [(identifier) (qualified_name)] @call)
(object_creation_expression type: (generic_name . (identifier) @call))
(base_list [(identifier) (qualified_name)] @inherit)
(base_list (generic_name . (identifier) @inherit))
(base_list (primary_constructor_base_type type: [(identifier) (qualified_name)] @inherit))
(base_list (primary_constructor_base_type type: (generic_name . (identifier) @inherit)))
""",
)
