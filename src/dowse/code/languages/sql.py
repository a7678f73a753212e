"""SQL."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="sql",
    extensions=(".sql", ".ddl", ".dml", ".psql", ".pgsql", ".mysql"),
    aliases=("postgresql", "postgres", "sqlite"),
    grammar="tree_sitter_sql:language",
    definitions="""
(create_table [(keyword_table) (keyword_exists)] . (object_reference) @name) @struct
(create_view [(keyword_view) (keyword_exists)] . (object_reference) @name) @struct
(create_materialized_view [(keyword_view) (keyword_exists)] . (object_reference) @name) @struct
(create_type (keyword_type) . (object_reference) @name) @type
(create_function (keyword_function) . (object_reference) @name (function_body) @body) @function
(create_trigger (keyword_trigger) . (object_reference) @name) @function
(create_index column: (identifier) @name) @block
(create_sequence (object_reference) @name) @variable
(create_schema (identifier) @name) @module
(comment) @comment
(marginalia) @comment
""",
    references="""
(invocation (object_reference) @call)
(relation (object_reference) @call)
(column_definition (keyword_references) . (object_reference) @call)
(alter_table (object_reference) @call)
(insert (object_reference) @call)
""",
)
