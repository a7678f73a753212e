"""Files in formats that are more than their language: entities in order, every line in a chunk, links to be packed."""

from dowse.code import languages
from dowse.code.formats.notebook_cells import extract_cells
from dowse.code.references import unpack
from dowse.indexing.analyze_file import ParserConfig, analyze
from fuzz.inputs import choose

PATHS = (
    "a.ipynb", "A.vue", "A.astro", "a.yaml", "kustomization.yaml", "chart/templates/a.yaml", "chart/values.yaml",
    "chart/Chart.yaml", "compose.yaml", ".github/workflows/a.yml", ".gitlab-ci.yml", ".circleci/config.yml",
    "azure-pipelines.yml", "Jenkinsfile", "tasks/main.yml", "a.json", "main.tf", "a.proto", "a.graphql", "package.json",
    "pyproject.toml", "Cargo.toml", "go.mod", "pom.xml", "requirements.txt", "a.properties", "a.toml", "Dockerfile",
    "a.rst", "a.adoc", "urls.py", "app.js", "A.java", "routes.rb", "a.go", "web.php", "A.cs",
)  # fmt: skip
PARSER_CONFIG = ParserConfig(languages.load_builtin(), 200, 20)


def run(data: bytes) -> None:
    """Read a file of some format; every line that is not blank is in a chunk."""
    choice, rest = choose(data, len(PATHS))
    path, text = PATHS[choice], rest.decode("utf-8", "replace")
    if path.endswith(".ipynb"):
        text = extract_cells(text) or text
    content = text.encode("utf-8", "replace")
    analyzed = analyze(PARSER_CONFIG, path, content)
    unpack(analyzed.references)
    parsed = analyzed.parsed
    for number, entity in enumerate(parsed.entities):
        assert 0 < entity.start_line <= entity.line <= entity.end_line, entity
        assert entity.parent is None or entity.parent < number, entity
    covered = {line for chunk in parsed.chunks for line in range(chunk.start_line, chunk.end_line + 1)}
    filled = {number for number, line in enumerate(content.split(b"\n"), 1) if line.strip()}
    assert filled <= covered, sorted(filled - covered)
