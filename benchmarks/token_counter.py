"""Count tokens by cl100k, the tokenizer of a common language model, if it is there: a witness for the estimates."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
"""How cl100k cuts a text before it merges bytes."""


@cache
def load_counter() -> Callable[[str], int] | None:
    """Load the counter from the ranks that BENCH_CL100K names; None without them, or without tiktoken."""
    named = os.environ.get("BENCH_CL100K")
    if not named:
        return None
    try:
        tiktoken = import_module("tiktoken")
    except ImportError:
        return None
    rows = (line.split() for line in Path(named).read_text(encoding="ascii").splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in rows}
    encoding = tiktoken.Encoding("cl100k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def count_exactly(text: str) -> int:
    """Count the tokens of a text by cl100k; 0 if it is not there."""
    counter = load_counter()
    return counter(text) if counter else 0
