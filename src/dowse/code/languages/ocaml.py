"""OCaml implementations; interfaces are a language of their own because their grammar is."""

from dowse.code.languages.spec import Language

DEFINITIONS = """
(module_definition (module_binding . (module_name) @name)) @module
(module_type_definition (module_type_name) @name) @interface
(type_binding name: (_) @name) @type
(exception_definition (constructor_declaration (constructor_name) @name)) @type
(external (value_name) @name) @function
(value_specification [(value_name) (parenthesized_operator)] @name
  type: [(function_type) (polymorphic_type)]) @function
(value_specification (value_name) @name
  type: [(type_constructor_path) (constructed_type) (tuple_type) (type_variable)]) @variable
(class_definition (class_binding (class_name) @name)) @class
(class_type_definition (class_type_binding (class_type_name) @name)) @interface
(method_definition (method_name) @name body: (_)? @body) @method
(method_specification (method_name) @name) @method
(comment) @comment
"""

LANGUAGE = Language(
    name="ocaml",
    extensions=(".ml", ".mll", ".mly", ".eliom"),
    aliases=("caml",),
    interpreters=("ocaml", "ocamlrun"),
    grammar="tree_sitter_ocaml:language_ocaml",
    definitions=DEFINITIONS
    + """
(compilation_unit (_ (let_binding
  pattern: [(value_name) (parenthesized_operator)] @name . (parameter) body: (_) @body) @function))
(structure (_ (let_binding
  pattern: [(value_name) (parenthesized_operator)] @name . (parameter) body: (_) @body) @function))
(compilation_unit (_ (let_binding
  pattern: (value_name) @name body: [(fun_expression) (function_expression)] @body) @function))
(structure (_ (let_binding
  pattern: (value_name) @name body: [(fun_expression) (function_expression)] @body) @function))
(compilation_unit (_ (let_binding pattern: (value_name) @name) @variable))
(structure (_ (let_binding pattern: (value_name) @name) @variable))
""",
    references="""
(open_module module: (_) @import)
(include_module module: (_) @import)
(application_expression function: (value_path (value_name) @call))
(inheritance_definition (_) @inherit)
""",
    lines=(
        ("module", r"module\h+(?:rec\h+|type\h+)?(?P<name>[A-Z]\w*)"),
        ("type", r"(?:type|and)\h+(?:nonrec\h+)?(?:'\w+\h+|\([^()\n]*\)\h*)?(?P<name>[a-z_]\w*)\h*(?:=|$)"),
        ("type", r"exception\h+(?P<name>[A-Z]\w*)"),
        ("class", r"class\h+(?:virtual\h+)?(?P<name>[a-z_]\w*)"),
        ("method", r"method!?\h+(?:private\h+|virtual\h+)*(?P<name>[a-z_]\w*)"),
        ("function", r"(?:let|and)\h+(?:rec\h+|inline\h+)?(?P<name>[a-z_]\w*)\h+(?![:=])\S[^=\n]*=?"),
        ("function", r"external\h+(?P<name>[a-z_]\w*)"),
        ("variable", r"let\h+(?P<name>[a-z_]\w*)\h*[:=]"),
    ),
)
