"""D."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="d",
    extensions=(".d", ".di"),
    aliases=("dlang",),
    reader="definition_lines",
    lines=(
        ("module", r"module\h+(?P<name>[\w.]+)"),
        ("class", r"(?:\w+\h+)*class\h+(?P<name>\w+)"),
        ("interface", r"(?:\w+\h+)*interface\h+(?P<name>\w+)"),
        ("struct", r"(?:\w+\h+)*(?:struct|union)\h+(?P<name>\w+)"),
        ("enum", r"(?:\w+\h+)?enum\h+(?P<name>\w+)"),
        ("macro", r"(?:mixin\h+)?template\h+(?P<name>\w+)"),
        (
            "function",
            r"(?!(?:return|else|case|throw|goto|delete|new|typedef|using"
            r"|import)\b)(?:[\w@][\w!\[\].*]*(?:\([^()\n]*\))?\h+){1,6}(?P<name>\w+)\h*\([^;\n]*$",
        ),
    ),
)
