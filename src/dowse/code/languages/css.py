"""CSS."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="css",
    extensions=(".css", ".pcss", ".postcss"),
    grammar="tree_sitter_css:language",
    definitions="""
(rule_set (selectors) @name (block) @body) @block
(media_statement . (_) @name (block) @body) @block
(supports_statement . (_) @name (block) @body) @block
(keyframes_statement (keyframes_name) @name (keyframe_block_list) @body) @block
(at_rule (at_keyword) . (_) @name . (block) @body) @block
(comment) @comment
""",
    references="""
(import_statement [(string_value (string_content) @import)
  (call_expression (arguments [(string_value (string_content) @import) (plain_value) @import]))])
""",
)
