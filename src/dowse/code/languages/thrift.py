"""Apache Thrift."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="thrift",
    extensions=(".thrift",),
    reader="definition_lines",
    lines=(
        ("struct", r"(?:struct|union|exception)\h+(?P<name>\w+)"),
        ("enum", r"enum\h+(?P<name>\w+)"),
        ("service", r"service\h+(?P<name>\w+)"),
        ("type", r"typedef\h+\S+\h+(?P<name>\w+)"),
    ),
    links=(r"""include\s+["'](?P<target>[^"'\n]+)""",),
)
