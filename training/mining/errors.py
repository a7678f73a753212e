"""Queries from error and log messages: what a program prints asks for the definition that prints it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from training.mining.tree import MinedQuery, Tree, TreeFile, find_innermost, keep_distinct, spread
from training.pairs import collapse_spaces, is_prose

from dowse.code import tokens

MIN_WORDS = 4
MAX_DEFINITION_LINES = 300
"""A larger definition around a message says too little about where it is."""

CHANGED_SHARE = 0.5
"""Share of the messages that are retyped from memory, and not pasted."""

FILLED_SHARE = 0.6
"""Share of the messages whose placeholders get a value; from the others they are cut."""

_MESSAGE = re.compile(
    r"(?:raise|throw|panic|\bdie\b|croak|fail|fatal|abort|bail|anyhow|ensure|revert|reject|\bexpect\(|error|exception"
    r"|warn|\blog\w*\b|\blogger\b|stderr|ex-info|\brequire\()"
    r"[^\"'`\n]{0,80}(?:\(\s*\n\s*[^\"'`\n]{0,3})?([\"'`])((?:\\.|(?!\1)[^\n\\]){14,200})\1",
    re.I,
)
_COMMENT = re.compile(r"^\s*(?://|#|--|\*|/\*|;|%)")
_PLACEHOLDER = re.compile(
    r"%\((?P<python>\w+)\)[-#0 +.\d]*[a-z]|%[-+#0 .\d]*(?:l|ll|h|z|j)?(?P<letter>[a-zA-Z])\b|%[%@]"
    r"|[$#]?\{\{?(?P<braces>[^{}]*)\}?\}|\\\((?P<swift>[^()]*(?:\([^()]*\))?[^()]*)\)"
    r"|\$\((?P<command>[^()]*)\)|\$(?P<shell>\w+)"
)
_ESCAPE = re.compile(r"\\([\"'`\\])|\\(?:[nrtabfv0e]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|\d{2,3})(?:\[[\d;]*m)?")
_GAP = re.compile(r"\s+([,.;:!?)])|\(\s*\)|([\"'`])\s*\2|\[\s*\]")
"""What a placeholder leaves when it is cut."""

_VALUES = (
    (re.compile(r"count|size|len|num|index|line|code|status|port|max|min|timeout|seconds|limit", re.I), "42"),
    (re.compile(r"path|file|dir|folder|source|target|dest", re.I), "data/config.json"),
    (re.compile(r"url|uri|host|addr|endpoint", re.I), "localhost:8080"),
    (re.compile(r"version", re.I), "1.2.0"),
    (re.compile(r"type|class|kind", re.I), "String"),
    (
        re.compile(r"\berr(?:or)?\b|exception|reason|message|\bmsg\b|\be\b|\bex\b", re.I),
        "unexpected end of file",
    ),
    (re.compile(r"name|key|id\b|option|field|user|command|cmd", re.I), "default"),
)
"""Values by the names of placeholders."""

_NUMBER_LETTERS = frozenset("diuxXfFgGeEcopn")
_OTHER_WORDINGS = (
    ("could not", "couldn't"), ("cannot", "can't"), ("can't", "cannot"), ("failed to", "could not"),
    ("unable to", "cannot"), ("does not", "doesn't"), ("is not", "isn't"), ("not found", "missing"),
    ("must be", "should be"), ("invalid", "bad"), ("unknown", "unrecognized"), ("unexpected", "unknown"),
    ("not supported", "unsupported"), ("already exists", "exists already"), ("required", "needed"),
    ("not allowed", "forbidden"), ("expected", "should be"),
)  # fmt: skip
"""How people remember the words of a message."""

_SMALL_WORDS = frozenset(
    "a an the is are was of to for in on at by with be been this that it its and or".split()
)


def mine_errors(tree: Tree, rng: random.Random) -> list[MinedQuery]:
    """Mine every message that only one definition has, and retype half of them."""
    found = spread(keep_distinct([query for file in tree.sources for query in _mine_file(file, rng)]), rng)
    return [_retype(query, rng) if rng.random() < CHANGED_SHARE else query for query in found]


def _mine_file(file: TreeFile, rng: random.Random) -> Iterator[MinedQuery]:
    text = "\n".join(file.lines)
    for match in _MESSAGE.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        around = find_innermost(file.definitions, line)
        if not around or line < around.line or around.end_line - around.start_line > MAX_DEFINITION_LINES:
            continue
        message = _print_message(match[2], rng)
        if is_message(match[2]) and message and not _COMMENT.match(file.lines[line - 1]):
            yield MinedQuery(message, (file.target(around),), note=f"{around.qualified} has the message.")


def is_message(literal: str) -> bool:
    """Return whether the words of a string literal, without its placeholders, are a message to people."""
    plain = collapse_spaces(_ESCAPE.sub(" ", _PLACEHOLDER.sub(" ", literal)))
    words = [word for word in tokens.split_words(plain) if word.isalpha() and len(word) > 1]
    return len(words) >= MIN_WORDS and is_prose(plain)


def _print_message(literal: str, rng: random.Random) -> str:
    """Return a message as it is printed: placeholders filled in or cut, escapes removed."""
    fill = _fill if rng.random() < FILLED_SHARE else _cut
    plain = _ESCAPE.sub(lambda match: match[1] or " ", _PLACEHOLDER.sub(fill, literal))
    tidy = _GAP.sub(r"\1", collapse_spaces(plain))
    return tidy.lstrip(" :,;.-").rstrip(" :,;-([\"'`")


def _cut(match: re.Match[str]) -> str:
    return ""


def _fill(match: re.Match[str]) -> str:
    """Return a value for a placeholder that fits its name or its format."""
    if match["letter"]:
        return "42" if match["letter"] in _NUMBER_LETTERS else "default"
    name = next(filter(None, match.groups()), "")
    return next((value for pattern, value in _VALUES if pattern.search(name)), "default")


def _retype(query: MinedQuery, rng: random.Random) -> MinedQuery:
    """Change or drop one or two words of a message."""
    words = _reword(query.query, rng).split()
    small = [place for place, word in enumerate(words) if word.lower() in _SMALL_WORDS]
    if small and len(words) > MIN_WORDS:
        del words[rng.choice(small)]
    elif " ".join(words) == query.query and len(words) > MIN_WORDS:
        del words[rng.randrange(1, len(words))]
    return query._replace(query=" ".join(words))


def _reword(message: str, rng: random.Random) -> str:
    """Replace one expression by another that means the same."""
    lower = message.lower()
    fitting = [pair for pair in _OTHER_WORDINGS if re.search(rf"\b{re.escape(pair[0])}\b", lower)]
    if not fitting:
        return message
    old, new = rng.choice(fitting)
    return re.sub(rf"\b{re.escape(old)}\b", new, message, count=1, flags=re.I)
