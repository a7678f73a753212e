"""C.

Declarators nest (``*a[]``, ``**f()``), and naming every node type on the way makes the query a hundred times
slower to compile. The patterns therefore go by fields: what has a declarator and parameters is a function.
"""

from dowse.code.languages.spec import Language

OUTSIDE = (
    "translation_unit",
    "declaration_list",
    "preproc_ifdef",
    "preproc_if",
    "preproc_elif",
    "preproc_else",
)
"""Where a declaration is not a local one (variables of an ``#if`` inside a function are skipped later)."""


FUNCTION = "function_declarator"
"""What has a declarator and parameters; named only where it pays for the time it takes to compile."""


def functions(names: str, named: str = "_") -> str:
    """Write the query for the declarator of a function, with up to two pointers or references before it.

    The step that all forms share comes before the alternation: until a declarator is reached, each form that waits
    is a state that is compared with all the others at every node. What begins with names comes last: of a branch
    that begins with an alternation, tree-sitter forgets all but the first unless it is the last branch. Where there
    are most functions, ``named`` says what they are: no list of parameters is then taken for one.
    """
    parts = f"declarator: [{names}] parameters: (_)"
    return f"(_ [({named} {parts}) declarator: (_ (_ {parts})) ([declarator: [{names}]] parameters: (_))])"


def variables(names: str) -> str:
    """Write the query for the declarator of a variable or a pointer to a function, initialized or not."""
    pointer = f"(_ declarator: (_ (_ declarator: [{names}])) parameters: (_))"
    return f"""[
  {names}
  (_ !parameters declarator: [
    {names}
    (_ !parameters declarator: [{names} (_ declarator: [{names}])])
    {pointer}
  ])
  {pointer}
]"""


def declarations(parents: tuple[str, ...], function: str, variable: str) -> str:
    """Functions and variables that are declared directly inside one of these nodes.

    No declaration has a field of those skipped: what has one, be it a template or an ``#if``, is not worth waiting
    in for a declarator. Functions in an error too: headers whose macros stand for code are full of errors.
    """
    declaration = "(_ !body !name !parameters !condition declarator:"
    function = functions(function)
    patterns = [f"({parent} {declaration} {function}) @function)" for parent in parents]
    patterns.append(f"(ERROR (_ !body !name !condition declarator: {function}) @function)")
    return "\n".join(patterns + [f"({p} {declaration} {variables(variable)}) @variable)" for p in parents])


TYPES = f"""
(enumerator name: (_) @name) @constant
(type_definition type: (_ "struct" !name body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (_ "union" !name body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (_ "enum" !name body: (_) @body) declarator: (type_identifier) @name) @enum
(type_definition type: (_ body: (_) @body) declarator: (type_identifier) @name) @type
(type_definition declarator: {variables("(type_identifier) @name")}) @type
"""
"""What C++ and Objective-C have too."""

MACROS = """
(preproc_def name: (_) @name value: (_)) @macro
(preproc_function_def name: (_) @name) @macro
(comment) @comment
"""
"""What C++ and Objective-C have too."""

DEFINITIONS = f"""
(struct_specifier name: (_) @name body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @struct
(enum_specifier name: (_) @name body: (_) @body) @enum
(function_definition declarator: {functions("(identifier) @name", FUNCTION)} body: (_) @body) @function
(field_declaration declarator: {functions("(field_identifier) @name")}) @function
(field_declaration declarator: {variables("(field_identifier) @name")}) @variable
{TYPES}
{MACROS}
{declarations(OUTSIDE, "(identifier) @name", "(identifier) @name")}
"""
"""What Objective-C has too."""

REFERENCES = """
(preproc_include path: [(string_literal) (system_lib_string)] @import)
(call_expression function: (identifier) @call)
(call_expression function: (_ argument: (_) @through field: (_) @call))
(init_declarator declarator: (identifier) @bind)
(parameter_declaration declarator: (identifier) @parameter)
(parameter_declaration declarator: (_ declarator: (identifier) @parameter))
"""
"""What C++ and Objective-C have too."""

WRAPPERS = ("type_definition", "declaration", "field_declaration")

LANGUAGE = Language(
    name="c",
    extensions=(".c", ".h"),
    interpreters=("tcc",),
    grammar="tree_sitter_c:language",
    definitions=DEFINITIONS,
    references=REFERENCES,
    wrappers=WRAPPERS,
    prototypes=True,
)
