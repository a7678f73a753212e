"""D."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="d",
    extensions=(".d", ".di"),
    aliases=("dlang",),
)
