"""The words of the glossary, held: names exist once, functions are verbs, files are short, help is plain."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from click import Command, Group

from dowse.interfaces.cli import cli

SOURCE = Path(__file__).parent.parent / "src" / "dowse"
MODULES = sorted(SOURCE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}

BOTH_PIPELINES = {"pipeline"}
"""The two pipelines are the two pages that a reader begins with, and are called so in both rooms."""

MAX_LINES = 400
MAX_PARTICIPLES = 0.03

IRREGULAR = frozenset(
    "said told held found kept made built sent known seen written taken given shown drawn brought heard".split()
)
NOT_PARTICIPLES = frozenset("need feed seed embed exceed proceed indexed string ping".split())

BANNED_IN_NAMES = frozenset(
    "laps weigh sketch wording understand understood informative condensed patiently uncollected doors".split()
)
BANNED_IN_HELP = re.compile(
    r"\b(left out|leave out|anew|weigh\w*|wording|damaged?|asker\w*)\b", re.IGNORECASE
)


def functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
                yield path, node


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(decorator).endswith("property") for decorator in node.decorator_list)


def is_participle(name: str) -> bool:
    first = name.strip("_").split("_")[0]
    if first in NOT_PARTICIPLES:
        return False
    return first in IRREGULAR or first.endswith(("ed", "ing"))


def test_every_module_has_a_name_of_its_own() -> None:
    names = Counter(path.stem for path in MODULES if not path.stem.startswith("__"))
    assert {name for name, count in names.items() if count > 1} == BOTH_PIPELINES


def test_every_class_has_a_name_of_its_own() -> None:
    names = Counter(
        node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_files_are_short() -> None:
    lengths = {path.relative_to(SOURCE): path.read_text("utf-8").count("\n") for path in MODULES}
    assert {path: lines for path, lines in lengths.items() if lines > MAX_LINES} == {}


def test_functions_are_verbs() -> None:
    named = [(path.name, node.name) for path, node in functions() if not is_property(node)]
    participles = [(path, name) for path, name in named if is_participle(name)]
    assert len(participles) < MAX_PARTICIPLES * len(named), participles


def test_no_banned_word_is_in_a_name() -> None:
    names = {(path.name, node.name) for path, node in functions()}
    names |= {(path.name, path.stem) for path in MODULES}
    found = [(path, name) for path, name in names if BANNED_IN_NAMES & set(name.lower().split("_"))]
    assert found == []


def test_docstrings_stand_alone() -> None:
    texts = ((path.name, node.name, ast.get_docstring(node) or "") for path, node in functions())
    assert [
        (path, name) for path, name, text in texts if text.startswith(("The same", "Of the", "As "))
    ] == []


def commands(command: Command, name: str = "dowse") -> Iterator[tuple[str, Command]]:
    yield name, command
    if isinstance(command, Group):
        for child in command.list_commands(None):  # type: ignore[arg-type]
            found = command.get_command(None, child)  # type: ignore[arg-type]
            assert found is not None
            yield from commands(found, f"{name} {child}")


def test_help_speaks_the_words_of_the_field() -> None:
    found = []
    for name, command in commands(cli):
        texts = [command.help or "", *(getattr(param, "help", None) or "" for param in command.params)]
        found += [(name, word) for text in texts for word in BANNED_IN_HELP.findall(text)]
    assert found == []
