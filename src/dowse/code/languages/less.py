"""Less."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="less",
    extensions=(".less",),
)
