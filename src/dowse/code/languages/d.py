"""D."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="d",
    extensions=(".d", ".di"),
    aliases=("dlang",),
)
