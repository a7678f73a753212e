"""Julia."""

from dowse.code.languages.spec import Language

_CALL = """(call_expression . [
    (identifier) @name
    (field_expression) @name
    (parametrized_type_expression . (identifier) @name)
  ])"""  # f(x), Base.f(x), F{T}(x)
_TYPE_HEAD = """(type_head [
  (identifier) @name
  (_ . (identifier) @name)
  (_ . (_ . (identifier) @name))
])"""  # T, T{S} or T <: A, T{S} <: A

LANGUAGE = Language(
    name="julia",
    extensions=(".jl",),
    interpreters=("julia",),
    grammar="tree_sitter_julia:language",
    definitions=f"""
(module_definition name: (identifier) @name) @module
(function_definition (signature [
  (identifier) @name
  {_CALL}
  (_ . {_CALL})
  (_ . (_ . {_CALL}))
]) . (_)? @body) @function
(assignment . {_CALL} (operator) . (_) @body) @function
(assignment . (_ . {_CALL}) (operator) . (_) @body) @function
(macro_definition (signature (call_expression . (identifier) @name)) . (_)? @body) @macro
(struct_definition {_TYPE_HEAD}) @struct
(abstract_definition {_TYPE_HEAD}) @interface
(primitive_definition {_TYPE_HEAD}) @type
(macrocall_expression (macro_identifier (identifier) @_enum) (macro_argument_list . (identifier) @name)
  (#eq? @_enum "enum")) @enum
(macrocall_expression
  (macro_identifier (identifier) @_testset)
  (macro_argument_list . (string_literal (content) @name))
  (#eq? @_testset "testset")) @block
(const_statement (assignment . [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
])) @constant
(source_file (assignment . (identifier) @name) @variable)
(module_definition (assignment . (identifier) @name) @variable)
(source_file (string_literal (content) @doc) @comment)
(module_definition (string_literal (content) @doc) @comment)
(line_comment) @comment
(block_comment) @comment
""",
    references="""
(using_statement [(identifier) (scoped_identifier)] @import)
(import_statement [(identifier) (scoped_identifier)] @import)
(selected_import . [(identifier) (scoped_identifier)] @import)
(call_expression . (identifier) @_include (argument_list . (string_literal (content) @import))
  (#eq? @_include "include"))
(call_expression . (identifier) @call)
(call_expression . (field_expression (identifier) @call .))
(broadcast_call_expression . (identifier) @call)
(macro_identifier (identifier) @call)
(type_head (_ (operator) . [(identifier) @inherit (_ . (identifier) @inherit)]))
""",
    wrappers=("macrocall_expression", "macro_argument_list"),
    lines=(
        ("module", r"(?:bare)?module\h+(?P<name>\w+)"),
        ("struct", r"(?:mutable\h+)?struct\h+(?P<name>\w+)"),
        ("type", r"(?:abstract|primitive)\h+type\h+(?P<name>\w+)"),
        ("macro", r"macro\h+(?P<name>\w+!?)"),
        ("function", r"(?:@\w+\h+)?function\h+(?:\w+\.)*(?P<name>\w+!?)"),
        ("function", r"(?:@inline\h+)?(?:\w+\.)*(?P<name>[A-Za-z_]\w*!?)\([^()\n]*\)(?:::\w+)?\h*=(?!=)"),
    ),
)
