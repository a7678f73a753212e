"""Shaders: GLSL, HLSL, WGSL and Metal."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="shader",
    extensions=(".glsl", ".vert", ".frag", ".comp", ".geom", ".hlsl", ".wgsl", ".metal", ".shader"),
    reader="definition_lines",
    lines=(
        ("struct", r"(?:struct|cbuffer)\h+(?P<name>\w+)"),
        ("function", r"(?:@\w+(?:\([^)\n]*\))?\h*)*fn\h+(?P<name>\w+)"),
        (
            "function",
            r"(?!(?:return|else|case|throw|goto|delete|new|typedef|using"
            r"|import)\b)(?:[\w<>]+\h+){1,4}(?P<name>\w+)\h*\([^;\n]*$",
        ),
    ),
)
