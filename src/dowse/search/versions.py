"""Versions of languages that a question names, and how code says them.

"Drop Python 3.8" means the places that ask which version they run on (``sys.version_info``), and these hardly ever say
"Python" or "3.8".
"""

from __future__ import annotations

import re

from dowse.types import Term

ASKED_BY = {
    "python": ("version_info",),
    "cpython": ("version_info",),
    "py": ("version_info",),
    "php": ("php_version", "php_version_id"),
    "ruby": ("ruby_version",),
    "java": ("javaversion",),
    "c++": ("cplusplus",),
    "ghc": ("glasgow_haskell",),
}
"""What code asks a language's version by, as tokens. Whole names only: their parts (``version``) say little."""

WEIGHT = 1.0
"""What such a name counts: as much as a word of the question."""

_NAMED = re.compile(
    rf"(?<![\w/.-])({'|'.join(map(re.escape, ASKED_BY))})[ -]?v?\d+(?:\.\d+)*(?![\w/])", re.IGNORECASE
)


def terms(text: str) -> list[Term]:
    """What to look for besides the words of a question, if it names the version of a language."""
    languages = dict.fromkeys(name.lower() for name in _NAMED.findall(text))
    names = dict.fromkeys(name for language in languages for name in ASKED_BY[language])
    return [Term(name, WEIGHT) for name in names]
