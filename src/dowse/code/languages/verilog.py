"""Verilog and SystemVerilog."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="verilog",
    extensions=(".v", ".vh", ".sv", ".svh"),
    aliases=("systemverilog",),
    reader="definition_lines",
    lines=(
        ("module", r"module\h+(?:automatic\h+)?(?P<name>\w+)", r"endmodule\b"),
        ("interface", r"interface\h+(?P<name>\w+)", r"endinterface\b"),
        ("module", r"(?:package|program)\h+(?P<name>\w+)", r"end(?:package|program)\b"),
        ("class", r"(?:virtual\h+)?class\h+(?P<name>\w+)", r"endclass\b"),
        (
            "function",
            r"(?:(?:extern|virtual|static|protected|local"
            r"|pure)\h+)*function\h+(?:\w+\h+)*(?:\[[^\]\n]*\]\h*)?(?P<name>[\w:]+)\h*[(;]",
            r"endfunction\b",
        ),
        (
            "function",
            r"(?:(?:extern|virtual|static|protected|local)\h+)*task\h+(?:automatic\h+)?(?P<name>[\w:]+)",
            r"endtask\b",
        ),
        ("macro", r"`define\h+(?P<name>\w+)"),
    ),
)
