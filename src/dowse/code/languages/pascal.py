"""Pascal and Delphi."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="pascal",
    extensions=(".pas", ".dpr", ".dpk", ".lpr"),
    aliases=("delphi", "object-pascal"),
    grammar="tree_sitter_pascal:language",
    definitions="""
(unit (moduleName) @name) @module
(program (moduleName) @name) @module
(declType name: (_) @name type: (declClass) @body) @class
(declType name: (_) @name type: (declIntf) @body) @interface
(declType name: (_) @name) @type
(defProc header: (declProc name: (_) @name) body: (_) @body) @function
(declClass (declSection (declProc name: (_) @name) @method))
(interface (declProc name: (_) @name) @function)
(declConst name: (_) @name) @constant
(comment) @comment
""",
    references="""
(declUses (moduleName) @import)
(exprCall entity: [(identifier) (exprDot)] @called)
(declClass parent: (typeref (identifier) @inherit))
""",
)
