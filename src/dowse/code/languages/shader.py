"""Shaders: GLSL, HLSL, WGSL and Metal."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="shader",
    extensions=(".glsl", ".vert", ".frag", ".comp", ".geom", ".hlsl", ".wgsl", ".metal", ".shader"),
)
