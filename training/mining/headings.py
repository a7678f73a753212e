"""Queries from documentation: a heading and the first words below it ask for that section."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from training.mining.tree import MinedQuery, Tree, TreeFile, keep_distinct, spread
from training.pairs import HEADING, INLINE_TAG, collapse_spaces, is_prose

from dowse.code import tokens
from dowse.types.source import Role

MIN_HEADING_WORDS = 3
MIN_SECTION_CHARS = 120
FIRST_WORDS = 8
"""Words of a section that follow its heading in a query."""

_EXTENSIONS = (".md", ".markdown", ".mdx", ".rst")
_HISTORY_NAME = re.compile(
    r"change|history|news|release|licen[sc]e|authors|contributors|code_of_conduct", re.I
)
_FENCE = re.compile(r"^([ \t]*)(```|~~~).*?^[ \t]*\2[ \t]*$", re.M | re.S)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
_NO_SENTENCE = re.compile(r"^\s*(?:[-*|>!<:+#{%]|\.\. |\d+\.|import |export )")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?|:[\w:]+:`~?([^`<]*)[^`]*`|\{[^}]*\}")


def mine_headings(tree: Tree, rng: random.Random) -> list[MinedQuery]:
    """Mine every section whose heading says something and stands only once in the tree."""
    documents = [
        file
        for file in tree.files
        if file.role is Role.DOCS
        and file.path.lower().endswith(_EXTENSIONS)
        and not _HISTORY_NAME.search(file.path)
        and not file.path.startswith(".")
    ]
    return spread(keep_distinct([query for file in documents for query in _mine_document(file)]), rng)


def _mine_document(file: TreeFile) -> Iterator[MinedQuery]:
    text = _FENCE.sub(_blank, "\n".join(file.lines).replace("\r", " "))
    text = _FRONT_MATTER.sub(_blank, text)
    heads = list(HEADING.finditer(text))
    ends = [*(head.start() for head in heads), len(text)][1:]
    for head, end in zip(heads, ends, strict=True):
        title = _strip_markup(head[2] or head[3] or "").strip(" #")
        section = text[head.end() : end].strip()
        words = tokens.split_words(title)
        is_told = len(words) >= MIN_HEADING_WORDS and is_prose(title)
        if not is_told or len(section) < MIN_SECTION_CHARS or not (opening := _read_opening(section)):
            continue
        first = text.count("\n", 0, head.start()) + 1
        last = text.count("\n", 0, len(text[:end].rstrip())) + 1
        yield MinedQuery(
            f"{title} {opening}",
            (f"{file.path}:{first}-{last}",),
            note=f"The section has the heading {title!r}.",
        )


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _strip_markup(text: str) -> str:
    return INLINE_TAG.sub("", _LINK.sub(lambda match: match[1] or match[2] or "", text))


def _read_opening(section: str) -> str:
    """Read the first words of a section's first sentence; empty if it begins with a list, a table or code."""
    paragraph = section.partition("\n\n")[0]
    if _NO_SENTENCE.match(paragraph):
        return ""
    sentence = re.split(r"(?<=[.!?:])\s", collapse_spaces(_strip_markup(paragraph)), maxsplit=1)[0]
    if not is_prose(sentence):
        return ""
    return " ".join(sentence.split()[:FIRST_WORDS]).rstrip(" .,:;(")
