"""Vim script."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="vim",
    extensions=(".vim", ".vimrc"),
    filenames=(".vimrc", ".gvimrc", "vimrc", "_vimrc"),
    aliases=("viml", "vimscript"),
)
