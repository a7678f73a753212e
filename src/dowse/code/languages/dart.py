"""Dart."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="dart",
    extensions=(".dart",),
    interpreters=("dart",),
    aliases=("flutter",),
    grammar="tree_sitter_dart:language",
    definitions="""
(class_definition name: (identifier) @name body: (_) @body) @class
(mixin_declaration (identifier) @name (class_body) @body) @trait
(enum_declaration name: (identifier) @name body: (_) @body) @enum
(extension_declaration name: (identifier) @name body: (_) @body) @impl
(extension_type_declaration name: (identifier) @name body: (_) @body) @class
(type_alias . (type_identifier) @name) @type
(program (function_signature name: (identifier) @name) @function . (function_body) @body @function)
(program (getter_signature name: (identifier) @name) @function . (function_body) @body @function)
(program (setter_signature name: (identifier) @name) @function . (function_body) @body @function)
((method_signature [
  (function_signature name: (identifier) @name)
  (getter_signature name: (identifier) @name)
  (setter_signature name: (identifier) @name)
  (operator_signature [(binary_operator) "==" "[]" "[]=" "~"] @name)
  (constructor_signature . name: (identifier) @name . parameters: (_))
  (constructor_signature name: (identifier) . name: (identifier) @name)
  (factory_constructor_signature . (identifier) @name . (formal_parameter_list))
  (factory_constructor_signature . (identifier) . (identifier) @name)
]) @method . (function_body) @body @method)
(declaration [
  (function_signature name: (identifier) @name)
  (getter_signature name: (identifier) @name)
  (setter_signature name: (identifier) @name)
  (constructor_signature . name: (identifier) @name . parameters: (_))
  (constructor_signature name: (identifier) . name: (identifier) @name)
  (constant_constructor_signature (const_builtin) . (identifier) @name . (formal_parameter_list))
  (constant_constructor_signature (identifier) . (identifier) @name)
]) @method
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @variable
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @constant
(program (static_final_declaration_list (static_final_declaration . (identifier) @name)) @constant)
(program (initialized_identifier_list (initialized_identifier . (identifier) @name)) @variable)
(annotation) @attribute
(comment) @comment
(documentation_comment) @comment
""",
    references="""
(uri (string_literal) @import)
((identifier) @call . (selector (argument_part)))
((selector (unconditional_assignable_selector (identifier) @call)) . (selector (argument_part)))
(superclass (type_identifier) @inherit)
(mixins (type_identifier) @inherit)
(interfaces (type_identifier) @inherit)
""",
)
