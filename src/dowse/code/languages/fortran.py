"""Fortran."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="fortran",
    extensions=(".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08"),
    grammar="tree_sitter_fortran:language",
    definitions="""
(module (module_statement (name) @name)) @module
(submodule (submodule_statement (name) @name)) @module
(program (program_statement (name) @name)) @module
(derived_type_definition (derived_type_statement (type_name) @name)) @struct
(interface (interface_statement (name) @name)) @interface
(function (function_statement name: (name) @name)) @function
(subroutine (subroutine_statement name: (name) @name)) @function
(module_procedure (module_procedure_statement name: (name) @name)) @function
(comment) @comment
""",
    references="""
(use_statement (module_name) @import)
(subroutine_call subroutine: [(identifier) (derived_type_member_expression)] @called)
(call_expression . (identifier) @call)
""",
    lines=(
        ("module", r"(?i:program)\h+(?P<name>\w+)"),
        (
            "module",
            r"(?i:(?:sub)?module)\h+(?!(?i:procedure|subroutine|function)\b)(?P<name>\w+)",
            r"end *(?:sub)?module",
        ),
        ("struct", r"(?i:type)(?:\h*,[^:\n]*)?\h*(?:::)?\h+(?P<name>\w+)\h*$", r"end *type"),
        (
            "function",
            r"(?:(?i:recursive|pure|elemental|impure|module)\h+)*(?i:subroutine)\h+(?P<name>\w+)",
            r"end *subroutine",
        ),
        (
            "function",
            r"(?!(?i:end)\b)(?:[\w*()=]+\h+){0,4}(?i:function)\h+(?P<name>\w+)\h*\(",
            r"end *function",
        ),
    ),
)
