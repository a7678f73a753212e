"""Source files: definitions, chunks, references of whatever a grammar makes of them."""

from dowse.code import languages
from dowse.indexing.analyze_file import ParserConfig, analyze
from fuzz.inputs import choose

PATHS = ("a.py", "a.js", "a.go", "a.rs", "a.c", "a.md", "a.json")
PARSER_CONFIG = ParserConfig(languages.load_builtin(), 200, 20)


def run(data: bytes) -> None:
    """Analyze a file of some language; every line that is not blank is in a chunk."""
    choice, rest = choose(data, len(PATHS))
    content = rest.decode("utf-8", "replace").encode()
    parsed = analyze(PARSER_CONFIG, PATHS[choice], content).parsed
    covered = {line for chunk in parsed.chunks for line in range(chunk.start_line, chunk.end_line + 1)}
    filled = {number for number, line in enumerate(content.split(b"\n"), 1) if line.strip()}
    assert filled <= covered, sorted(filled - covered)
