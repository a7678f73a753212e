"""Languages whose grammar is an extra that is not installed: definitions are found by their lines, as dowse says."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dowse.code.languages import OPTIONAL_GRAMMARS, load_builtin

SOURCES = {
    "shop.ml": (
        "let total items =\n  List.length items\n\ntype item = {\n  price : int;\n}\n",
        ["total", "item"],
    ),
    "shop.mli": ("(** Counts. *)\nval total : int list -> int\n", ["total"]),
    "shop.jl": (
        "function total(items)\n    sum(items)\nend\n\nstruct Item\n    price\nend\n",
        ["total", "Item"],
    ),
    "shop.f90": (
        "module shop\ncontains\n  subroutine total(items)\n  end subroutine\nend module\n",
        ["shop", "total"],
    ),
    "Shop.m": ("@implementation Shop\n- (int)total {\n  return 1;\n}\n@end\n", ["Shop", "total"]),
    "shop.pl": ("package Shop;\n\nsub total {\n  return 1;\n}\n", ["Shop", "total"]),
}

SCRIPT = """
import json, sys
for name in json.loads(sys.argv[1]):
    sys.modules[name] = None  # as if it were not installed
from dowse.__main__ import main
from dowse.code.languages import load_builtin
from dowse.indexing.analyze_file import ParserConfig, analyze

how = ParserConfig(load_builtin(), 1000, 0)
found = {}
for path, text in json.loads(sys.argv[2]).items():
    parsed = analyze(how, path, text.encode()).parsed
    found[path] = [parsed.language, [entity.name for entity in parsed.entities]]
print(json.dumps(found))
sys.argv[1:] = ["languages"]
main()
"""


@pytest.fixture(scope="module")
def without() -> tuple[dict[str, Any], str]:
    """What is found in the sources without these grammars, and what ``dowse languages`` says."""
    texts = {path: text for path, (text, _) in SOURCES.items()}
    command = [sys.executable, "-c", SCRIPT, json.dumps(OPTIONAL_GRAMMARS), json.dumps(texts)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    first, _, rest = done.stdout.partition("\n")
    assert first, done.stderr
    return json.loads(first), rest


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_are_found_by_their_lines(path: str, without: tuple[dict[str, Any], str]) -> None:
    language, names = without[0][path]
    assert language == load_builtin().detect(path, SOURCES[path][0].encode()).name
    assert names == SOURCES[path][1]


def test_the_list_of_languages_says_what_the_extra_adds(without: tuple[dict[str, Any], str]) -> None:
    listed = without[1]
    assert "pip install 'dowse[languages]'" in listed
    assert "dowse[languages]" in next(line for line in listed.splitlines() if line.startswith("ocaml "))
    here = subprocess.run(
        [sys.executable, "-m", "dowse", "languages"], capture_output=True, text=True, check=True
    ).stdout
    assert "pip install" not in here


def test_every_optional_grammar_is_in_the_extra_and_no_other_is() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    names = [
        line.partition(">")[0].replace("-", "_") for line in project["optional-dependencies"]["languages"]
    ]
    assert sorted(names) == sorted(OPTIONAL_GRAMMARS)
    by_package = {row.grammar.partition(":")[0]: row for row in load_builtin().by_name.values()}
    assert all(by_package[package].lines for package in OPTIONAL_GRAMMARS)
