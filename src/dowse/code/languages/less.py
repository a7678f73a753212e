"""Less."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="less",
    extensions=(".less",),
    reader="definition_lines",
    lines=(
        ("variable", r"@(?P<name>[\w-]+)\h*:"),
        ("function", r"[.#](?P<name>[\w-]+)\h*\([^)\n]*\)\h*(?:when[^{\n]*)?\{"),
    ),
)
