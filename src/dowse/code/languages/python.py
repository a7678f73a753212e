"""Python."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="python",
    extensions=(".py", ".pyi", ".pyw", ".pyx", ".pxd"),
    filenames=("SConstruct", "SConscript", "wscript"),
    aliases=("py", "python3"),
    interpreters=("python", "python2", "python3", "pypy", "pypy3"),
    grammar="tree_sitter_python:language",
    definitions="""
(class_definition name: (identifier) @name body: (block) @body) @class
(function_definition name: (identifier) @name body: (block) @body) @function
(module (expression_statement (assignment left: (identifier) @name)) @variable)
(class_definition body: (block (expression_statement (assignment left: (identifier) @name)) @variable))
(type_alias_statement left: (type (identifier) @name)) @type
(comment) @comment
""",
    references="""
(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)
(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call))
(decorator (identifier) @call)
(decorator (attribute attribute: (identifier) @call))
(class_definition superclasses: (argument_list [(identifier) (attribute)] @inherit))
""",
    wrappers=("decorated_definition",),
    docstring="string",
)
