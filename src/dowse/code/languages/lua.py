"""Lua."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="lua",
    extensions=(".lua", ".luau", ".rockspec"),
    filenames=(".luacheckrc", ".luacov", ".busted"),
    interpreters=("lua", "lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit", "texlua"),
    grammar="tree_sitter_lua:language",
    definitions="""
(function_declaration name: [(identifier) (dot_index_expression)] @name body: (block)? @body) @function
(function_declaration name: (method_index_expression) @name body: (block)? @body) @method
(chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition body: (block)? @body)))) @function)
(chunk (assignment_statement
  (variable_list . name: [(identifier) (dot_index_expression)] @name)
  (expression_list . value: (function_definition body: (block)? @body))) @function)
(chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: [(table_constructor) (string) (number)]))) @variable)
(chunk (assignment_statement
  (variable_list . name: [(identifier) (dot_index_expression)] @name)
  (expression_list . value: [(table_constructor) (string) (number)])) @variable)
(chunk (variable_declaration (assignment_statement (expression_list . value: (table_constructor
  (field name: (identifier) @name value: (function_definition body: (block)? @body)) @function)))))
(chunk (assignment_statement (expression_list . value: (table_constructor
  (field name: (identifier) @name value: (function_definition body: (block)? @body)) @function))))
(chunk (return_statement (expression_list . (table_constructor
  (field name: (identifier) @name value: (function_definition body: (block)? @body)) @function))))
(comment) @comment
""",
    references="""
(function_call
  name: (identifier) @_require
  arguments: (arguments . (string content: (string_content) @import))
  (#eq? @_require "require"))
(function_call name: (identifier) @call (#not-eq? @call "require"))
(function_call name: (dot_index_expression field: (identifier) @call))
(function_call name: (method_index_expression method: (identifier) @call))
""",
)
