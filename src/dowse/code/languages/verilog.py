"""Verilog and SystemVerilog."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="verilog",
    extensions=(".v", ".vh", ".sv", ".svh"),
    aliases=("systemverilog",),
)
