"""Markdown."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="markdown",
    extensions=(".md", ".markdown", ".mdx", ".mdown", ".mkd", ".mdwn", ".qmd", ".rmd"),
    grammar="tree_sitter_markdown:language",
    definitions="""
(section . (atx_heading heading_content: (inline) @name)) @section
(setext_heading heading_content: (paragraph (inline) @name)) @section
""",
    links=(
        r"\]\(<?(?P<target>(?![a-z]+:|#|/)[^)\s>#?]+)",
        r"^\[[^\]\n]++\]:\s*<?(?P<target>(?![a-z]+:|#|/)[^\s>#?]+)",
    ),
    prose=True,
)
