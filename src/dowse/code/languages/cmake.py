"""CMake."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="cmake",
    extensions=(".cmake",),
    filenames=("CMakeLists.txt",),
)
