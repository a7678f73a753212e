"""Starlark, the dialect of Python that Bazel, Buck and Tilt read."""

from dowse.code.languages import python
from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="starlark",
    extensions=(".bzl", ".bazel", ".star", ".sky"),
    filenames=("BUILD", "BUCK", "WORKSPACE", "Tiltfile"),
    grammar=python.LANGUAGE.grammar,
    definitions=python.LANGUAGE.definitions,
    references=python.LANGUAGE.references,
    docstring=python.LANGUAGE.docstring,
)
