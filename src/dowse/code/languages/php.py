"""PHP."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="php",
    extensions=(".php", ".phtml", ".php3", ".php4", ".php5", ".php7", ".php8", ".phpt"),
    interpreters=("php",),
    grammar="tree_sitter_php:language_php",
    definitions="""
(namespace_definition name: (_) @name body: (_) @body) @module
(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(trait_declaration name: (_) @name body: (_) @body) @trait
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_case name: (_) @name) @constant
(function_definition name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name body: (_)? @body) @method
(property_declaration (property_element name: (variable_name (name) @name))) @variable
(const_declaration (const_element . (name) @name)) @constant
((expression_statement
  (_
    function: (name) @_define
    arguments: (arguments . (argument (string (string_content) @name)))) @constant)
  (#eq? @_define "define"))
(assignment_expression
  left: (variable_name (name) @name)
  right: (_ parameters: (_) body: (_) @body)) @function
(program (expression_statement (assignment_expression left: (variable_name (name) @name)) @variable))
(comment) @comment
""",
    references="""
(namespace_use_declaration (namespace_name) @import)
(namespace_use_clause . [(name) (qualified_name)] @import)
(include_expression [(string) (encapsed_string)] @import)
(include_expression (_ right: (string) @import))
(include_once_expression [(string) (encapsed_string)] @import)
(include_once_expression (_ right: (string) @import))
(require_expression [(string) (encapsed_string)] @import)
(require_expression (_ right: (string) @import))
(require_once_expression [(string) (encapsed_string)] @import)
(require_once_expression (_ right: (string) @import))
(function_call_expression function: [(name) (qualified_name)] @call)
(member_call_expression object: (_) @through name: (name) @call)
(nullsafe_member_call_expression object: (_) @through name: (name) @call)
(scoped_call_expression scope: (_) @through name: (name) @call)
(assignment_expression
  left: [
    (variable_name (name) @bind)
    (member_access_expression object: (variable_name) @_this name: (name) @field)
  ]
  right: (_) @value
  (#eq? @_this "$this"))
(property_declaration type: (_) @type (property_element name: (variable_name (name) @field)))
(property_promotion_parameter type: (_) @type name: (variable_name (name) @field))
(simple_parameter type: (_) @type name: (variable_name (name) @parameter))
(method_declaration name: (_) @return return_type: (_) @type)
(function_definition name: (_) @return return_type: (_) @type)
((object_creation_expression . [(name) (qualified_name)] @call)
  (#not-match? @call "^(static|self|parent)$"))
(base_clause [(name) (qualified_name)] @inherit)
(class_interface_clause [(name) (qualified_name)] @inherit)
(use_declaration [(name) (qualified_name)] @inherit)
""",
    wrappers=("expression_statement",),
)
