"""Crystal."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="crystal",
    extensions=(".cr",),
    interpreters=("crystal",),
)
