"""fish shell."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="fish",
    extensions=(".fish",),
    interpreters=("fish",),
    reader="definition_lines",
    lines=(("function", r"function\h+(?P<name>[^\s;]+)"),),
)
