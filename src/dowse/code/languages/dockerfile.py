"""Dockerfiles."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="dockerfile",
    extensions=(".dockerfile", ".containerfile"),
    filenames=("Dockerfile", "Dockerfile.*", "Dockerfile-*", "Containerfile", "Containerfile.*"),
    aliases=("docker",),
    grammar="tree_sitter_dockerfile:language",
    links=(r"^(?P<detail>COPY|ADD)\s+(?:--\S+\s+)*(?P<target>[\w./@-]+)\s",),
    definitions="""
(from_instruction as: (image_alias) @name) @block
(from_instruction (image_spec) @name !as) @block
(comment) @comment
""",
    references="""
(from_instruction (image_spec name: (image_name) @import))
""",
    reader="dockerfile_stages",
)
