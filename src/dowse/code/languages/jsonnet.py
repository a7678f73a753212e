"""Jsonnet."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="jsonnet",
    extensions=(".jsonnet", ".libsonnet"),
    reader="definition_lines",
    lines=(
        ("function", r"local\h+(?P<name>\w+)\h*\([^()\n]*\)\h*="),
        ("function", r"(?:local\h+)?(?P<name>\w+)\h*=\h*function\b"),
        ("method", r"(?P<name>\w+)\h*\([^()\n]*\)\h*\+?:{1,3}"),
        ("variable", r"local\h+(?P<name>\w+)\h*="),
        ("key", r"(?P<name>\w+)\h*\+?:{2,3}"),
    ),
    links=(r"""import(?:str)?\s*["'](?P<target>[^"'\n]+)""",),
)
