"""Erlang."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="erlang",
    extensions=(".erl", ".hrl", ".escript", ".xrl", ".yrl"),
    filenames=("rebar.config", "*.app.src"),
    interpreters=("escript",),
    reader="definition_lines",
    lines=(
        ("module", r"-module\(\h*(?P<name>\w+)"),
        ("struct", r"-record\(\h*(?P<name>\w+|'[^'\n]+')"),
        ("type", r"-(?:type|opaque)\h+(?P<name>\w+)"),
        ("macro", r"-define\(\h*(?P<name>\w+)"),
        ("method", r"-callback\h+(?P<name>\w+)"),
        ("function", r"(?<![^\n])(?P<name>[a-z]\w*|'[^'\n]+')\((?:[^\n]*(?:->|when\b|,$|\($|\)$))"),
    ),
)
