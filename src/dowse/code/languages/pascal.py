"""Pascal and Delphi, by lines: the licence of its grammar does not allow us to depend on it."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="pascal",
    extensions=(".pas", ".dpr", ".dpk", ".lpr"),
    aliases=("delphi", "object-pascal"),
    reader="definition_lines",
    lines=(
        ("module", r"(?i:unit|program|library|package)\h+(?P<name>\w[\w.]*)\h*;", r"end *\."),
        ("class", r"(?P<name>\w+)\h*=\h*(?i:packed\h+)?(?i:class|object)\b(?!\h*;|\h+(?i:of)\b)", r"end *;"),
        ("interface", r"(?P<name>\w+)\h*=\h*(?i:interface|dispinterface)\b(?!\h*;)", r"end *;"),
        ("struct", r"(?P<name>\w+)\h*=\h*(?i:packed\h+)?(?i:record)\b", r"end *;"),
        (
            "function",
            r"(?:(?i:class)\h+)?(?i:procedure|function|constructor|destructor|operator)\h+(?P<name>\w[\w.]*)",
        ),
    ),
)
