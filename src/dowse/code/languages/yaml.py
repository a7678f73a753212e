"""YAML."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="yaml",
    extensions=(".yaml", ".yml"),
    filenames=(".clang-format", ".clang-tidy", ".clangd", ".gemrc", "CITATION.cff"),
    # a word is tried from its beginning only, which takes a quarter of the time
    links=(
        r"(?<![\w-])(?P<detail>[\w-]+)\s*:\s*[\"']?(?P<target>\.{0,2}/?[\w@.-]+(?:/[\w@.*-]+)*/?)[\"']?\s*(?:#.*)?$",
        r"^\s*-\s+[\"']?(?P<target>\.{0,2}/?[\w@.-]+(?:/[\w@.-]+)*)(?::[\w./-]+)*[\"']?\s*$",
        r"(?P<target>(?:\.{0,2}/|(?<![\w-])|(?<=\w)(?=-))[\w-]+(?:/[\w.-]+)*/[\w-]+\.\w+)",
    ),  # values that may be paths; which are, the tree decides
    grammar="tree_sitter_yaml:language",
    definitions="""
(document (block_node (block_mapping (block_mapping_pair key: (_) @name value: (block_node)) @block)))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping
  (block_mapping_pair key: (_) @name value: (block_node)) @block))))))
(comment) @comment
""",
)
