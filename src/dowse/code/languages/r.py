"""R."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="r",
    extensions=(".r",),
    filenames=(".Rprofile",),
    aliases=("rlang", "rscript"),
    interpreters=("Rscript",),
)
