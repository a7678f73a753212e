"""Python."""

from dowse.code.languages.spec import Language

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
(class_definition body: (_ (expression_statement (assignment left: (identifier) @name)) @variable))
(type_alias_statement left: (_ (identifier) @name)) @type
(comment) @comment
""",
    references="""
(import_statement name: (dotted_name) @import)
(import_statement name: (_ name: (dotted_name) @import alias: (_) @namespace))
(import_from_statement module_name: (_) @import name: (_) @names)
(import_from_statement module_name: (_) @import (wildcard_import) @names)
(call function: [(identifier) (attribute)] @called)
(decorator [(identifier) @decorated (attribute) @decorated (_ function: [(identifier) (attribute)] @decorated)])
(class_definition superclasses: (_ [
  (identifier) @inherit
  (attribute) @inherit
  (subscript value: [(identifier) (attribute)] @inherit)
]))
(assignment left: [(identifier) (attribute)] @bind !type right: (_) @value)
(assignment left: [(identifier) (attribute)] @bind type: (_) @type)
(pattern_list [(identifier) (_ object: (identifier))] @bind)
(tuple_pattern (identifier) @bind)
(named_expression name: (_) @bind value: (_) @value)
(for_statement left: (identifier) @bind right: (_) @each)
(for_in_clause left: (identifier) @bind right: (_) @each)
(as_pattern (_) @value alias: (_ (identifier) @bind))
(parameters (identifier) @parameter)
(parameters (_ . (identifier) @parameter type: (_) @type))
(parameters (_ name: (identifier) @parameter type: (_) @type))
(parameters (_ name: (identifier) @parameter !type value: (_) @value))
(parameters (_ . (identifier) @parameter .))
(parameters (typed_parameter . (_ (identifier) @parameter)))
(lambda_parameters (identifier) @parameter)
(lambda_parameters (_ . (identifier) @parameter))
(return_statement (_) @return)
(function_definition name: (identifier) @return return_type: (_) @type)
(yield (_) @yield)
""",
    wrappers=("decorated_definition",),
    docstring="string",
)
