"""Which tests belong to which source files, judged by their paths alone, in both directions.

A test is paired by what it is named after (``test_cart.py``, ``cart_test.go``, ``cart.spec.ts``, ``CartTest.java``;
``cart/__init__.py`` and ``cart/index.ts`` are named by their folder) and by where it is (beside the source, or in a
folder that mirrors the source's). The name decides whether there is a pair at all; the place, which of several files
of that name. A longer name counts less (``test_cart_total.py`` tests ``cart.py`` if there is no ``cart_total.py``).
A source without a test of its name may have a folder of them (``tests/cart/test_total.py``): its suite.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from dowse.code.file_roles import role
from dowse.code.tokens import split_identifier, stem
from dowse.types import Role

MOST = 5
"""Partners of one file; a file with more has no partner but a whole suite."""

WORTH_LISTING = 0.6
"""Partners with less than this share of the best one's score are files that happen to be called the same."""

NAME_SCORE = 1.0
FOLDER_NAME_SCORE = 0.9  # test_cart.py for cart/__init__.py, test_cart_total.py for cart/total.py
UNMARKED_SCORE = 0.8  # tests/cart.py, which only its folder makes a test
LONGER_NAME_SCORE = 0.6  # test_cart_total.py for cart.py
SUITE_SCORE = 0.6  # tests/cart/test_total.py for cart.py

PLACE_SHARE = 0.5
"""How much of a score the place decides; the name decides the rest."""

LEAST_PLACE = 0.34
"""Where the name says little (utils, models, no mark of a test), files are a pair only if their folders agree."""

COMMON = 4
"""A name that more files than this have is common."""

_MARK = re.compile(
    r"^(?:tests?|specs?)[._-]|[._-](?:tests?|specs?|unittests?|e2e|cy|bench|it|test-d)$"  # test_x, x_test, x.spec
    r"|(?<=[a-z0-9])(?:Tests?|TestCase|TestSuite|Specs?|Suite|IT)$|^Tests?(?=[A-Z])",  # XTest, TestX
)
_NO_MEANING = frozenset({
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

_NAMED_BY_FOLDER = {
    "py": {"__init__", "__main__"},
    "js": {"index"},
    "rs": {"mod", "lib", "main"},
    "lua": {"init"},
}


_TESTS_CALLED = {
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
"""What the test of a file is called by custom, lower case and without extension."""

_ANY_TEST_CALLED = ("test_{snake}", "{snake}_test", "{flat}test")

_SUITES_CALLED = ("{snake}", "{flat}", "test_{snake}", "{snake}_test", "{snake}_tests", "{flat}Tests")
"""What a folder with the tests of one file is called."""


class Partner(NamedTuple):
    """A file that belongs to another: how sure that is (0 to 1), and why."""

    path: str
    score: float
    reason: str


class _Shape(NamedTuple):
    """What a path says about what the file is about."""

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
    """What a file that is paired with this one is called by custom, as far as its name says: lower case, no extension.

    For looking up likely partners by name where going through every path takes too long.
    """
    shape = _shape(path, kind)
    if shape is None:
        return ()
    called = ("{snake}", "{flat}") if shape.is_test else _TESTS_CALLED.get(shape.family, _ANY_TEST_CALLED)
    return _called(called, shape)


def suite_folders(path: str, kind: Role) -> tuple[str, ...]:
    """What a folder with the tests of a source file is called by custom; nothing for a test."""
    shape = _shape(path, kind)
    return _called(_SUITES_CALLED, shape) if shape and not shape.is_test else ()


def _called(customs: Iterable[str], shape: _Shape) -> tuple[str, ...]:
    """What customs make of the name of a file."""
    forms = {
        "snake": "_".join(shape.name),
        "flat": "".join(shape.name),
        "bare": shape.path.rpartition("/")[2].partition(".")[0].lower(),
    }
    return tuple(dict.fromkeys(name.format(**forms) for name in customs))


class Pairs:
    """The pairs among some files. Build it once: a look-up then takes microseconds.

    A mapping says which role each path has; without one, roles are judged by the paths, which takes longer.
    """

    def __init__(self, paths: Iterable[str] | Mapping[str, Role]) -> None:
        roles = paths if isinstance(paths, Mapping) else {path: role(path) for path in paths}
        self._shapes: dict[str, _Shape] = {}
        self._sources: dict[tuple[str, ...], list[_Shape]] = defaultdict(list)
        self._tests: dict[tuple[str, ...], list[_Shape]] = defaultdict(list)
        self._suites: dict[tuple[str, ...], list[_Shape]] = defaultdict(list)
        for path, kind in roles.items():
            if shape := _shape(path, kind):
                self._shapes[path] = shape
                self._add(shape)

    def _add(self, shape: _Shape) -> None:
        if not shape.is_test:
            for name in {shape.name, shape.long_name}:
                self._sources[name].append(shape)
            return
        for length in range(1, len(shape.name) + 1):
            self._tests[shape.name[:length]].append(shape)
        self._suites[shape.around].append(shape)

    def partners(self, path: str) -> list[Partner]:
        """The tests of a source file, or the source files of a test, best first; the file need not be one of ours."""
        shape = self._shapes.get(path) or _shape(path, role(path))
        if not shape:
            return []
        found = self._sources_of(shape) if shape.is_test else self._tests_of(shape)
        found.sort(key=lambda partner: (-partner.score, partner.path))
        return [partner for partner in found[:MOST] if partner.score >= WORTH_LISTING * found[0].score]

    def _tests_of(self, source: _Shape) -> list[Partner]:
        candidates = {
            test.path: test for name in (source.name, source.long_name) for test in self._tests.get(name, ())
        }
        named = [test for test in candidates.values() if not self._has_nearer(source, test)]
        scored = ((test, _score(source, test, self._is_common(source.name))) for test in named)
        found = [Partner(test.path, *score) for test, score in scored if score]
        return found or self._suite_of(source)

    def _sources_of(self, test: _Shape) -> list[Partner]:
        if found := self._namesakes(test):
            return found
        scored = ((source, _suite_score(source, test)) for source in self._sources.get(test.around, ()))
        return [Partner(source.path, *score) for source, score in scored if score]

    def _namesakes(self, test: _Shape) -> list[Partner]:
        """The sources with as much of a test's name as any has."""
        for length in range(len(test.name), 0, -1):
            named = self._sources.get(test.name[:length], ())
            scored = ((source, _score(source, test, self._is_common(source.name))) for source in named)
            if found := [Partner(source.path, *score) for source, score in scored if score]:
                return found
        return []

    def _suite_of(self, source: _Shape) -> list[Partner]:
        """The tests in a folder that is named after a source, but for those of other sources."""
        scored = ((test, _suite_score(source, test)) for test in self._suites.get(source.name, ()))
        return [Partner(test.path, *score) for test, score in scored if score and not self._namesakes(test)]

    def _is_common(self, name: tuple[str, ...]) -> bool:
        return len(self._sources.get(name, ())) > COMMON

    def _has_nearer(self, source: _Shape, test: _Shape) -> bool:
        """Whether a test with a longer name has a source with more of that name than this one."""
        said = len(source.long_name if _begins(test.name, source.long_name) else source.name)
        longer = (test.name[:length] for length in range(said + 1, len(test.name) + 1))
        return any(other.family == test.family for name in longer for other in self._sources.get(name, ()))


def _score(source: _Shape, test: _Shape, is_common: bool) -> tuple[float, str] | None:
    """How sure it is that one tests the other, and why; nothing if it is not."""
    if source.family != test.family or source.path == test.path:
        return None
    named, why = _name_score(source, test)
    placed, where = _place_score(source, test)
    if placed < LEAST_PLACE and (is_common or named < FOLDER_NAME_SCORE):
        return None
    return round(named * (1 - PLACE_SHARE + PLACE_SHARE * placed), 3), ", ".join(filter(None, (why, where)))


def _suite_score(source: _Shape, test: _Shape) -> tuple[float, str] | None:
    """How sure it is that a test in a folder named after a source tests it, and why; nothing if the rest of the folders
    speaks against it.
    """
    if source.family != test.family:
        return None
    placed, where = _place_score(source, test._replace(topics=test.topics[:-1]))
    if placed < LEAST_PLACE:
        return None
    score = round(SUITE_SCORE * (1 - PLACE_SHARE + PLACE_SHARE * placed), 3)
    return score, ", ".join(filter(None, ("in a folder of that name", where)))


def _begins(name: tuple[str, ...], start: tuple[str, ...]) -> bool:
    return name[: len(start)] == start


def _name_score(source: _Shape, test: _Shape) -> tuple[float, str]:
    if test.name == source.long_name != source.name:
        return FOLDER_NAME_SCORE, "folder and name"
    if len(test.name) > len(source.name):
        return LONGER_NAME_SCORE * len(source.name) / len(test.name) + 0.2, "the name begins the same"
    if not test.is_marked:
        return UNMARKED_SCORE, "same name in a test folder"
    if source.by_folder and not test.by_folder:
        return FOLDER_NAME_SCORE, "named after the folder"
    return NAME_SCORE, "same name"


def _place_score(source: _Shape, test: _Shape) -> tuple[float, str]:
    """How well the folders agree: the same folder, one that mirrors the other, or some names in common."""
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
def _shape(path: str, kind: Role) -> _Shape | None:
    """What a path says; nothing if the file neither tests nor is tested."""
    folder, _, file = path.rpartition("/")
    name, _, extension = file.rpartition(".")
    family = _FAMILIES.get(extension.lower(), "")
    if not family or kind not in (Role.SOURCE, Role.TEST, Role.EXAMPLE):
        return None
    is_test = kind is Role.TEST
    bare = _MARK.sub("", name) if is_test else name
    folders = [
        _MARK.sub("", part).strip("_") for part in folder.split("/") if part.lower() not in _NO_MEANING
    ]
    folders = [part for part in folders if part]
    by_folder = bare in _NAMED_BY_FOLDER.get(family, ())
    if by_folder:
        if not folders or (is_test and bare == name):  # tests/__init__.py tests nothing
            return None
        bare = folders.pop()
    words = tuple(split_identifier(bare))
    around = split_identifier(folders[-1]) if folders else ()
    topics = tuple(stem(part.lower()) for part in folders)
    shape = _Shape(path, is_test, bare != name, words, (*around, *words), by_folder, folder, topics, family)
    return shape if words else None
