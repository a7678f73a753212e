"""Crystal."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="crystal",
    extensions=(".cr",),
    interpreters=("crystal",),
    reader="definition_lines",
    lines=(
        ("module", r"(?:module|lib)\h+(?P<name>[\w:]+)"),
        ("class", r"(?:abstract\h+)?class\h+(?P<name>[\w:]+)"),
        ("struct", r"(?:abstract\h+)?struct\h+(?P<name>[\w:]+)"),
        ("enum", r"enum\h+(?P<name>[\w:]+)"),
        ("macro", r"macro\h+(?P<name>\w+)"),
        (
            "function",
            r"(?:private\h+|protected\h+)?(?:abstract\h+)?def\h+(?:self\.)?(?P<name>[\w?!=]+|[^\s\w(]+)",
        ),
    ),
)
