"""JavaScript, with JSX."""

from dowse.code.languages.spec import Language

_FUNCTION = "(_ body: (_) @body)"
"""Only functions and classes are values with a body; naming them all makes the query slow to compile."""

# Patterns with the same root are joined where that is as fast to run, and what a field says is not named again: the
# queries of this family compile in two thirds of the time.

DEFINITIONS = f"""
(function_declaration name: (identifier) @name body: (_) @body) @function
(generator_function_declaration name: (identifier) @name body: (_) @body) @function
(class_declaration name: (_) @name body: (_) @body) @class
(return_statement (function_expression name: (_) @name body: (_) @body) @function)
(arguments (function_expression name: (_) @name body: (_) @body) @function)
(method_definition
  name: [
    (property_identifier) @name
    (private_property_identifier) @name
    (computed_property_name (_) @name)
    (_ (string_fragment) @name)
  ]
  body: (_) @body) @method
(pair key: [(property_identifier) @name (_ (string_fragment) @name)] value: {_FUNCTION}) @method

(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(variable_declarator name: (identifier) @name value: {_FUNCTION}) @function
([
  (program (_ !body !declaration (variable_declarator name: (identifier) @name value: (_)? @_value) @variable))
  (ERROR (_ (variable_declarator name: (identifier) @name value: (_)? @_value) @variable))
] (#not-match? @_value "^require\\\\("))
(export_statement declaration: (_ (variable_declarator name: (identifier) @name) @variable))

((assignment_expression [
    ([left: (member_expression) @name @_other] right: (class body: (_) @body))
    ([left: (_) @_exports] right: (class name: (_) @name body: (_) @body))
  ]) @class
  (#not-eq? @_other "module.exports") (#eq? @_exports "module.exports"))
((assignment_expression left: (_ object: (_ property: (_) @_prototype)) @name right: {_FUNCTION}) @method
  (#eq? @_prototype "prototype"))
((assignment_expression left: (member_expression) @name right: {_FUNCTION}) @function
  (#not-eq? @name "module.exports"))
((assignment_expression left: (_) @_exports right: (_ name: (_) @name body: (_) @body)) @function
  (#eq? @_exports "module.exports"))
((assignment_expression left: (_) @name right: (_ !name body: (_) @body)) @function
  (#eq? @name "module.exports"))
(export_statement "default" @name value: (class !name body: (_) @body)) @class
(export_statement "default" @name value: (_ !name body: (_) @body)) @function
(comment) @comment
"""
"""What TypeScript has too."""

REFERENCES = """
(import_statement "import" . source: (string) @import)
(import_statement (import_clause (identifier) @default) source: (string) @import)
(import_statement (import_clause (named_imports (import_specifier) @names)) source: (string) @import)
(import_statement (import_clause (namespace_import (identifier) @namespace)) source: (string) @import)
(export_statement (export_clause (export_specifier) @reexport) source: (string) @import)
(export_statement (namespace_export (_) @namespace) source: (string) @import)
(export_statement "*" @reexport source: (string) @import)
(_ function: (import) arguments: (_ . (string) @import))
((call_expression function: (identifier) @_require arguments: (_ . (string) @import))
  (#eq? @_require "require"))
((call_expression function: (identifier) @call) (#not-eq? @call "require"))
((variable_declarator
  name: [
    (identifier) @namespace
    (object_pattern [(shorthand_property_identifier_pattern) (pair_pattern)] @names)
  ]
  value: (_ function: (identifier) @_require arguments: (_ . (string) @import)))
  (#eq? @_require "require"))
(call_expression function: (_ object: (_) @through property: (_) @call))
(new_expression constructor: [(identifier) @call (_ object: (_) @through property: (_) @call)])
(decorator [
  (identifier) @decorator
  (_ object: (_) @through property: (_) @decorator)
  (_ function: [(identifier) @decorator (_ object: (_) @through property: (_) @decorator)])
])
(variable_declarator name: (identifier) @bind value: (_) @value)
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @bind))
(variable_declarator name: (array_pattern (identifier) @bind))
(assignment_expression left: [(identifier) (member_expression)] @bind right: (_) @value)
((assignment_expression
  left: (_) @_exports right: (object (pair key: (property_identifier) @bind value: (identifier) @value)))
  (#eq? @_exports "module.exports"))
(for_in_statement left: (identifier) @bind right: (_) @each)
(export_statement "default" @bind declaration: (_ name: (_) @value))
(export_statement "default" @bind value: (identifier) @value)
(arrow_function parameter: (identifier) @parameter)
(catch_clause parameter: (identifier) @parameter)
(return_statement (_) @return)
"""
"""What TypeScript has too."""

JSX_REFERENCES = """
((jsx_opening_element name: (identifier) @call) (#match? @call "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @call) (#match? @call "^[A-Z]"))
(jsx_opening_element name: (member_expression property: (_) @call))
(jsx_self_closing_element name: (member_expression property: (_) @call))
"""
"""A component in a page is a call of it."""

WRAPPERS = ("export_statement", "lexical_declaration", "variable_declaration", "expression_statement")

LANGUAGE = Language(
    name="javascript",
    extensions=(".js", ".jsx", ".mjs", ".cjs", ".es6"),
    filenames=("Jakefile",),
    aliases=("ecmascript", "node"),
    interpreters=("node", "nodejs", "bun", "gjs"),
    grammar="tree_sitter_javascript:language",
    definitions=DEFINITIONS
    + f"""
(field_definition property: (_) @name value: {_FUNCTION}) @method
(field_definition property: (_) @name) @variable
(html_comment) @comment
""",
    references=REFERENCES
    + JSX_REFERENCES
    + """
(class_heritage [(identifier) (member_expression)] @inherit)
(formal_parameters (identifier) @parameter)
(formal_parameters (assignment_pattern left: (identifier) @parameter right: (_) @value))
(formal_parameters (rest_pattern (identifier) @parameter))
(formal_parameters (object_pattern (shorthand_property_identifier_pattern) @parameter))
(field_definition property: (_) @field value: (_) @value)
""",
    wrappers=WRAPPERS,
)
