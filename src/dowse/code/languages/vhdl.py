"""VHDL."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="vhdl",
    extensions=(".vhd", ".vhdl"),
)
