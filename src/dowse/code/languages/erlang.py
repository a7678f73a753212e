"""Erlang."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="erlang",
    extensions=(".erl", ".hrl", ".escript", ".xrl", ".yrl"),
    filenames=("rebar.config", "*.app.src"),
    interpreters=("escript",),
)
