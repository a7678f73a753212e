"""YAML."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="yaml",
    extensions=(".yaml", ".yml"),
    filenames=(".clang-format", ".clang-tidy", ".clangd", ".gemrc", "CITATION.cff"),
    # a word is tried from its beginning only, which takes a quarter of the time
    links=(
        r"(?<![\w-])(?P<detail>[\w-]+)\s*:\s*[\"']?(?P<target>\.{0,2}/?[\w@.-]+(?:/[\w@.*-]+)*/?)[\"']?\s*(?:#.*)?$",
        r"^[ \t]*+-[ \t]++[\"']?(?P<target>\.{0,2}/?[\w@.-]+(?:/[\w@.-]+)*)(?::[\w./-]+)*[\"']?\s*$",
        # a path is tried from each of its folders on: as many of them as paths have
        r"(?P<target>(?:\.{0,2}/|(?<![\w-]))[\w-]++(?:/[\w.-]++){0,20}/[\w-]+\.\w+)",
    ),  # values that may be paths; which are, the tree decides
    grammar="tree_sitter_yaml:language",
    # the scanner writes 253 open blocks into 1,024 bytes and the next one beyond them; at one column there may be a
    # mapping, a list in it, and after an error one more
    deepest=80,
    marks="-?:",
    definitions="""
(document (block_node (block_mapping (block_mapping_pair key: (_) @name value: (block_node)) @block)))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping
  (block_mapping_pair key: (_) @name value: (block_node)) @block))))))
(comment) @comment
""",
)
