"""Go modules (``go.mod``): the module path."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="go-module",
    filenames=("go.mod",),
    aliases=("gomod",),
    links=(r"^(?P<detail>module)\s+(?P<target>\S+)",),
    reader="manifests",
)
