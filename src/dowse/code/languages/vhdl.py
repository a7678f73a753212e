"""VHDL."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="vhdl",
    extensions=(".vhd", ".vhdl"),
    reader="definition_lines",
    lines=(
        ("interface", r"(?i:entity)\h+(?P<name>\w+)\h+(?i:is)"),
        ("module", r"(?i:architecture)\h+\w+\h+(?i:of)\h+(?P<name>\w+)"),
        ("module", r"(?i:package)\h+(?:(?i:body)\h+)?(?P<name>\w+)"),
        ("interface", r"(?i:component)\h+(?P<name>\w+)"),
        ("function", r"(?:(?i:pure|impure)\h+)?(?i:function|procedure)\h+(?P<name>\w+|\"[^\"\n]+\")"),
        ("block", r"(?P<name>\w+)\h*:\h*(?i:process|block)\b"),
    ),
)
