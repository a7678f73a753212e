"""TOML."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="toml",
    extensions=(".toml",),
    filenames=("Pipfile",),
    grammar="tree_sitter_toml:language",
    definitions="""
(table . (_) @name) @block
(table_array_element . (_) @name) @block
(document (pair . (_) @name [(array) (inline_table)]) @block (#match? @block "\\n"))
(table (pair . (_) @name [(array) (inline_table)]) @block (#match? @block "\\n"))
(comment) @comment
""",
    links=(
        r"""^\[(?:package|lib)\][^\[]*?^name\s*=\s*["'](?P<target>[\w-]+)["']""",
    ),  # what Cargo calls a crate
    reader="dotted_keys",
)
