"""Blocks that nest deeper than a grammar stands: such a file is cut by lines, and nothing crashes."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from dowse.code import languages, parsing
from dowse.code.yaml_depth_guard import is_too_deep
from dowse.indexing.analyze_file import ParserConfig, analyze
from dowse.types.source import ParseHealth

YAML = languages.load_builtin().by_name["yaml"]
HOW = ParserConfig(languages.load_builtin(), 1000, 0)

PARSE = """
import sys, tree_sitter, tree_sitter_yaml
tree_sitter.Parser(tree_sitter.Language(tree_sitter_yaml.language())).parse(sys.stdin.buffer.read())
"""

DEEP = {
    "lists in a line": "- " * 300 + "x",
    "lists in a line after tabs": "\t- - " * 300 + "x",
    "keys and values in a line": "- ? : " * 100 + "x",
    "maps": "".join(" " * level + "a:\n" for level in range(300)),
    "lists": "".join(" " * level + "-\n" for level in range(300)),
    "maps and lists at the same columns": "".join(f"{' ' * n}a:\n{' ' * n}-\n" for n in range(150)),
    "maps in old line ends": "".join(" " * level + "a:\r" for level in range(300)),
    "after a byte order mark": "\ufeff" + "- " * 300,
    "after the mark of a document": "--- " + "- " * 300,
    "after an error": '"x" ' + "- " * 300,
    "after an error, in letters of several bytes": "é: é: " + "? " * 300,
}

MANIFEST = """\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  template:
    spec:
      containers:
        - name: web
          args: ["--port", "80"]
          env:
            - {name: A, value: "1 - 2 - 3"}
          command:
            - sh
            - -c
            - |
              # - - - - - - - - - - - - - - - - - - - - - - - -
              echo "a: b: c ? d : e"
              -----------------------------------------------------------------------------------------------
"""

SHALLOW = {
    "long manifest": MANIFEST * 300,
    "long list": "- a: 1\n  b: 2\n" * 5000,
    "nested as deep as people do": "".join("  " * level + "key:\n" for level in range(40)),
    "one line of JSON": "{" + ", ".join(f'"key{n}": [{n}, -1]' for n in range(5000)) + "}",
    "brackets": "[" * 200 + "]" * 200,
    "text": "text: |\n" + "".join(f"  {'word ' * n}- said: what? - {n}\n" for n in range(60)),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_blocks_are_not_given_to_the_grammar(name: str) -> None:
    content = DEEP[name].encode()
    assert parsing.parse(YAML, content) == (None, ParseHealth.FAILED)


@pytest.mark.parametrize("name", SHALLOW)
def test_ordinary_files_are(name: str) -> None:
    assert not is_too_deep(YAML, SHALLOW[name].encode())
    assert parsing.parse(YAML, SHALLOW[name].encode())[1] is ParseHealth.OK


@pytest.mark.parametrize("block", ["{0}a:\n{0}-\n", '{0}"x" -\n{0}a:\n', "{0}?\n{0}:\n{0}-\n"])
def test_what_is_given_to_the_grammar_does_not_crash_it(block: str) -> None:
    for levels in range(YAML.deepest - 3, YAML.deepest):
        content = "".join(block.format(" " * level) for level in range(levels)).encode()
        assert not is_too_deep(YAML, content)
        subprocess.run([sys.executable, "-c", PARSE], input=content, check=True)


def test_other_languages_nest_as_they_like() -> None:
    python = languages.load_builtin().by_name["python"]
    assert not is_too_deep(python, ("- " * 300).encode())


def test_the_file_is_cut_by_lines() -> None:
    content = ("- " * 300 + "first\n" + "second: 2\n" * 100).encode()
    understood = analyze(HOW, "deep.yaml", content)
    assert understood.parsed.health is ParseHealth.FAILED
    assert {chunk.start_line for chunk in understood.parsed.chunks} >= {1}
    assert max(chunk.end_line for chunk in understood.parsed.chunks) == 101


@pytest.mark.parametrize(
    "text", ["- x " * 250_000, ("-" + " " * 1000) * 1000, "x\n" * 500_000, "-" * 1_000_000]
)
def test_counting_takes_time_by_the_size(text: str) -> None:
    started = time.process_time()
    is_too_deep(YAML, text.encode())
    assert time.process_time() - started < 2


def test_the_rest_of_a_tree_is_searched(tmp_path: Path) -> None:
    (tmp_path / "ok.py").write_text("def hello(): pass\n", encoding="utf-8")
    (tmp_path / "deep.yaml").write_text("- " * 300 + "x\n", encoding="utf-8")
    command = [sys.executable, "-m", "dowse", "hello"]
    run = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    assert "ok.py" in run.stdout
