"""Which language a file is taken for."""

import re
from dataclasses import asdict
from typing import Any

import pytest

from dowse.code.languages import extend_builtin, load_builtin
from dowse.code.languages.spec import FORMAT_KEYS
from dowse.errors import SettingsError, UsageError


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("src/app.py", b"", "python"),
        ("Dockerfile", b"", "dockerfile"),
        ("deploy/Dockerfile.prod", b"", "dockerfile"),
        ("main.TF", b"", "hcl"),
        ("bin/run", b"#!/usr/bin/env -S python3 -u\nprint()\n", "python"),
        ("bin/run", b"#!/bin/sh\necho\n", "bash"),
        ("notes", b"hello", "text"),
        (".bashrc", b"", "bash"),
        ("a/b/Makefile", b"", "make"),
        ("uv.h", b"typedef struct uv_loop_s uv_loop_t;\nint uv_run(uv_loop_t* loop);\n", "c"),
        ("format.h", b"#pragma once\nnamespace fmt {\nclass buffer {};\n}\n", "cpp"),
        ("vec.h", b"template <typename T>\nstruct vec {};\n", "cpp"),
        ("View.h", b"#import <UIKit/UIKit.h>\n@interface View : UIView\n@end\n", "objective-c"),
    ],
)
def test_detection(path: str, content: bytes, expected: str) -> None:
    assert load_builtin().detect(path, content).name == expected


@pytest.mark.parametrize(
    ("alias", "expected"),
    [
        ("py", "python"),
        ("terraform", "terraform"),
        ("tf", "hcl"),
        ("k8s", "kubernetes"),
        ("sh", "bash"),
        ("shell", "bash"),
        ("C#", "csharp"),
        (".rs", "rust"),
    ],
)
def test_aliases(alias: str, expected: str) -> None:
    assert load_builtin().find(alias).name == expected


def test_unknown_language_suggests() -> None:
    with pytest.raises(UsageError, match="did you mean 'python'"):
        load_builtin().find("pyton")


def test_extensions_belong_to_one_language() -> None:
    owners: dict[str, str] = {}
    for language in load_builtin().by_name.values():
        for extension in language.extensions:
            assert extension not in owners, f"{extension}: {owners.get(extension)} and {language.name}"
            owners[extension] = language.name


def test_user_adds_a_language_and_extends_another() -> None:
    languages = extend_builtin(
        {
            "pyx": {"extensions": [".zzz"], "grammar": "tree_sitter_python:language"},
            "python": {"extensions": [".sage"], "definitions": "(call function: (identifier) @name) @macro"},
        }
    )
    assert languages.detect("a.zzz").name == "pyx"
    assert languages.detect("a.sage").name == "python"
    assert languages.detect("a.py").name == "python"
    assert "@macro" in languages.find("python").definitions
    assert "@class" in languages.find("python").definitions


def test_wrong_key_of_a_language_suggests() -> None:
    with pytest.raises(SettingsError, match="did you mean 'extensions'"):
        extend_builtin({"python": {"extension": [".sage"]}})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"python": 3}, "setting 'languages.python' must be a table, not 3"),
        ({"python": {"extensions": ".sage"}}, """as in [".sage"], not '.sage'"""),
        ({"python": {"extensions": ["sage"]}}, "'languages.python.extensions' must be a list of endings"),
        ({"python": {"extensions": [1]}}, "'languages.python.extensions' must be a list of endings"),
        ({"python": {"aliases": "py"}}, "'languages.python.aliases' must be a list of strings, not 'py'"),
        ({"python": {"filenames": [""]}}, "'languages.python.filenames' must be a list of strings, not ['']"),
        ({"python": {"definitions": ["a"]}}, "'languages.python.definitions' must be text, not ['a']"),
        ({"python": {"prose": "yes"}}, "'languages.python.prose' must be true or false, not 'yes'"),
        ({"python": {"grammar": 5}}, "'languages.python.grammar' must be an installed package"),
        ({"python": {"grammar": "os:abort"}}, """as in "tree_sitter_python:language", not 'os:abort'"""),
        ({"python": {"claims": [".h"]}}, "'languages.python.claims' must be a list of pairs"),
        ({"python": {"claims": [[".h", "("]]}}, "'languages.python.claims' must be a list of pairs"),
        ({"python": {"links": ["("]}}, "'languages.python.links' must be a list of patterns, not ['(']"),
        ({"c": {"blanks": ["A"]}}, "'languages.c.blanks' must be a list of patterns with a group, not ['A']"),
    ],
)  # fmt: skip
def test_wrong_value_of_a_language_says_what_is_right(table: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(message)):
        extend_builtin(table)


def test_every_value_of_a_built_in_language_may_be_written_in_a_table() -> None:
    for language in load_builtin().by_name.values():
        table = {key: value for key, value in asdict(language).items() if key not in {"name", *FORMAT_KEYS}}
        assert extend_builtin({"new": table}).find("new").extensions == language.extensions


def test_claims_of_a_user_are_looked_at() -> None:
    languages = extend_builtin({"mine": {"claims": [[".h", "^MINE"]]}})
    assert languages.detect("a.h", b"MINE\n").name == "mine"
