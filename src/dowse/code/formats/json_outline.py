"""JSON as an outline, with the lines of keys and items; reads as far as a broken file makes sense.

Also what stands in a JSON text where (tokens with their places), for notebooks, which are larger than what is kept of
them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from dowse.code.formats.outline import MAX_NODES, OutlineNode

MAX_DEPTH = 200
"""Levels that are read: what is nested deeper was made to be."""

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]:,]|[^\s"{}\[\]:,]+', re.DOTALL)


class JsonToken(NamedTuple):
    """A string, bracket, sign or bare word, and where it begins."""

    text: str
    start: int


def scan_tokens(text: str) -> Iterator[JsonToken]:
    """Yield the tokens of a JSON text."""
    return (JsonToken(match[0], match.start()) for match in _TOKEN.finditer(text))


def read_string(token: str) -> str:
    """Read a string in its quotes; a broken escape stays as it is written."""
    if "\\" not in token:
        return token[1:-1]
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token[1:-1]


def read_json(content: bytes) -> OutlineNode:
    """Read a JSON text as a node without a key."""
    text = content.decode("utf-8", "replace")
    root = OutlineNode("", "", 0, -1)
    stack, arrays = [root], [False]
    key, row, counted, count = "", 0, 0, 0
    is_key = has_root = False
    for token, start in scan_tokens(text):
        row += text.count("\n", counted, start)
        counted = start
        head = token[0]
        if head in "}]":
            if len(stack) > 1:
                stack.pop().last_row = row
                arrays.pop()
            is_key = False
        elif head == ",":
            is_key = not arrays[-1]
        elif head == ":":
            is_key = False
        elif is_key and head == '"':
            key, is_key = read_string(token), False
        elif len(stack) > MAX_DEPTH or count > MAX_NODES:
            break
        elif head in "{[" and not has_root:
            has_root = True
            arrays[0] = head == "["
            is_key = head == "{"
        else:
            count += 1
            is_item = arrays[-1]
            value = read_string(token) if head == '"' else "" if head in "{[" else token
            node = OutlineNode("" if is_item else key, value, row, len(stack), is_item=is_item)
            stack[-1].children.append(node)
            if head in "{[":
                stack.append(node)
                arrays.append(head == "[")
                is_key = head == "{"
    for node in stack:
        node.last_row = max(node.last_row, row)
    return root
