"""Token count estimate for language models (LLM), without a tokenizer: one regular expression, rather too many than too
few.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_TOKEN_PIECE = re.compile(
    r" ?[A-Z]?[a-z]{1,7}| ?[!-/:-@\[-`{-~]{1,2}|[\x00-\x08\n-\x1f]| {2,16}| ?[A-Z]{1,3}|[0-9]| (?=[0-9])"
    r"|\t{1,4}|[^\x00-~]"
)
_BEYOND_BMP = re.compile(r"[\U00010000-\U0010ffff]")  # emoji and rare scripts: several tokens each

TokenCounter = Callable[[str], int]
"""Counts the tokens of a text."""


def estimate_tokens(text: str) -> int:
    """About the number of tokens of a text, rather too many than too few.

    A word or part of a camel-case word counts one per seven letters, capitals one per three, each digit one, two
    punctuation marks one, line breaks and indentation one each, any other character one, and an emoji three. It adds
    up: a text has as many tokens as its lines, each with its line break.

    Over 1,700 excerpts of 30 lines from 31 repositories in 19 languages this is at least 0.97 of what the most verbose
    of four tokenizers says (cl100k, o200k, Claude's of 2023, Qwen's) in 99 cases of 100, and in total 1.17 times
    (Claude's) to 1.30 times (cl100k) as much. Data such as base64 and prose in other languages than English can be
    under-counted by a quarter.
    """
    pieces = _TOKEN_PIECE.subn("", text)[1]  # faster than a list of them
    return pieces if text.isascii() else pieces + 2 * _BEYOND_BMP.subn("", text)[1]
