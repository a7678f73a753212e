"""Groovy: also Gradle build scripts and Jenkins pipelines."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="groovy",
    extensions=(".groovy", ".gradle", ".gvy", ".gy", ".gsh", ".jenkinsfile"),
    filenames=("Jenkinsfile", "Jenkinsfile.*"),
    aliases=("gradle",),
    interpreters=("groovy",),
    grammar="tree_sitter_groovy:language",
    definitions="""
(class_declaration name: (identifier) @name body: (_) @body) @class
(interface_declaration name: (identifier) @name body: (_) @body) @interface
(enum_declaration name: (identifier) @name body: (_) @body) @enum
(method_declaration name: (identifier) @name body: (_)? @body) @method
(constructor_declaration name: (identifier) @name body: (_) @body) @method
(function_definition name: (identifier) @name body: (_) @body) @function
(class_body (field_declaration declarator: (variable_declarator name: (identifier) @name)) @variable)
(program (local_variable_declaration declarator: (variable_declarator name: (identifier) @name)) @variable)
(program (expression_statement (method_invocation
  !object !arguments name: (identifier) @name body: (closure) @body) @block))
(method_invocation
  name: (identifier) @_maker
  arguments: (argument_list . [(character_literal) @name (string_literal (string_fragment) @name)])
  body: (closure) @body
  (#any-of? @_maker "stage" "register" "create" "task")) @block
(line_comment) @comment
(block_comment) @comment
""",
    references="""
(import_declaration [(scoped_identifier) (identifier)] @import)
(method_invocation name: (identifier) @call)
(juxt_function_call name: (identifier) @call)
(object_creation_expression type: (type_identifier) @call)
(superclass (type_identifier) @inherit)
(super_interfaces (type_list (type_identifier) @inherit))
""",
)
