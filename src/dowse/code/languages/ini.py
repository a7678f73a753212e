"""INI files and their many relatives: sections, keys and values."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="ini",
    extensions=(".ini", ".cfg", ".conf", ".cnf", ".properties", ".desktop", ".service", ".timer", ".socket"),
    filenames=(
        ".editorconfig",
        ".env",
        ".env.*",
        "*.env",
        ".flake8",
        ".gitconfig",
        ".gitmodules",
        ".npmrc",
        ".pylintrc",
        ".coveragerc",
    ),
    aliases=("dosini", "systemd"),
    reader="dotted_keys",
)
