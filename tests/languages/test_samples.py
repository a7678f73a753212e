"""Every language against hand-written samples: what is defined where, documented how, and what is mentioned.

A folder under ``samples`` holds source files and an ``expected.txt`` that a person has read. After a change,
``pytest tests/languages --update-golden`` rewrites the latter; the difference is what there is to review.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.code import parsing, references, symbols
from dowse.code.languages import load_builtin
from dowse.code.languages.spec import Language
from dowse.types.source import Entity, Kind, ReferenceKind

SAMPLES = Path(__file__).parent / "samples"
EXPECTED = "expected.txt"
FOLDERS = sorted(folder.name for folder in SAMPLES.iterdir())
MENTIONS = frozenset(
    {ReferenceKind.IMPORT, ReferenceKind.CALL, ReferenceKind.DECORATOR, ReferenceKind.INHERIT}
)
"""What names something else; what names stand for is tested in test_references.py."""
GARBAGE = b"%% ,,, @@ ?: %%\n"


def sources(folder: str) -> list[Path]:
    return sorted(path for path in (SAMPLES / folder).iterdir() if path.name != EXPECTED)


def render(path: Path) -> Iterator[str]:
    content = path.read_bytes()
    language = load_builtin().detect(path.name)
    tree, health = parsing.parse(language, content)
    assert tree is not None
    yield f"# {path.name}: {language.name}, {health}"
    matches = parsing.run_queries(language, tree)
    for e in symbols.find(language, matches.definitions, content):
        yield f"{e.kind} {e.qualified} {e.start_line}-{e.end_line} {e.line}"
        if e.doc:
            yield f"doc {e.qualified}: {e.doc.splitlines()[0]}"
    for kind, rows in references.find(language, matches.references, content).items():
        if kind in MENTIONS:
            yield from dict.fromkeys(f"ref {kind} {target} {line}" for target, line, _ in rows)


@pytest.mark.parametrize("folder", FOLDERS)
def test_sample_is_understood(folder: str, request: pytest.FixtureRequest) -> None:
    rendered = "".join(f"{line}\n" for path in sources(folder) for line in render(path))
    golden = SAMPLES / folder / EXPECTED
    if request.config.getoption("--update-golden"):
        golden.write_text(rendered, encoding="utf-8", newline="\n")
    assert rendered == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", load_builtin().by_name.values(), ids=lambda language: language.name)
def test_queries_compile(language: Language) -> None:
    if language.grammar:
        parsing.compile_query(language.grammar, f"{language.definitions}\n{language.references}")


# --- broken files ------------------------------------------------------------------------------


def entities_of(path: Path, content: bytes) -> tuple[Entity, ...]:
    language = load_builtin().detect(path.name)
    tree, _ = parsing.parse(language, content)
    assert tree is not None
    return symbols.find(language, parsing.run_queries(language, tree).definitions, content)


def standing(entities: tuple[Entity, ...], line: int) -> Counter[tuple[str, int]]:
    """What ends before this line, but for variables: that they are not local takes their surroundings."""
    variables = (Kind.VARIABLE, Kind.CONSTANT)
    return Counter((e.name, e.line) for e in entities if e.end_line < line and e.kind not in variables)


def middle_function(entities: tuple[Entity, ...]) -> Entity | None:
    """A function that is long enough to be cut and has something before it."""
    long = [e for e in entities if e.kind in (Kind.FUNCTION, Kind.METHOD) and e.end_line - e.line >= 2]
    usable = [e for e in long if standing(entities, e.start_line)]
    return usable[len(usable) // 2] if usable else None


def breakable() -> Iterator[tuple[str, Path]]:
    for folder in FOLDERS:
        for path in sources(folder):
            if middle_function(entities_of(path, path.read_bytes())):
                yield f"{folder}/{path.name}", path


BREAKABLE = dict(breakable())


@pytest.mark.parametrize("cut", [True, False], ids=["cut", "garbage"])
@pytest.mark.parametrize("name", BREAKABLE)
def test_broken_file_keeps_what_stands_before_the_break(name: str, cut: bool) -> None:
    path = BREAKABLE[name]
    content = path.read_bytes()
    whole = entities_of(path, content)
    broken = middle_function(whole)
    assert broken is not None

    lines = content.splitlines(keepends=True)
    middle = broken.line + 1
    found = entities_of(path, b"".join([*lines[:middle], GARBAGE, *([] if cut else lines[middle:])]))

    assert not standing(whole, broken.start_line) - standing(found, broken.start_line)
