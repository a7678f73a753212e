"""Which language a file is taken for."""

import pytest

from dowse.code.languages import builtin, extended
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
    assert builtin().detect(path, content).name == expected


@pytest.mark.parametrize(
    ("alias", "expected"),
    [
        ("py", "python"),
        ("terraform", "hcl"),
        ("sh", "bash"),
        ("shell", "bash"),
        ("C#", "csharp"),
        (".rs", "rust"),
    ],
)
def test_aliases(alias: str, expected: str) -> None:
    assert builtin().named(alias).name == expected


def test_unknown_language_suggests() -> None:
    with pytest.raises(UsageError, match="did you mean 'python'"):
        builtin().named("pyton")


def test_extensions_belong_to_one_language() -> None:
    owners: dict[str, str] = {}
    for language in builtin().by_name.values():
        for extension in language.extensions:
            assert extension not in owners, f"{extension}: {owners.get(extension)} and {language.name}"
            owners[extension] = language.name


def test_user_adds_a_language_and_extends_another() -> None:
    languages = extended(
        {
            "pyx": {"extensions": [".zzz"], "grammar": "tree_sitter_python:language"},
            "python": {"extensions": [".sage"], "definitions": "(call function: (identifier) @name) @macro"},
        }
    )
    assert languages.detect("a.zzz").name == "pyx"
    assert languages.detect("a.sage").name == "python"
    assert languages.detect("a.py").name == "python"
    assert "@macro" in languages.named("python").definitions
    assert "@class" in languages.named("python").definitions


def test_wrong_key_of_a_language_suggests() -> None:
    with pytest.raises(SettingsError, match="did you mean 'extensions'"):
        extended({"python": {"extension": [".sage"]}})
