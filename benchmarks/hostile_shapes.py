"""Files that nobody would write by hand, for each grammar: nesting, chains, what is never closed, junk.

A shape is a text before, a text that is repeated, and a text after (repeated too, if it closes what was opened). The
random ones are the same in every run.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import NamedTuple

from dowse.code import parsing
from dowse.code.languages.spec import Language

SEED = 7
CLOSED = {"(": ")", "[": "]", "{": "}", "<": ">"}

HEADS = {"php": "<?php\n", "go": "package a\n", "make": "a:\n\t", "sql": "SELECT "}
"""What a file must begin with for its grammar to read the rest as code."""


class Shape(NamedTuple):
    """A text pattern that can be repeated to any length."""

    head: str
    unit: str
    close: str = ""

    def text(self, size: int) -> bytes:
        """Repeat until the text has about so many bytes."""
        count = max(1, (size - len(self.head)) // max(1, len((self.unit + self.close).encode())))
        return (self.head + self.unit * count + self.close * count).encode()


_COMMON = {
    "parentheses": Shape("x = ", "(", ")"),
    "brackets": Shape("x = ", "[", "]"),
    "braces": Shape("", "{", "}"),
    "angles": Shape("x = ", "a<", ">"),
    "open parentheses": Shape("x = ", "("),
    "open calls": Shape("", "f("),
    "open braces": Shape("", "{"),
    "open brackets": Shape("x = ", "["),
    "call chain": Shape("x", ".a()"),
    "call chain in lines": Shape("x", "\n  .a(1)"),
    "member chain": Shape("x", ".a"),
    "index chain": Shape("x", "[1]"),
    "sum": Shape("x = 1", " + 1"),
    "negations": Shape("x = ", "!"),
    "long line": Shape("", "a = 1; "),
    "long name": Shape("", "a"),
    "empty lines": Shape("", "\n"),
    "path": Shape("", "a/"),
    "brackets in lines": Shape("", "[\n"),
    "blanks": Shape("", " "),
    "open string": Shape('x = "', "a b\n"),
    "open comment": Shape("/* ", "a b\n"),
    "comments": Shape("", "/**/"),
    "line comments": Shape("", "// a\n# a\n-- a\n"),
    "definitions in a line": Shape("", "int a(){} "),
}
"""Shapes that every grammar is given, whether they are of its language or not."""

_OWN: Mapping[str, Mapping[str, Shape]] = {
    "bash": {
        "blocks": Shape("", "if a; then ", "fi; "),
        "substitutions": Shape("x=", "$(", ")"),
        "expansions": Shape("x=", "${a:-", "}"),
        "open heredocs": Shape("", "cat <<A\n"),
    },
    "c": {"blocks": Shape("void f() {", "if (a) {", "}"), "pointers": Shape("int ", "*")},
    "cpp": {
        "templates": Shape("", "template<"),
        "nested templates": Shape("", "template<class T> "),
        "namespaces": Shape("", "namespace a { ", "}"),
        "lambdas": Shape("auto x = ", "[](){ return ", ";}"),
    },
    "csharp": {
        "classes": Shape("", "class A { ", "}"),
        "generics": Shape("", "A<"),
        "lambdas": Shape("x = ", "a => "),
    },
    "css": {"rules": Shape("", "a { ", "}"), "selectors": Shape("", "a > ")},
    "dart": {"classes": Shape("", "class A { f() { ", "}}"), "functions": Shape("", "f() { ", "}")},
    "dockerfile": {"stages": Shape("", "FROM a AS b\n"), "continued": Shape("RUN a", " \\\n a")},
    "elixir": {"blocks": Shape("", "def a do ", "end "), "pipes": Shape("x", " |> a()")},
    "go": {"functions": Shape("package a\nvar x = ", "func() { ", "}"), "types": Shape("type a ", "[]")},
    "groovy": {"closures": Shape("", "a { ", "}"), "classes": Shape("", "class A { ", "}")},
    "haskell": {
        "lets": Shape("x = ", "let a = "),
        "lambdas": Shape("x = ", "\\a -> "),
        "wheres": Shape("x = a ", "where a = a "),
    },
    "hcl": {"blocks": Shape("", "a { ", "}\n"), "templates": Shape('x = "', "${", "}")},
    "html": {
        "tags": Shape("", "<div>", "</div>"),
        "open tags": Shape("", "<div>"),
        "open comment": Shape("<!-- ", "a b\n"),
        "other tags": Shape("", "<p><b></p>"),
    },
    "java": {
        "classes": Shape("", "class A { ", "}"),
        "generics": Shape("", "A<"),
        "casts": Shape("x = ", "(A) "),
    },
    "javascript": {
        "functions": Shape("", "function a() { ", "}"),
        "arrows": Shape("x = ", "a => "),
        "templates": Shape("x = ", "`${", "}`"),
        "elements": Shape("x = ", "<a>", "</a>"),
    },
    "json": {
        "objects": Shape("", '{"a":', "}"),
        "arrays": Shape("", '[{"a":', "}]"),
        "keys": Shape("{", '"a":1,'),
    },
    "julia": {"blocks": Shape("", "function a() ", "end "), "begins": Shape("", "begin ", "end ")},
    "kotlin": {"classes": Shape("", "class A { ", "}"), "lambdas": Shape("val x = ", "{ a -> ", "}")},
    "lua": {"functions": Shape("x = ", "function() ", "end "), "open comment": Shape("--[[ ", "a b\n")},
    "make": {
        "variables": Shape("x = ", "$(", ")"),
        "open variables": Shape("x = ", "$("),
        "conditions": Shape("", "ifdef A\n", "endif\n"),
        "rules": Shape("", "a: b\n"),
    },
    "markdown": {
        "quotes": Shape("", "> "),
        "lists": Shape("", "- "),
        "links": Shape("", "[a]("),
        "headings": Shape("", "# a\n"),
        "stars": Shape("", "*a **b "),
        "fences": Shape("", "```\n"),
    },
    "objective-c": {"messages": Shape("x = ", "[", " a]"), "blocks": Shape("x = ", "^{ ", "}")},
    "ocaml": {
        "lets": Shape("", "let a = "),
        "modules": Shape("", "module A = struct ", "end "),
        "open comment": Shape("(* ", "a b\n"),
    },
    "ocaml-interface": {
        "signatures": Shape("", "module A : sig ", "end "),
        "arrows": Shape("val a : a", " -> a"),
    },
    "perl": {
        "subs": Shape("", "sub a { ", "}"),
        "heredocs": Shape("", "print <<A;\n"),
        "quotes": Shape("", "q("),
        "patterns": Shape("", "s/a"),
    },
    "php": {
        "classes": Shape("<?php ", "function a() { ", "}"),
        "closures": Shape("<?php $x = ", "function() { return ", ";}"),
        "tags": Shape("", "<?php ?>"),
    },
    "powershell": {"blocks": Shape("", "function a { ", "}"), "substitutions": Shape("$x = ", "$(", ")")},
    "python": {
        "lambdas": Shape("x = ", "lambda: "),
        "formats": Shape("x = ", 'f"{'),
        "decorators": Shape("", "@a\n"),
        "one line blocks": Shape("", "if a: "),
        "open docstring": Shape('"""', "a b\n"),
    },
    "ruby": {
        "methods": Shape("", "def a; ", "end; "),
        "blocks": Shape("", "a { ", "}"),
        "heredocs": Shape("", "a <<A\n"),
        "classes": Shape("", "class A; ", "end; "),
    },
    "rust": {
        "modules": Shape("", "mod a { ", "}"),
        "closures": Shape("x = ", "|| "),
        "generics": Shape("type A = ", "A<", ">"),
        "uses": Shape("use ", "a::{", "}"),
        "raw strings": Shape("", 'r#"'),
    },
    "scala": {"objects": Shape("", "object A { ", "}"), "lambdas": Shape("val x = ", "a => ")},
    "solidity": {
        "contracts": Shape("", "contract A { ", "}"),
        "blocks": Shape("contract A { function f() { ", "{ ", "}"),
    },
    "sql": {
        "selects": Shape("", "SELECT (", ")"),
        "cases": Shape("SELECT ", "CASE WHEN a THEN ", " END"),
        "statements": Shape("", "SELECT 1; "),
    },
    "starlark": {"lists": Shape("x = ", "[", "]"), "lambdas": Shape("x = ", "lambda: ")},
    "swift": {
        "classes": Shape("", "class A { ", "}"),
        "closures": Shape("let x = ", "{ a in ", "}"),
        "optionals": Shape("let x = a", "?"),
    },
    "toml": {"tables": Shape("", "[a]\n"), "arrays": Shape("x = ", "[", "]"), "keys": Shape("x", ".a")},
    "tsx": {"elements": Shape("const x = ", "<a>", "</a>"), "types": Shape("type A = ", "A<", ">")},
    "typescript": {
        "types": Shape("type A = ", "A<", ">"),
        "namespaces": Shape("", "namespace a { ", "}"),
        "conditions": Shape("type A = ", "a extends b ? "),
    },
    "xml": {
        "tags": Shape("", "<a>", "</a>"),
        "open tags": Shape("", "<a>"),
        "open comment": Shape("<!-- ", "a b\n"),
        "attributes": Shape("<a ", 'b="c" '),
    },
    "yaml": {
        "sequences": Shape("", "- "),
        "flows": Shape("a: ", "[", "]"),
        "maps": Shape("", "? "),
        "keys": Shape("", "a: b\n"),
        "anchors": Shape("", "&a "),
    },
    "zig": {"structs": Shape("const a = ", "struct { ", "}"), "blocks": Shape("fn a() void ", "{ ", "}")},
}
"""Shapes that only one language has."""


def shapes(language: Language) -> dict[str, Shape]:
    """List the repeated shapes that a grammar is given; those of the language itself come first."""
    head = HEADS.get(language.name, "")
    common = {name: shape._replace(head=head + shape.head) for name, shape in _COMMON.items()}
    return {**_OWN.get(language.name, {}), **common, **_keywords(language, head)}


def _keywords(language: Language, head: str) -> dict[str, Shape]:
    words = [token for token in tokens(language) if token.isalpha() and len(token) > 1]
    if not words:
        return {}
    each = {f"keyword {word}": Shape(head, f"{word} ") for word in _spread(words, 6)}
    return {"keywords": Shape(head, " ".join(words) + " "), **each}


def _spread(words: list[str], count: int) -> list[str]:
    """Choose some words, spread evenly over the list."""
    return list(dict.fromkeys(words[i * len(words) // count] for i in range(count)))


def tokens(language: Language) -> list[str]:
    """List the fixed words and signs of a grammar."""
    grammar = parsing.load_grammar(language.grammar)
    kinds = range(grammar.node_kind_count)
    found = (
        grammar.node_kind_for_id(kind)
        for kind in kinds
        if grammar.node_kind_is_visible(kind) and not grammar.node_kind_is_named(kind)
    )
    return sorted({token for token in found if token and token.isprintable()})


def random_bytes(size: int) -> bytes:
    """Make junk: bytes of a Latin text that say nothing."""
    chance = random.Random(SEED)
    alphabet = "".join(map(chr, range(32, 127))) + "äöüß\n\t"
    return "".join(chance.choices(alphabet, k=size)).encode()[:size].decode("utf-8", "ignore").encode()


def random_tokens(language: Language, size: int) -> bytes:
    """Make junk: the words and signs of a language in no order."""
    chance = random.Random(SEED)
    choices = [*tokens(language), "a", "b1", "1", '"s"', "\n"]
    text = " ".join(chance.choices(choices, k=size // 2))
    return (HEADS.get(language.name, "") + text).encode()[:size].decode("utf-8", "ignore").encode()


def texts(language: Language, size: int) -> dict[str, bytes]:
    """Make all shapes of a language with about so many bytes."""
    made = {name: shape.text(size) for name, shape in shapes(language).items()}
    made["random bytes"] = random_bytes(size)
    made["random tokens"] = random_tokens(language, size)
    return made
