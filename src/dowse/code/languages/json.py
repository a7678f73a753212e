"""JSON and its dialects with comments."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="json",
    extensions=(
        ".json",
        ".jsonc",
        ".json5",
        ".jsonl",
        ".ndjson",
        ".geojson",
        ".webmanifest",
        ".code-workspace",
    ),
    filenames=(
        ".all-contributorsrc",
        ".babelrc",
        ".devcontainer.json",
        ".eslintrc",
        ".jscsrc",
        ".jshintrc",
        ".prettierrc",
        ".stylelintrc",
        ".swcrc",
        ".watchmanconfig",
        "Pipfile.lock",
        "composer.lock",
    ),
    links=(
        r'\A[^\0]{0,2000}?"(?P<detail>name)"\s*:\s*"(?P<target>[^"]+)"',
        r'"(?P<detail>baseUrl|extends|main)"\s*:\s*"(?P<target>[^"]+)"',
        r'"(?P<detail>[^"]*(?:/\*|[@#~][\w/-]*))"\s*:\s*\[\s*"(?P<target>[^"]+)"',
    ),  # what packages are called, and how TypeScript's paths are mapped
    grammar="tree_sitter_json:language",
    definitions="""
(document (object (pair key: (string (string_content) @name) value: [(object . (_)) (array . (_))]) @block
  (#match? @block "\\n")))
(comment) @comment
""",
)
