"""Vim script."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="vim",
    extensions=(".vim", ".vimrc"),
    filenames=(".vimrc", ".gvimrc", "vimrc", "_vimrc"),
    aliases=("viml", "vimscript"),
    reader="definition_lines",
    lines=(
        ("function", r"(?:function|func|fu|fun)!?\h+(?P<name>[\w:#.<>]+)\h*\(", r"endf\w*"),
        ("function", r"(?:export\h+)?def!?\h+(?P<name>[\w:#.]+)\h*\(", r"enddef\b"),
        ("macro", r"com(?:mand|m)?!?\h+(?:-\S+\h+)*(?P<name>[A-Z]\w*)"),
    ),
)
