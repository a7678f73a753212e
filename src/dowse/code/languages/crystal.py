"""Crystal."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="crystal",
    extensions=(".cr",),
    interpreters=("crystal",),
)
