"""VHDL."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="vhdl",
    extensions=(".vhd", ".vhdl"),
)
