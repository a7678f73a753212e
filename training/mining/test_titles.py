"""Queries from tests: the name or the title of a test asks for the source that it tests."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import NamedTuple

from training.mining.tree import FUNCTION_KINDS, MinedQuery, Tree, TreeFile, keep_distinct, spread
from training.pairs import TEST_TITLE, collapse_spaces, is_prose

from dowse.code import test_pairing, tokens
from dowse.types.source import Entity, Role

MIN_WORDS, MAX_WORDS = 3, 16
MIN_PAIR_SCORE = 0.7
"""Certainty of a pair of test and source; below, only a part of the name or of the folders agrees."""

MIN_NAME_LETTERS = 5
"""Letters of a definition's name that is looked for in a test; shorter ones are in every other word."""

MAX_TEST_LINES = 80

_TEST_NAME = re.compile(r"^_*(?:[Tt]ests?)(?=[_A-Z])|(?<=[a-z0-9_])_?(?:Tests?|_test)$")
_SHOULD = re.compile(r"^(?:it )?should (?=\w+ \w)", re.I)
_TEST_ATTRIBUTE = re.compile(r"@(?:\w*Test|Property)\b|\[(?:Fact|Theory|Test\w*)\b|#\[(?:\w+::)*test\b")


class _Test(NamedTuple):
    """A test: its name as words, its lines and what is in them."""

    words: str
    name: str
    target: str
    body: str


def mine_tests(tree: Tree, rng: random.Random) -> list[MinedQuery]:
    """Mine every test whose source is sure; those that name a definition of it come first."""
    pairs = test_pairing.Pairs({file.path: file.role for file in tree.files})
    exact, whole = [], []
    for file in tree.files:
        source = _find_source(tree, pairs, file) if file.role is Role.TEST else None
        for test in _list_tests(file) if source else ():
            tested = _find_tested(source, test) if source else None
            if source and tested:
                note = f"The test {test.name!r} is about {tested.qualified}."
                exact.append(MinedQuery(test.words, (source.target(tested),), (test.target,), note))
            elif source:
                note = f"The test {test.name!r} is about this file."
                whole.append(MinedQuery(test.words, (source.whole,), (test.target,), note))
    return keep_distinct([*spread(exact, rng), *spread(whole, rng)])


def _find_source(tree: Tree, pairs: test_pairing.Pairs, test: TreeFile) -> TreeFile | None:
    """Find the only source that a test file is about."""
    partners = pairs.find_partners(test.path)
    if len(partners) != 1 or not _is_sure(partners[0]):
        return None
    source = tree.by_path.get(partners[0].path)
    return source if source and source.role is Role.SOURCE else None


def _is_sure(partner: test_pairing.Partner) -> bool:
    return partner.score >= MIN_PAIR_SCORE or partner.reason in ("same name", "same name, folders in common")


def _list_tests(file: TreeFile) -> Iterator[_Test]:
    for entity in file.entities:
        if entity.kind in FUNCTION_KINDS and (words := _read_name(entity, file.lines)):
            body = "\n".join(file.lines[entity.line - 1 : entity.end_line])
            yield _Test(_SHOULD.sub("", words), entity.name, file.target(entity), body)
    text = "\n".join(file.lines)
    for match in TEST_TITLE.finditer(text):
        title = collapse_spaces(match[1])
        if match[0].lstrip().startswith(("describe", "context")) or not _is_told(title):
            continue
        first = text.count("\n", 0, match.start(1)) + 1
        last = _find_end(file.lines, first)
        yield _Test(
            _SHOULD.sub("", title),
            title,
            f"{file.path}:{first}-{last}",
            "\n".join(file.lines[first - 1 : last]),
        )


def _read_name(entity: Entity, lines: list[str]) -> str:
    """Return the name of a test function as words; empty if it is none."""
    above = "\n".join(lines[entity.start_line - 1 : entity.line])
    bare = _TEST_NAME.sub("", entity.name)
    if bare == entity.name and not _TEST_ATTRIBUTE.search(above):
        return ""
    words = bare if " " in bare else " ".join(tokens.split_identifier(bare))
    return words.strip("`") if _is_told(words) else ""


def _is_told(words: str) -> bool:
    return MIN_WORDS <= len(words.split()) <= MAX_WORDS and is_prose(words) and "{" not in words


def _find_end(lines: list[str], first: int) -> int:
    """Find the last line of a block that begins on a line: the next one that is indented no further."""
    depth = _indentation(lines[first - 1])
    for number in range(first + 1, min(first + MAX_TEST_LINES, len(lines)) + 1):
        if lines[number - 1].strip() and _indentation(lines[number - 1]) <= depth:
            return number
    return min(first + MAX_TEST_LINES, len(lines))


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _find_tested(source: TreeFile, test: _Test) -> Entity | None:
    """Find the definition that a test calls and has in its own name: the one with the longest name."""
    words = f" {' '.join(tokens.split_identifier(test.words))} "
    called = set(re.findall(r"\w+", test.body))
    fitting = [
        entity
        for entity in source.definitions
        if len(entity.name) >= MIN_NAME_LETTERS
        and entity.name in called
        and entity.end_line > entity.line
        and _has_name(words, entity.name)
    ]
    longest = max((len(entity.name) for entity in fitting), default=0)
    named = [entity for entity in fitting if len(entity.name) == longest]
    return named[0] if len(named) == 1 else None


def _has_name(words: str, name: str) -> bool:
    """Return whether a test's words have those of a name; a single word, which may be an ordinary one, first."""
    parts = tokens.split_identifier(name)
    plain = f" {' '.join(parts)} "
    return plain in words if len(parts) > 1 else words.startswith(plain)
