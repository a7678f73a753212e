"""Rust."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="rust",
    extensions=(".rs",),
    interpreters=("rust-script",),
    grammar="tree_sitter_rust:language",
    definitions="""
(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name body: (field_declaration_list) @body) @struct
(struct_item name: (_) @name) @struct
(union_item name: (_) @name body: (_) @body) @struct
(enum_item name: (_) @name body: (_) @body) @enum
(enum_variant name: (_) @name) @constant
(field_declaration name: (_) @name) @variable
(trait_item name: (_) @name body: (_) @body) @trait
(impl_item
  type: [
    (type_identifier) @name
    (scoped_type_identifier) @name
    (primitive_type) @name
    (array_type) @name
    (tuple_type) @name
    (pointer_type) @name
    (function_type) @name
  ]
  body: (_) @body) @impl
; one alternation of all would be slower: what waits for the type is compared, each with each, at every node
(impl_item
  type: [
    (generic_type type: (_) @name)
    (dynamic_type trait: (_) @name)
    (reference_type type: [
      (type_identifier) @name
      (scoped_type_identifier) @name
      (primitive_type) @name
      (generic_type type: (_) @name)
    ])
  ]
  body: (_) @body) @impl
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(source_file (const_item name: (_) @name) @constant)
(declaration_list (const_item name: (_) @name) @constant)
(ERROR (const_item name: (_) @name) @constant)
(static_item name: (_) @name) @variable
(macro_definition name: (_) @name) @macro
(mod_item name: (_) @name body: (_) @body) @module
(line_comment) @comment
(block_comment) @comment
(attribute_item) @attribute
""",
    references="""
(use_declaration argument: [(identifier) (scoped_identifier)] @import)
(use_as_clause path: (_) @listed alias: (_) @namespace)
(use_wildcard (_) @listed "*" @names)
(scoped_use_list path: [(identifier) (scoped_identifier)] @listed)
(use_list [(identifier) (scoped_identifier)] @listed)
(extern_crate_declaration name: (_) @import !alias)
(extern_crate_declaration name: (_) @import alias: (_) @namespace)
(mod_item name: (_) @import !body)
(call_expression function: [(identifier) (scoped_identifier)] @call)
(call_expression function: (field_expression value: (_) @through field: (_) @call))
(call_expression function: (generic_function function: [(identifier) (scoped_identifier)] @call))
(call_expression function: (generic_function function: (field_expression value: (_) @through field: (_) @call)))
(let_declaration pattern: (identifier) @bind !type value: (_) @value)
(let_declaration pattern: (identifier) @bind type: (_) @type)
(for_expression pattern: (identifier) @bind value: (_) @each)
(parameter pattern: (identifier) @parameter type: (_) @type)
(field_declaration name: (_) @field type: (_) @type)
(function_item name: (_) @return return_type: (_) @type)
(function_signature_item name: (_) @return return_type: (_) @type)
(macro_invocation macro: (_) @call)
(token_tree (identifier) @call . (token_tree . "("))
(token_tree (self) @through . "." . (identifier) @call . (token_tree . "("))
(impl_item trait: [(type_identifier) (scoped_type_identifier)] @inherit)
(impl_item trait: (generic_type type: (_) @inherit))
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier)] @inherit))
(trait_item bounds: (trait_bounds (generic_type type: (_) @inherit)))
""",
)
