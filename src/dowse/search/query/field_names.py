"""Names of the fields of a query (``lang:``, ``path:``), those that other tools use, and which one was meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

FIELDS = ("lang", "path", "kind", "name", "changed", "is", "repo", "branch", "case")
EXCLUDABLE_FIELDS = ("lang", "path", "kind", "is")
FIELD_ALIASES = {"language": "lang"}

FOREIGN_FIELDS = {
    "dir": "path", "ext": "path", "file": "path", "filename": "path", "folder": "path", "in": "path",
    "def": "name", "func": "name", "function": "name", "symbol": "name", "sym": "name", "class": "name",
    "after": "changed", "date": "changed", "modified": "changed", "since": "changed",
    "role": "is", "test": "is", "type": "kind",
}  # fmt: skip
"""The fields of other search tools, and ours that mean the same."""


def make_example(field: str) -> str:
    """Make an example of a field with a value."""
    values = {"path": "src/**", "kind": "function", "name": "*Handler", "changed": "14d", "is": "test"}
    return f"{field}:{values.get(field, 'py')}"


def find_nearest(word: str, known: Sequence[str], field: str) -> str:
    """Find the known word that another was meant to be; empty if there is none like it."""
    if not field and word in FOREIGN_FIELDS:
        return FOREIGN_FIELDS[word]
    close = get_close_matches(word, [*known, *(FIELD_ALIASES if not field else ())], n=1, cutoff=0.5)
    return str(FIELD_ALIASES.get(close[0], close[0])) if close else ""


def suggest(word: str, known: Sequence[str], field: str) -> str:
    """Suggest the nearest known word, and list all of them."""
    best = find_nearest(word, known, field)
    colon = "" if field else ":"
    guess = f"did you mean '{best}{colon}'? " if best else ""
    return f"{guess}known are {', '.join(f'{name}{colon}' for name in known)}"
