"""Test-to-source mapping: pair test files with the source files they test, in both directions, by naming convention.

The file name decides whether there is a pair (``test_cart.py``, ``cart_test.go``, ``cart.spec.ts``, ``CartTest.java``;
``__init__.py`` and ``index.ts`` are named by their folder), the folder which of several files of that name. A longer
name counts less (``test_cart_total.py`` tests ``cart.py`` if there is no ``cart_total.py``). A source without a test of
its name may have a test suite folder (``tests/cart/``). No imports or coverage data are used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from dowse.code.file_roles import classify_role
from dowse.code.tokens import split_identifier, stem
from dowse.lazy_regex import compile_lazily
from dowse.types.source import Role

MAX_PARTNERS = 5
"""Partners of one file; a file with more has no partner but a whole suite."""

MIN_SCORE_SHARE = 0.6
"""Partners with less than this share of the best one's score are files that happen to be called the same."""

NAME_SCORE = 1.0
FOLDER_NAME_SCORE = 0.9  # test_cart.py for cart/__init__.py, test_cart_total.py for cart/total.py
UNMARKED_SCORE = 0.8  # tests/cart.py, which only its folder makes a test
LONGER_NAME_SCORE = 0.6  # test_cart_total.py for cart.py
SUITE_SCORE = 0.6  # tests/cart/test_total.py for cart.py

PLACE_SHARE = 0.5
"""How much of a score the place decides; the name decides the rest."""

MIN_PLACE_SCORE = 0.34
"""Where the name says little (utils, models, no mark of a test), files are a pair only if their folders agree."""

COMMON_NAME_FILES = 4
"""A name that more files than this share is common."""

_TEST_MARK = compile_lazily(
    r"^(?:tests?|specs?)[._-]|[._-](?:tests?|specs?|unittests?|e2e|cy|bench|it|test-d)$"  # test_x, x_test, x.spec
    r"|(?<=[a-z0-9])(?:Tests?|TestCase|TestSuite|Specs?|Suite|IT)$|^Tests?(?=[A-Z])",  # XTest, TestX
)
_GENERIC_FOLDERS = frozenset({
    "src", "lib", "libs", "source", "sources", "main", "test", "tests", "testing", "__tests__", "spec", "specs", "unit",
    "integration", "functional", "e2e", "java", "kotlin", "scala", "groovy", "python", "packages", "t",
})  # fmt: skip
"""Folders that say what kind of files they hold, not what the files are about; ``auth_tests`` is about auth."""

_FAMILIES = {
    extension: family.partition(" ")[0]
    for family in (
        "py pyi pyx", "js jsx ts tsx mjs cjs mts cts vue svelte coffee", "java kt kts scala groovy", "go", "rs", "php",
        "c h cc cpp cxx hh hpp hxx m mm", "rb rake cr", "ex exs", "sh bash bats zsh", "pl pm t", "cs fs vb", "hs lhs",
        "clj cljs cljc", "ml mli", "erl hrl", "swift", "zig", "lua moon", "dart", "jl", "r", "sol", "ps1 psm1", "nim",
    )
    for extension in family.split()
}  # fmt: skip
"""Languages that test each other. Other files are data: none tests another."""

_FOLDER_NAMED_STEMS = {
    "py": {"__init__", "__main__"},
    "js": {"index"},
    "rs": {"mod", "lib", "main"},
    "lua": {"init"},
}


_TEST_NAME_FORMS = {
    "py": ("test_{snake}", "{snake}_test", "{snake}"),
    "js": ("{bare}", "{flat}test"),
    "go": ("{snake}_test",),
    "java": ("{flat}test", "{flat}tests", "{flat}spec"),
    "cs": ("{flat}test", "{flat}tests"),
    "php": ("{flat}test",),
    "swift": ("{flat}tests", "{flat}test"),
    "rb": ("{snake}_spec", "{snake}_test", "test_{snake}"),
    "ex": ("{snake}_test",),
}
"""The usual names of the test of a file, in lower case and without extension."""

_DEFAULT_TEST_NAME_FORMS = ("test_{snake}", "{snake}_test", "{flat}test")

_SUITE_NAME_FORMS = ("{snake}", "{flat}", "test_{snake}", "{snake}_test", "{snake}_tests", "{flat}Tests")
"""The usual names of a folder with the tests of one file."""


class Partner(NamedTuple):
    """A test of a source file or a source file of a test: how certain the pair is (0 to 1), and why."""

    path: str
    score: float
    reason: str


class _PathShape(NamedTuple):
    """What a path tells about its file: name, topics, whether it is a test."""

    path: str
    is_test: bool
    is_marked: bool  # named as a test, not only placed like one
    name: tuple[str, ...]
    long_name: tuple[str, ...]  # with the name of the folder before it
    by_folder: bool
    folder: str
    topics: tuple[str, ...]  # the folders that say what it is about, outermost first
    family: str

    @property
    def around(self) -> tuple[str, ...]:
        """The name of the folder, as far as it says what the file is about."""
        return self.long_name[: len(self.long_name) - len(self.name)]


def partner_stems(path: str, kind: Role) -> tuple[str, ...]:
    """List the usual names of the partners of a file, in lower case and without extension.

    For looking up likely partners by name where going through every path takes too long.
    """
    shape = _parse_path(path, kind)
    if shape is None:
        return ()
    forms = (
        ("{snake}", "{flat}")
        if shape.is_test
        else _TEST_NAME_FORMS.get(shape.family, _DEFAULT_TEST_NAME_FORMS)
    )
    return _expand_forms(forms, shape)


def suite_folders(path: str, kind: Role) -> tuple[str, ...]:
    """List the usual names of a folder with the tests of a source file; none for a test."""
    shape = _parse_path(path, kind)
    return _expand_forms(_SUITE_NAME_FORMS, shape) if shape and not shape.is_test else ()


def _expand_forms(forms: Iterable[str], shape: _PathShape) -> tuple[str, ...]:
    """Fill the name of a file into name forms."""
    spellings = {
        "snake": "_".join(shape.name),
        "flat": "".join(shape.name),
        "bare": shape.path.rpartition("/")[2].partition(".")[0].lower(),
    }
    return tuple(dict.fromkeys(form.format(**spellings) for form in forms))


class Pairs:
    """The test-to-source pairs among some paths. Build it once: a lookup then takes microseconds.

    A mapping says which role each path has; without one, roles are judged by the paths, which takes longer.
    """

    def __init__(self, paths: Iterable[str] | Mapping[str, Role]) -> None:
        roles = paths if isinstance(paths, Mapping) else {path: classify_role(path) for path in paths}
        self._shapes: dict[str, _PathShape] = {}
        self._sources: dict[tuple[str, ...], list[_PathShape]] = defaultdict(list)
        self._tests: dict[tuple[str, ...], list[_PathShape]] = defaultdict(list)
        self._suites: dict[tuple[str, ...], list[_PathShape]] = defaultdict(list)
        for path, kind in roles.items():
            if shape := _parse_path(path, kind):
                self._shapes[path] = shape
                self._add(shape)

    def _add(self, shape: _PathShape) -> None:
        if not shape.is_test:
            for name in {shape.name, shape.long_name}:
                self._sources[name].append(shape)
            return
        for length in range(1, len(shape.name) + 1):
            self._tests[shape.name[:length]].append(shape)
        self._suites[shape.around].append(shape)

    def find_partners(self, path: str) -> list[Partner]:
        """Find the tests of a source file, or the source files of a test, best first; the file may be unknown here."""
        shape = self._shapes.get(path) or _parse_path(path, classify_role(path))
        if not shape:
            return []
        found = self._find_sources(shape) if shape.is_test else self._find_tests(shape)
        found.sort(key=lambda partner: (-partner.score, partner.path))
        return [
            partner for partner in found[:MAX_PARTNERS] if partner.score >= MIN_SCORE_SHARE * found[0].score
        ]

    def _find_tests(self, source: _PathShape) -> list[Partner]:
        candidates = {
            test.path: test for name in (source.name, source.long_name) for test in self._tests.get(name, ())
        }
        named = [test for test in candidates.values() if not self._has_nearer_source(source, test)]
        scored = ((test, _score(source, test, self._is_common(source.name))) for test in named)
        found = [Partner(test.path, *score) for test, score in scored if score]
        return found or self._find_suite(source)

    def _find_sources(self, test: _PathShape) -> list[Partner]:
        if found := self._find_namesakes(test):
            return found
        scored = ((source, _suite_score(source, test)) for source in self._sources.get(test.around, ()))
        return [Partner(source.path, *score) for source, score in scored if score]

    def _find_namesakes(self, test: _PathShape) -> list[Partner]:
        """Find the sources that share the longest part of a test's name."""
        for length in range(len(test.name), 0, -1):
            named = self._sources.get(test.name[:length], ())
            scored = ((source, _score(source, test, self._is_common(source.name))) for source in named)
            if found := [Partner(source.path, *score) for source, score in scored if score]:
                return found
        return []

    def _find_suite(self, source: _PathShape) -> list[Partner]:
        """Find the tests in a folder that is named after a source, without those of other sources."""
        scored = ((test, _suite_score(source, test)) for test in self._suites.get(source.name, ()))
        return [
            Partner(test.path, *score) for test, score in scored if score and not self._find_namesakes(test)
        ]

    def _is_common(self, name: tuple[str, ...]) -> bool:
        return len(self._sources.get(name, ())) > COMMON_NAME_FILES

    def _has_nearer_source(self, source: _PathShape, test: _PathShape) -> bool:
        """Return whether a test has a source that shares more of its name than this one."""
        shared_words = len(source.long_name if _starts_with(test.name, source.long_name) else source.name)
        longer = (test.name[:length] for length in range(shared_words + 1, len(test.name) + 1))
        return any(other.family == test.family for name in longer for other in self._sources.get(name, ()))


def _score(source: _PathShape, test: _PathShape, is_common: bool) -> tuple[float, str] | None:
    """Score (0 to 1) whether one file tests the other, with the reason; None if it does not."""
    if source.family != test.family or source.path == test.path:
        return None
    named, why = _name_score(source, test)
    placed, where = _place_score(source, test)
    if placed < MIN_PLACE_SCORE and (is_common or named < FOLDER_NAME_SCORE):
        return None
    return round(named * (1 - PLACE_SHARE + PLACE_SHARE * placed), 3), ", ".join(filter(None, (why, where)))


def _suite_score(source: _PathShape, test: _PathShape) -> tuple[float, str] | None:
    """Score whether a test in a folder named after a source tests it, with the reason; None if the other folders
    differ.
    """
    if source.family != test.family:
        return None
    placed, where = _place_score(source, test._replace(topics=test.topics[:-1]))
    if placed < MIN_PLACE_SCORE:
        return None
    score = round(SUITE_SCORE * (1 - PLACE_SHARE + PLACE_SHARE * placed), 3)
    return score, ", ".join(filter(None, ("in a folder of that name", where)))


def _starts_with(name: tuple[str, ...], start: tuple[str, ...]) -> bool:
    return name[: len(start)] == start


def _name_score(source: _PathShape, test: _PathShape) -> tuple[float, str]:
    if test.name == source.long_name != source.name:
        return FOLDER_NAME_SCORE, "folder and name"
    if len(test.name) > len(source.name):
        return LONGER_NAME_SCORE * len(source.name) / len(test.name) + 0.2, "the name begins the same"
    if not test.is_marked:
        return UNMARKED_SCORE, "same name in a test folder"
    if source.by_folder and not test.by_folder:
        return FOLDER_NAME_SCORE, "named after the folder"
    return NAME_SCORE, "same name"


def _place_score(source: _PathShape, test: _PathShape) -> tuple[float, str]:
    """Score how well the folders agree: the same folder, one that mirrors the other, or some names in common."""
    if source.folder == test.folder or test.folder.startswith(source.folder + "/__tests__"):
        return 1.0, "same folder"
    if source.topics == test.topics:
        return 0.95, "folders mirror each other" if source.topics else ""
    shorter, longer = sorted((source.topics, test.topics), key=len)
    if not shorter:  # tests are often all in one folder; sources seldom are if their tests are not
        return 0.5 / (1 + (0.5 if test.topics else 0.2) * len(longer)), ""
    if longer[len(longer) - len(shorter) :] == shorter:
        return 0.85, "folders mirror each other"
    shared = len(set(shorter) & set(longer))
    return 0.8 * shared / len(set(shorter) | set(longer)), "folders in common" if shared else ""


@lru_cache(maxsize=5_000)
def _parse_path(path: str, kind: Role) -> _PathShape | None:
    """Parse a path; None if the file is neither a test nor something that is tested."""
    folder, _, file = path.rpartition("/")
    name, _, extension = file.rpartition(".")
    family = _FAMILIES.get(extension.lower(), "")
    if not family or kind not in (Role.SOURCE, Role.DECLARATION, Role.TEST, Role.EXAMPLE):
        return None
    is_test = kind is Role.TEST
    bare = _TEST_MARK.sub("", name) if is_test else name
    folders = [
        _TEST_MARK.sub("", part).strip("_")
        for part in folder.split("/")
        if part.lower() not in _GENERIC_FOLDERS
    ]
    folders = [part for part in folders if part]
    by_folder = bare in _FOLDER_NAMED_STEMS.get(family, ())
    if by_folder:
        if not folders or (is_test and bare == name):  # tests/__init__.py tests nothing
            return None
        bare = folders.pop()
    words = tuple(split_identifier(bare))
    around = split_identifier(folders[-1]) if folders else ()
    topics = tuple(stem(part.lower()) for part in folders)
    shape = _PathShape(
        path, is_test, bare != name, words, (*around, *words), by_folder, folder, topics, family
    )
    return shape if words else None
