"""Memoization with dependency tracking, for name resolution: each cached result has the lookups that it depends on.

A result may be computed while one file is resolved and reused for another. Both files depend on what was looked up for
it, so reusing it records those lookups again. This is what makes the incremental build of the graph right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from dowse.graph.symbol_table import SymbolTable

T = TypeVar("T")


class MemoEntry(NamedTuple):
    """A result and the lookups that it depends on."""

    value: Any
    lookups: frozenset[str]


@dataclass
class LookupMemo:
    """Memoizes results of name resolution in one tree."""

    tree: SymbolTable
    _memo: dict[tuple[object, ...], MemoEntry] = field(default_factory=dict)
    _key_sets: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)
    _recorded_sets: set[int] = field(default_factory=set)  # ids of the key sets that are in tree.lookups
    _memo_depth: int = 0  # nesting of results that are being computed

    def memoize(self, key: tuple[object, ...], compute: Callable[[], T]) -> T:
        """Compute a result once, and record the lookups it depends on for every file that uses it."""
        tree = self.tree
        memo = self._memo.get(key)
        if memo is None:
            outer = tree.lookups, self._recorded_sets
            tree.lookups, self._recorded_sets = set(), set()
            self._memo_depth += 1
            value = compute()
            self._memo_depth -= 1
            memo = self._memo[key] = MemoEntry(value, self._intern(tree.lookups))
            tree.lookups, self._recorded_sets = outer
        if (number := id(memo.lookups)) not in self._recorded_sets:
            self._recorded_sets.add(number)
            tree.lookups |= memo.lookups
        result: T = memo.value
        return result

    def _intern(self, keys: set[str]) -> frozenset[str]:
        """Share equal key sets: most results look up the same few files."""
        frozen = frozenset(keys)
        return self._key_sets.setdefault(frozen, frozen)
