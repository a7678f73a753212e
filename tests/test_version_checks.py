"""Queries that name the version of a language: the places that ask for it come first."""

from pathlib import Path

import pytest

from dowse import Engine, SearchResponse
from dowse.search.channels import version_checks

GATES = {
    "python": (
        "drop support for Python 3.8",
        "compat.py",
        "if sys.version_info >= (3, 9):\n    import zoneinfo\n",
    ),
    "python, the version itself": (
        "workaround for py38",
        "compat.py",
        "if sys.version_info[:2] == (3, 8):\n    pass\n",
    ),
    "python 2": (
        "is python2 still needed",
        "compat.py",
        "if sys.version_info[0] == 2:\n    text = unicode\n",
    ),
    "php": (
        "drop PHP 8.0",
        "Compat.php",
        "<?php\nif (PHP_VERSION_ID >= 80100) {\n    enum_exists('A');\n}\n",
    ),
    "php, compared": (
        "drop PHP 8.0",
        "Compat.php",
        "<?php\nif (version_compare(PHP_VERSION, '8.1', '<')) {\n    polyfill();\n}\n",
    ),
    "ruby": ("drop Ruby 2.7", "compat.rb", "if RUBY_VERSION < '2.8'\n  require 'backports'\nend\n"),
    "java": ("require Java 11", "Compat.java", "class C { boolean b = is(JavaVersion.JAVA_11); }\n"),
    "c++": ("drop C++14", "compat.h", "#if __cplusplus >= 201402L\n#define CONSTEXPR constexpr\n#endif\n"),
    "ghc": ("drop GHC 8.10", "Compat.hs", "#if __GLASGOW_HASKELL__ >= 811\nimport Data.Kind\n#endif\n"),
}

OTHERS = {
    "compat.py": "if sys.version_info >= (3, 12):\n    import tomllib\n",
    "Compat.php": "<?php\nif (PHP_VERSION_ID >= 70400) {\n    arrow();\n}\n",
    "compat.rb": "if RUBY_VERSION < '3.2'\n  require 'set'\nend\n",
    "Compat.java": "class D { boolean b = is(JavaVersion.JAVA_17); }\n",
    "compat.h": "#if __cplusplus >= 202302L\n#define DEDUCE 1\n#endif\n",
    "Compat.hs": "#if __GLASGOW_HASKELL__ >= 904\nimport Data.List\n#endif\n",
}
"""Places that ask for another version, by the name of the file that asks for the right one."""


def ask(root: Path, files: dict[str, str], question: str) -> SearchResponse:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(root) as engine:
        return engine.search(question)


def brought(response: SearchResponse) -> list[str]:
    """The files that the channel brought."""
    return [r.path for r in response.results if any(reason.name == "versions" for reason in r.reasons)]


@pytest.mark.parametrize("name", GATES)
def test_the_place_that_asks_for_the_version_is_brought_and_others_are_not(tmp_path: Path, name: str) -> None:
    question, file, text = GATES[name]
    response = ask(tmp_path, {f"right/{file}": text, f"other/{file}": OTHERS[file]}, question)
    assert brought(response) == [f"right/{file}"]
    assert response.results[0].path == f"right/{file}"


def test_constants_that_stand_for_a_version_are_brought_too(tmp_path: Path) -> None:
    files = {
        "right.py": "if PY_3_9_PLUS:\n    from types import GenericAlias\n",
        "other.py": "if PY_3_12_PLUS:\n    import tomllib\n",
        "tox.ini": "[tox]\nenvlist = py38, py39\n",
    }
    response = ask(tmp_path, files, "drop Python 3.8")
    assert brought(response) == ["right.py"]


def test_it_is_not_left_behind_what_only_says_the_words(tmp_path: Path) -> None:
    files = {
        "src/compat.py": "import sys\n\nif sys.version_info >= (3, 9):\n    from typing import Literal\n",
        "src/leases.py": "def release(python):\n    '''Drop the support of what python holds.'''\n",
        "src/columns.py": "def column(python):\n    '''Support for python.'''\n",
    }
    response = ask(tmp_path, files, "drop support for Python 3.8")
    assert "src/compat.py" in [r.path for r in response.results[:2]]
    assert any(report.name == "versions" and report.hits == 1 for report in response.channels)


def test_it_keeps_to_filters(tmp_path: Path) -> None:
    gate = "import sys\n\nif sys.version_info >= (3, 9):\n    from typing import Literal\n"
    response = ask(tmp_path, {"a/one.py": gate, "b/two.py": gate + "two = 2\n"}, "drop Python 3.8 path:a/**")
    assert [r.path for r in response.results] == ["a/one.py"]


def test_it_is_not_asked_where_no_version_is_named_or_a_report_has_one_in_passing(tmp_path: Path) -> None:
    gate = "import sys\n\nif sys.version_info >= (3, 9):\n    from typing import Literal\n"
    report = "The import of a module fails with an error that I do not understand. " * 6 + "I use Python 3.8."
    for question in ("where is Literal imported", report):
        response = ask(tmp_path, {"compat.py": gate}, question)
        assert "versions" not in [channel.name for channel in response.channels]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Python 3.8", ("python", 3, 8)),
        ("py38", ("py", 3, 8)),
        ("Python 3.8.1 crashes", ("python", 3, 8)),
        ("py310", ("py", 3, 10)),
        ("Python 2", ("python", 2, None)),
        ("Java 11", ("java", 11, None)),
        ("C++17", ("c++", 17, None)),
        ("GHC-9.2", ("ghc", 9, 2)),
    ],
)
def test_versions_are_read(text: str, found: tuple[str, int, int | None]) -> None:
    assert version_checks.find_versions(text) == (found,)
