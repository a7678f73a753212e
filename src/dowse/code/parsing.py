"""Turns source text into a syntax tree, and says how well that went.

Grammars are loaded when a file first needs them and kept for the life of the process.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module

import tree_sitter

from dowse.code.languages.base import Language
from dowse.errors import SettingsError
from dowse.types import ParseHealth


@cache
def grammar(spec: str) -> tree_sitter.Language:
    """The tree-sitter grammar that ``package.module:function`` names."""
    module, _, function = spec.partition(":")
    try:
        capsule = getattr(import_module(module), function or "language")()
    except (ImportError, AttributeError) as error:
        raise SettingsError(
            f"grammar '{spec}' cannot be loaded ({error}): is its package installed?"
        ) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # older grammar wheels hand out a plain pointer
        return tree_sitter.Language(capsule)


@cache
def query(spec: str, text: str) -> tree_sitter.Query:
    """A compiled query; a wrong one is an error that says where."""
    try:
        return tree_sitter.Query(grammar(spec), text)
    except tree_sitter.QueryError as error:
        raise SettingsError(f"query for grammar '{spec}' does not compile: {error}") from error


@cache
def _parser(spec: str) -> tree_sitter.Parser:
    return tree_sitter.Parser(grammar(spec))


def parse(language: Language, content: bytes) -> tuple[tree_sitter.Tree | None, ParseHealth]:
    """The syntax tree of a file's content, or none where the language has no grammar."""
    if not language.grammar:
        return None, ParseHealth.NO_GRAMMAR
    tree = _parser(language.grammar).parse(content)
    root = tree.root_node
    if not root.has_error:
        return tree, ParseHealth.OK
    if root.is_error and not any(child.is_named and not child.is_error for child in root.children):
        return tree, ParseHealth.FAILED
    return tree, ParseHealth.PARTIAL
