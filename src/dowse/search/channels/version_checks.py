"""Version check retrieval: code that tests for a language version a query names ("drop Python 3.8").

Such lines (``sys.version_info >= (3, 9)``) hardly ever say "Python" or "3.8". ``make_idiom_terms`` adds the name that a
check uses (``version_info``) to the query, and ``find`` brings the chunks that check for this very version, or for the
next one, which has the same effect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from dowse.lazy_regex import compile_lazily
from dowse.search.channels.request import ChannelRequest
from dowse.stores.protocol import Snapshot
from dowse.types.queries import LanguageVersion, Term
from dowse.types.stored import Scored, split_chunk_id

IDIOM_WEIGHT = 1.0
"""Weight of the name that a check uses: as much as a word of the query."""

MAX_CHECKS = 200
"""Chunks that check for any version, of which those are picked that check for the right one."""


class VersionIdiom(NamedTuple):
    """How code checks for the version of a language."""

    names: tuple[str, ...]  # that a check uses, as whole tokens, since their parts say little
    asks: Callable[[int, int | None], str]  # a pattern for the rest of the line, by both numbers
    constants: Callable[[int, int | None], list[str]] = (
        lambda major, minor: []
    )  # that stand for the result of a check


def _make_python_pattern(major: int, minor: int | None) -> str:
    if minor is None:
        return rf"\(\s*(?:{major}|{major + 1})\s*,?\s*0?\s*\)|\[0\]|\.major"
    return rf"\(\s*{major}\s*,\s*(?:{minor}|{minor + 1})\s*[,)]"


def _list_python_constants(major: int, minor: int | None) -> list[str]:
    """List ``PY38``, ``PY_3_9_PLUS`` and the like."""
    return [
        f"PY{before}{major}{between}{number}{after}"
        for number in ((minor, minor + 1) if minor is not None else ())
        for before in ("", "_")
        for between in ("", "_")
        for after in ("", "_PLUS")
    ]


def _make_dotted_pattern(major: int, minor: int | None) -> str:
    wanted = r"\d+" if minor is None else f"(?:{minor}|{minor + 1})"
    return rf"""["']{major}\.{wanted}\b"""


def _make_php_pattern(major: int, minor: int | None) -> str:
    wanted = r"\d\d" if minor is None else f"0(?:{minor}|{minor + 1})"
    return rf"{_make_dotted_pattern(major, minor)}|\b{major}{wanted}\d\d\b"


def _make_java_pattern(major: int, minor: int | None) -> str:
    wanted = minor if major == 1 and minor else major
    return rf"\bJAVA_(?:1_)?(?:{wanted}|{wanted + 1})\b"


def _make_cpp_pattern(major: int, minor: int | None) -> str:
    return rf"\b(?:19|20){major:02d}\d\dL?\b"


def _make_ghc_pattern(major: int, minor: int | None) -> str:
    wanted = r"\d\d" if minor is None else f"(?:{minor:02d}|{minor + 1:02d})"
    return rf"\b{major}{wanted}\b"


PYTHON_IDIOM = VersionIdiom(("version_info",), _make_python_pattern, _list_python_constants)
LANGUAGES = {
    "python": PYTHON_IDIOM,
    "cpython": PYTHON_IDIOM,
    "py": PYTHON_IDIOM,
    "php": VersionIdiom(("php_version", "php_version_id"), _make_php_pattern),
    "ruby": VersionIdiom(("ruby_version",), _make_dotted_pattern),
    "java": VersionIdiom(("javaversion",), _make_java_pattern),
    "c++": VersionIdiom(("cplusplus",), _make_cpp_pattern),
    "ghc": VersionIdiom(("glasgow_haskell",), _make_ghc_pattern),
}
"""The idioms by the word that a query uses for the language."""

_VERSION_NAME = compile_lazily(
    rf"(?<![\w/.-])({'|'.join(map(re.escape, LANGUAGES))})[ -]?v?(\d+)(?:\.(\d+))?[\d.]*(?![\w/])",
    re.IGNORECASE,
)


def find_versions(text: str) -> tuple[LanguageVersion, ...]:
    """Find the versions that a query names: ``Python 3.8``, ``py38``, ``C++17``."""
    return tuple(dict.fromkeys(_parse_version(*found) for found in _VERSION_NAME.findall(text)))


def _parse_version(word: str, major: str, minor: str) -> LanguageVersion:
    word = word.lower()
    if not minor and len(major) > 1 and LANGUAGES[word] is PYTHON_IDIOM:  # py38
        major, minor = major[0], major[1:]
    return LanguageVersion(word, int(major), int(minor) if minor else None)


def make_idiom_terms(versions: Iterable[LanguageVersion]) -> list[Term]:
    """Make the terms to search for besides the words of a query that names versions."""
    names = dict.fromkeys(name for version in versions for name in LANGUAGES[version.word].names)
    return [Term(name, IDIOM_WEIGHT) for name in names]


def find(request: ChannelRequest) -> list[Scored]:
    """Find the chunks with a line that checks for a version that a query names; all have the full score, 1."""
    snapshot, query = request.snapshot, request.query
    found: dict[int, Scored] = {}
    for version in query.versions:
        language = LANGUAGES[version.word]
        constants = map(str.lower, language.constants(version.major, version.minor))
        names = [Term(name, 1.0) for name in (*language.names, *constants)]
        hits = snapshot.lexical(names, {"body": 1.0}, query.filter, MAX_CHECKS)
        snapshot.prefetch([split_chunk_id(hit.chunk)[0] for hit in hits])
        for hit in hits:
            if hit.chunk not in found and _compile_check(version).search(_read_chunk(snapshot, hit.chunk)):
                found[hit.chunk] = Scored(hit.chunk, 1.0)
    return list(found.values())


@lru_cache(maxsize=50)
def _compile_check(version: LanguageVersion) -> re.Pattern[bytes]:
    language, numbers = LANGUAGES[version.word], (version.major, version.minor)
    check = rf"(?i:{'|'.join(language.names)})[^\n]*?(?:{language.asks(*numbers)})"
    return re.compile("|".join([check, *[rf"\b{name}\b" for name in language.constants(*numbers)]]).encode())


def _read_chunk(snapshot: Snapshot, chunk: int) -> bytes:
    id, ordinal = split_chunk_id(chunk)
    file = snapshot.file(id)
    if file is None:
        return b""
    span = file.parsed.chunks[ordinal]
    return snapshot.content(id)[span.start : span.end]
