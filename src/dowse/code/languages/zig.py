"""Zig."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="zig",
    extensions=(".zig", ".zon"),
    interpreters=("zig",),
    grammar="tree_sitter_zig:language",
    definitions="""
(function_declaration name: (identifier) @name body: (block)? @body) @function
(variable_declaration (identifier) @name (struct_declaration)) @struct
(variable_declaration (identifier) @name (opaque_declaration)) @struct
(variable_declaration (identifier) @name (union_declaration)) @struct
(variable_declaration (identifier) @name (enum_declaration)) @enum
(variable_declaration (identifier) @name (error_set_declaration)) @enum
(source_file (variable_declaration "const" . (identifier) @name) @constant
  (#not-match? @constant "^[^=]*= *((packed|extern) +)?(struct|opaque|union|enum|error|@import)\\\\b"))
(source_file (variable_declaration "var" . (identifier) @name) @variable)
(struct_declaration (variable_declaration "const" . (identifier) @name) @constant
  (#not-match? @constant "^[^=]*= *((packed|extern) +)?(struct|opaque|union|enum|error|@import|@This)\\\\b"))
(test_declaration [(string (string_content) @name) (identifier) @name] (block) @body) @function
(comment) @comment
""",
    references="""
(builtin_function
  (builtin_identifier) @_import
  (arguments (string (string_content) @import))
  (#eq? @_import "@import"))
(call_expression function: [(identifier) @call (_ member: (identifier) @call)])
""",
)
