"""Less."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="less",
    extensions=(".less",),
)
