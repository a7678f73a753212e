"""Queries from the names of definitions: the words of ``parse_commit_message`` ask for it."""

from __future__ import annotations

import random

from training.mining.tree import MinedQuery, Tree, keep_distinct, spread

from dowse.code import tokens

MIN_WORDS, MAX_WORDS = 3, 8
MIN_LETTERS = 12
"""Letters of a name; shorter words are initials."""


def mine_names(tree: Tree, rng: random.Random) -> list[MinedQuery]:
    """Mine the words of every name that says something and that only one definition has."""
    found = []
    for file in tree.sources:
        for entity in file.definitions:
            words = [word for word in tokens.split_identifier(entity.name) if word.isalpha()]
            is_told = MIN_WORDS <= len(words) <= MAX_WORDS and len("".join(words)) >= MIN_LETTERS
            if is_told and " " not in entity.name and min(map(len, words)) > 1 and words[0] != "test":
                note = f"The name is {entity.name}."
                found.append(MinedQuery(" ".join(words), (file.target(entity),), note=note))
    return spread(keep_distinct(found), rng)
