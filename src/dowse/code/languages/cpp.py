"""C++."""

from dowse.code.languages import c
from dowse.code.languages.spec import Language

_OUTSIDE = (*c.OUTSIDE, "linkage_specification", "template_declaration", "field_declaration_list")

_FUNCTION_NAMES = """
(identifier) @name
(field_identifier) @name
(operator_name) @name
(destructor_name) @name
(_ !scope name: (_) @name)
(_ scope: [(namespace_identifier) @owner (_ name: (_) @owner)] name: [
  (identifier) @name
  (operator_name) @name
  (destructor_name) @name
  (_ scope: (_)) @name
  (_ !scope name: (_) @name)
])
"""
_TYPE_NAME = "[(type_identifier) @name (qualified_identifier) @name (_ !scope name: (_) @name)]"
_VARIABLE_NAMES = "(identifier) @name (field_identifier) @name (qualified_identifier) @name"
_MACROS = r"((?:[A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?\s+)+)"
_NAMED = r"(?=[A-Za-z_][\w:]*(?:<[^<>{};]*>)?\s*(?:final\b\s*)?(?::(?!:)|\{))"
_CLASS = r"^[ \t]*+class\s+\w[\w:]*\s*(?:final\s*)?[:{]"

LANGUAGE = Language(
    name="cpp",
    claims=(
        (".h", r"^[ \t]*+(?:namespace\b|template\s*<|(?:public|private|protected)\s*:)|\bstd::|" + _CLASS),
    ),
    extensions=(
        *(".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl", ".tpp", ".txx"),
        *(".ixx", ".cppm", ".cu", ".cuh", ".ino"),
    ),
    aliases=("c++", "cplusplus"),
    grammar="tree_sitter_cpp:language",
    definitions=f"""
(namespace_definition name: (_) @name body: (_) @body) @module
(class_specifier name: {_TYPE_NAME} body: (_) @body) @class
(struct_specifier name: {_TYPE_NAME} body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @struct
(enum_specifier name: (_) @name body: (_) @body) @enum
(concept_definition name: (_) @name) @type
(alias_declaration name: (_) @name) @type
(function_definition declarator: {c.functions(_FUNCTION_NAMES, c.FUNCTION)} body: (_)? @body) @function
(function_definition declarator: (_ type: (_) @name) body: (_)? @body) @method
(field_declaration declarator: {c.functions(_FUNCTION_NAMES)}) @method
(field_declaration declarator: {c.variables(_VARIABLE_NAMES)}) @variable
(field_declaration declarator: (_ (field_identifier) @name)) @variable
{c.TYPES}
{c.MACROS}
{c.declarations(_OUTSIDE, _FUNCTION_NAMES, _VARIABLE_NAMES)}
""",
    references=c.REFERENCES
    + """
(using_declaration [(identifier) (qualified_identifier)] @import)
(call_expression function: (qualified_identifier name: [(identifier) (qualified_identifier)]) @call)
(call_expression function: (_ scope: (_) @call name: (_ !scope name: (_) @call)))
(call_expression function: (_ !scope name: (_) @call))
(call_expression function: (_ field: (_ name: (_) @call)))
(new_expression type: [(type_identifier) (qualified_identifier)] @call)
(new_expression type: (_ !scope name: (_) @call))
(base_class_clause (type_identifier) @inherit)
(base_class_clause (qualified_identifier name: [(type_identifier) (qualified_identifier)]) @inherit)
(base_class_clause (_ scope: (_) @inherit name: (_ !scope name: (_) @inherit)))
(base_class_clause (_ !scope name: (_) @inherit))
""",
    wrappers=(*c.WRAPPERS, "template_declaration"),
    prototypes=True,
    blanks=tuple(rf"{word}\s+{_MACROS}{_NAMED}" for word in ("class", "struct", "union", "enum")),
)
