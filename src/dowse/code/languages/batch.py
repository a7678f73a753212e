"""Windows batch files."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="batch",
    extensions=(".bat", ".cmd"),
    aliases=("dos",),
    reader="definition_lines",
    lines=(("function", r":(?P<name>[A-Za-z_][\w.-]*)\h*$", r"(?:exit|goto)\b"),),
)
