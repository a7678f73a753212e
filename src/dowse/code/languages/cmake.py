"""CMake."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="cmake",
    extensions=(".cmake",),
    filenames=("CMakeLists.txt",),
    reader="definition_lines",
    lines=(
        ("module", r"(?i:project)\h*\(\h*(?P<name>[\w.+-]+)"),
        ("function", r"(?i:function)\h*\(\h*(?P<name>[\w.:-]+)", r"endfunction\b"),
        ("macro", r"(?i:macro)\h*\(\h*(?P<name>[\w.:-]+)", r"endmacro\b"),
        ("resource", r"(?i:add_(?:executable|library|custom_target))\h*\(\h*(?P<name>[\w.:${}+-]+)"),
        ("key", r"(?i:option)\h*\(\h*(?P<name>\w+)"),
        ("variable", r"(?i:set)\h*\(\h*(?P<name>\w+)"),
    ),
    links=(r"""(?im:^[ \t]*include\s*\(\s*["']?(?P<target>[^"')\s]+\.cmake))""",),
)
