"""Haskell."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="haskell",
    extensions=(".hs", ".lhs", ".hsc", ".hs-boot"),
    interpreters=("runghc", "runhaskell", "stack"),
    grammar="tree_sitter_haskell:language",
    definitions="""
(declarations (signature name: [(variable) @name (prefix_id (_) @name)]) @function)
(declarations (function name: (_) @name match: (_) @body) @function)
(declarations (function (infix operator: (_) @name) match: (_) @body) @function)
(declarations (bind name: (_) @name match: (_) @body) @function)
(class_declarations (signature name: [(variable) @name (prefix_id (_) @name)]) @method)
(class_declarations (function name: (_) @name match: (_) @body) @method)
(instance_declarations (function name: (_) @name match: (_) @body) @method)
(instance_declarations (function (infix operator: (_) @name) match: (_) @body) @method)
(instance_declarations (bind name: (_) @name match: (_) @body) @method)
(foreign_import signature: (signature name: (_) @name)) @function
(data_type name: (_) @name) @type
(newtype name: (_) @name) @type
(type_synonym name: (_) @name) @type
(type_family name: (_) @name) @type
(data_family name: (_) @name) @type
(class name: (_) @name) @interface
(instance name: (_) @name patterns: (_) @owner declarations: (_)? @body) @impl
(declarations (signature names: (_)) @attribute)
(comment) @comment
(haddock) @comment
""",
    clauses=True,
    references="""
(import module: (module) @import)
(apply function: (variable) @call)
(apply function: (qualified id: (variable) @call))
(instance name: (_) @inherit)
""",
)
