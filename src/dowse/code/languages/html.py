"""HTML, and the single-file components of Vue, whose outer syntax it is."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="html",
    extensions=(".html", ".htm", ".xhtml", ".vue"),
    grammar="tree_sitter_html:language",
    references="""
(script_element (start_tag (attribute
  (attribute_name) @_src
  (quoted_attribute_value (attribute_value) @import)) (#eq? @_src "src")))
""",
)
