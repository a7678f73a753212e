"""TypeScript with JSX: a grammar of its own, because ``<T>x`` means something else there."""

from dowse.code.languages import javascript, typescript
from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="tsx",
    extensions=(".tsx",),
    grammar="tree_sitter_typescript:language_tsx",
    definitions=typescript.DEFINITIONS,
    references=typescript.REFERENCES + javascript.JSX_REFERENCES,
    wrappers=typescript.WRAPPERS,
)
