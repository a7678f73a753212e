"""Queries from documentation comments: the first sentence asks for the definition, in a tree without that comment."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import NamedTuple

from training.mining.tree import (
    MinedQuery,
    Tree,
    TreeFile,
    find_innermost,
    keep_distinct,
    normalize,
    parse_entities,
    spread,
)
from training.pairs import is_prose

from dowse.code import parsing, symbols, tokens
from dowse.evaluation.mining import docs
from dowse.evaluation.mining.definitions import QUERY_KINDS
from dowse.types.source import Entity

MIN_WORDS = 5
LEAK_WORDS = 6
"""Words in a row that give a sentence away."""

_SCOPE = re.compile(r"^(?:Public|Internal|Private):\s+")  # how TomDoc begins
_TYPES = re.compile(r"[-=]>|\s\|\s")
_WORD_CHARACTER = re.compile(rb"[\w\x80-\xff]")


class MinedDocs(NamedTuple):
    """Queries, and the files without the comments that they are from, by path."""

    queries: list[MinedQuery]
    contents: dict[str, bytes]


def mine_docs(tree: Tree, limit: int, rng: random.Random) -> MinedDocs:
    """Mine first sentences that stand nowhere else, spread over folders and files, and blank them out."""
    found = keep_distinct([query for file in tree.sources for query in _mine_file(file)])
    mined = MinedDocs([], {})
    for query in spread(found, rng):
        if len(mined.queries) >= limit:
            break
        _take(tree, mined, query)
    return mined


def _mine_file(file: TreeFile) -> Iterator[MinedQuery]:
    for entity in file.definitions:
        query = _SCOPE.sub("", docs.extract_query(entity)) if entity.doc else ""
        if len(tokens.split_words(query)) >= MIN_WORDS and is_prose(query) and not _TYPES.search(query):
            note = f"The documentation of {entity.qualified} begins so."
            yield MinedQuery(query, (f"{file.path}:{entity.line}-{entity.end_line}",), note=note)


def _take(tree: Tree, mined: MinedDocs, query: MinedQuery) -> None:
    """Add a query with its file blanked, unless its answer would be lost or its sentence remains somewhere."""
    path, _, lines = query.primary[0].rpartition(":")
    line = int(lines.partition("-")[0])
    file = tree.by_path[path]
    content = mined.contents.get(path, file.content)
    entity = _find_definition(file, content, line)
    if not entity or not entity.doc:
        return
    blanked = _blank(content, _find_comments(file, content, entity))
    left = _find_definition(file, blanked, line)
    if not left or left.doc == entity.doc or (left.name, left.end_line) != (entity.name, entity.end_line):
        return
    words = b" ".join(normalize(query.query.encode()).split()[:LEAK_WORDS])
    if words in normalize(blanked) or any(words in text for at, text in tree.texts.items() if at != path):
        return
    mined.contents[path] = blanked
    mined.queries.append(query._replace(primary=(file.target(left),)))


def _find_definition(file: TreeFile, content: bytes, line: int) -> Entity | None:
    """Find the definition whose name is on a line of some content of a file."""
    found = (entity for entity in parse_entities(file.language, content) if entity.kind in QUERY_KINDS)
    return next((entity for entity in found if entity.line == line), None)


def _find_comments(file: TreeFile, content: bytes, entity: Entity) -> list[tuple[int, int]]:
    """Find the byte ranges of the documentation of one definition, above it and inside of it."""
    tree, _ = parsing.parse(file.language, content)
    matches = parsing.run_queries(file.language, tree).definitions
    entities = symbols.find(file.language, matches, content)
    return [
        (first, end)
        for first, end in symbols.documentation(file.language, matches, content)
        if find_innermost(entities, content.count(b"\n", 0, first) + 1) == entity
    ]


def _blank(content: bytes, ranges: list[tuple[int, int]]) -> bytes:
    """Replace comments by empty lines; where code is beside one, only its words by blanks."""
    for first, end in sorted(ranges, reverse=True):
        line_start = content.rfind(b"\n", 0, first) + 1
        line_end = content.find(b"\n", end)
        line_end = len(content) if line_end < 0 else line_end
        if content[line_start:first].strip() or content[end:line_end].strip():
            content = content[:first] + _WORD_CHARACTER.sub(b" ", content[first:end]) + content[end:]
        else:
            empty = b"\n" * content.count(b"\n", line_start, line_end)
            content = content[:line_start] + empty + content[line_end:]
    return content
