"""Docstring removal for evaluation: blank out docstrings and doc comments of a file, keeping its lines and its syntax.

Measures whether code is found by what it does and not by its documentation. Other comments stay.
"""

from __future__ import annotations

import re

from dowse.code import parsing, symbols
from dowse.code.languages.spec import Language
from dowse.types.source import ParseHealth

_BLANK_WORDS = bytes(
    0x20 if byte >= 0x80 or chr(byte).isalnum() or byte == 0x5F else byte for byte in range(256)
)
"""Every letter, digit and underscore becomes a space; quotes and comment marks stay, and with them the syntax."""


_STRING_PREFIX = re.compile(rb"[A-Za-z]{1,2}(?=[\"'])")


def blank_docs(language: Language, content: bytes) -> bytes:
    """Blank out the words of all doc comments and docstrings."""
    tree, health = parsing.parse(language, content)
    if tree is None or health is ParseHealth.FAILED:
        return content
    masked = bytearray(content)
    definitions = parsing.run_queries(language, tree).definitions
    for first, end in symbols.documentation(language, definitions, content):
        prefix = _STRING_PREFIX.match(content, first)
        start = prefix.end() if prefix else first  # without it the indentation would change
        masked[start:end] = masked[start:end].translate(_BLANK_WORDS)
    return bytes(masked)
