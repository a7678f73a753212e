"""Haskell."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="haskell",
    extensions=(".hs", ".lhs", ".hsc", ".hs-boot"),
    interpreters=("runghc", "runhaskell", "stack"),
    grammar="tree_sitter_haskell:language",
    definitions="""
; what has a name and a match is a function or a binding; naming what fields say is slow to compile
(declarations (signature name: [(variable) @name (_ (_) @name)]) @function)
(declarations (_ name: (_) @name match: (_) @body) @function)
(declarations (function (_ operator: (_) @name) match: (_) @body) @function)
(class_declarations (signature name: [(variable) @name (_ (_) @name)]) @method)
(class_declarations (function name: (_) @name match: (_) @body) @method)
(instance_declarations (_ name: (_) @name match: (_) @body) @method)
(instance_declarations (function (_ operator: (_) @name) match: (_) @body) @method)
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
(apply function: [(variable) @call (_ id: (variable) @call)])
(instance name: (_) @inherit)
""",
)
