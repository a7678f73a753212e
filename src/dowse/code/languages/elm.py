"""Elm."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="elm",
    extensions=(".elm",),
    reader="definition_lines",
    lines=(
        ("module", r"(?:port\h+|effect\h+)?module\h+(?P<name>[\w.]+)"),
        ("type", r"type\h+(?:alias\h+)?(?P<name>[A-Z]\w*)"),
        (
            "function",
            r"(?<![^\n])(?:port\h+)?(?P<name>[a-z]\w*)(?:\h+:\s|(?:\h+[\w(){}_,.]+)*\h*=\h*$)",
        ),
    ),
)
