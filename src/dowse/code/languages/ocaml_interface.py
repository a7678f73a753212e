"""OCaml interfaces."""

from dowse.code.languages import ocaml
from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="ocaml-interface",
    extensions=(".mli", ".eliomi"),
    aliases=("ocaml_interface",),
    grammar="tree_sitter_ocaml:language_ocaml_interface",
    definitions=ocaml.DEFINITIONS,
    references="""
(open_module_signature module: (_) @import)
(include_module_type (_) @import)
""",
    lines=(
        ("module", r"module\h+(?:type\h+)?(?P<name>[A-Z]\w*)"),
        ("type", r"(?:type|and)\h+(?:'\w+\h+|\([^()\n]*\)\h*)?(?P<name>[a-z_]\w*)"),
        ("type", r"exception\h+(?P<name>[A-Z]\w*)"),
        ("function", r"(?:val|external)\h+(?P<name>[a-z_]\w*)"),
    ),
)
