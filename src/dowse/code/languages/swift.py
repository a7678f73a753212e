"""Swift."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="swift",
    extensions=(".swift",),
    interpreters=("swift",),
    grammar="tree_sitter_swift:language",
    definitions="""
(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @enum
(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body) @impl
(class_declaration name: (_) @name body: (_) @body) @class
(protocol_declaration name: (_) @name body: (_) @body) @interface
(enum_entry name: (_) @name) @constant
(typealias_declaration name: (type_identifier) @name) @type
(associatedtype_declaration name: (type_identifier) @name) @type
(_ "func" name: [(simple_identifier) (custom_operator)] @name body: (_)? @body) @function
; an alternation of so many is slow: each is a state of its own for every function
(_ "func" name: _ @name body: (_)? @body
  (#any-of? @name "!=" "!==" "%" "%=" "*" "*=" "+" "++" "+=" "-" "--" "-=" "/" "/=" "<" "<=" "==" "===" ">" ">="))
  @function
(init_declaration "init" @name body: (_)? @body) @method
(deinit_declaration "deinit" @name body: (_)? @body) @method
(subscript_declaration "subscript" @name (computed_property)? @body) @method
(protocol_property_declaration name: (_ bound_identifier: (_) @name)) @variable
(source_file (_ !body name: (_ bound_identifier: (_) @name)) @variable)
(class_body (_ !body name: (_ bound_identifier: (_) @name)) @variable)
(enum_class_body (_ !body name: (_ bound_identifier: (_) @name)) @variable)
(ERROR (property_declaration name: (_ bound_identifier: (_) @name)) @variable)
(comment) @comment
(multiline_comment) @comment
""",
    references="""
(import_declaration (identifier) @import)
(call_expression
  . [(simple_identifier) @call (_ suffix: (_ suffix: (simple_identifier) @call))]
  (call_suffix [(_ "(") (lambda_literal)]))
(inheritance_specifier (user_type . (type_identifier) @inherit ("." (type_identifier) @inherit)*))
""",
)
