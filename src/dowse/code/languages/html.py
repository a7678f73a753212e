"""HTML."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="html",
    extensions=(".html", ".htm", ".xhtml"),
    grammar="tree_sitter_html:language",
    references="""
(script_element (start_tag (attribute
  (attribute_name) @_src
  (quoted_attribute_value (attribute_value) @import)) (#eq? @_src "src")))
""",
)
