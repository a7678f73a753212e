"""Verilog and SystemVerilog."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="verilog",
    extensions=(".v", ".vh", ".sv", ".svh"),
    aliases=("systemverilog",),
)
