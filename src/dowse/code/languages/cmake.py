"""CMake."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="cmake",
    extensions=(".cmake",),
    filenames=("CMakeLists.txt",),
)
