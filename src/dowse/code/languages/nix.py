"""Nix."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="nix",
    extensions=(".nix",),
    grammar="tree_sitter_nix:language",
    definitions="""
(let_expression (binding_set (binding attrpath: (_ (_) @name) expression: (function_expression) @body) @function))
(source_code (_ (binding_set (binding attrpath: (_ (_) @name) expression: (function_expression) @body) @function)))
(let_expression (binding_set (binding attrpath: (_ (_) @name)) @variable))
(source_code (_ (binding_set (binding attrpath: (_) @name) @block)))
(source_code (function_expression body: (_ (binding_set (binding attrpath: (_) @name) @block))))
(source_code (function_expression body: (_ body: (_ (binding_set (binding attrpath: (_) @name) @block)))))
(comment) @comment
""",
    references="""
(apply_expression function: [(variable_expression) (select_expression)] @called)
""",
    links=(r"(?<![\w/.<])(?P<target>\.{1,2}/[\w./+-]*[\w+-])",),
)
