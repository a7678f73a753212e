"""fish shell."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="fish",
    extensions=(".fish",),
    interpreters=("fish",),
)
