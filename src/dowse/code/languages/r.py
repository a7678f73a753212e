"""R."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="r",
    extensions=(".r",),
    filenames=(".Rprofile",),
    aliases=("rlang", "rscript"),
    interpreters=("Rscript",),
    reader="definition_lines",
    lines=(
        ("class", r"(?P<name>[\w.]+)\h*(?:<-|=)\h*(?:R6::)?(?:R6Class|setRefClass|setClass)\("),
        ("class", r"(?:setClass|setRefClass)\(\h*[\"'](?P<name>[\w.]+)"),
        ("method", r"(?:setMethod|setGeneric)\(\h*[\"'](?P<name>[\w.\[$<-]+)"),
        ("function", r"(?P<name>[\w.]+|`[^`\n]+`)\h*(?:<<?-|=)\h*function\b"),
    ),
    links=(r"""\bsource\(\s*["'](?P<target>[^"'\n]+)""",),
)
