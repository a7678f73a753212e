"""Language specification: file names and extensions, grammar and tree-sitter queries of a language, as data.

``Language`` documents the captures that the queries use.
"""

from __future__ import annotations

import re

from dowse.frozen import frozen
from dowse.lazy_regex import compile_lazily

GRAMMAR = compile_lazily(r"(?P<package>tree_sitter_\w+)(?::(?P<function>language\w*))?", re.ASCII)
FORMAT_KEYS = frozenset({"reader", "lines", "bases", "forms", "named", "extra"})
"""What only the table of formats decides: patterns of a tree's settings would be tried on every file."""

GRAMMAR_FORM = 'an installed package that is called tree_sitter_*, as in "tree_sitter_python:language"'
"""How a grammar is named, as a pattern and in words: settings of a tree cannot have anything else imported."""


@frozen
class Language:
    """One language, as data: how its files are recognised, its grammar and its tree-sitter queries.

    A query is written in tree-sitter's query language. Captures in ``definitions``:

    - ``@class``, ``@function``, ``@method`` ... (a value of ``Kind``): the node of a definition; on several nodes, it
      reaches from the first to the last (Dart keeps signature and body apart);
    - ``@name``: its name (``a::b`` and ``a.b`` are taken apart: the last part is the name, the rest its scope); on
      several nodes, its parts (``resource "bucket" "logs"``);
    - ``@body``: where the signature ends;
    - ``@owner``: the type a method belongs to when it is written outside of it (Go receivers);
    - ``@scope`` instead of a kind: a node that only lends its name to the definitions inside it;
    - ``@comment``: a comment; the ones that stand directly above a definition become its documentation;
    - ``@doc``: beside ``@comment`` the part of it that is text; beside a kind, a string inside that documents it;
    - ``@attribute``: what may stand between a comment and its definition without being part of the latter's node
      (Rust's ``#[...]``); it belongs to the definition, not to its documentation.

    A ``@function`` directly inside a class-like definition becomes a method by itself, and a ``@variable`` or
    ``@constant`` inside a function is local and skipped. Where several patterns match the same definition, the one
    written first counts.

    Captures in ``references``: ``@import``, ``@call``, ``@decorator``, ``@inherit``, each on the node that names the
    target; on several nodes of a match (a dotted name that the grammar takes apart) it reaches from the first to the
    last. ``@bind`` and ``@parameter`` are names of the file's own, ``@return`` and ``@yield`` what a function gives.
    Beside them:

    - ``@through``: what a call is made on (``self.pool`` in ``self.pool.get()``); ``@called`` and ``@decorated``
      instead of ``@call`` and ``@decorator`` are on both, ``self.pool.get``, which is faster;
    - ``@names``, ``@namespace``, ``@default``, ``@reexport``: what an import binds: names, the whole, the default, or
      names that are passed on;
    - ``@value``, ``@type``, ``@each``: what a name is bound to, its declared type, the collection it is one of.

    A query is compiled once per process, and each node type with children in it is looked up in the whole grammar: one
    can take 10 ms, spelled out along a nested path seconds. Wildcards with fields, ``(_ body: (_) @body)``, cost
    nothing, and patterns that begin alike can be one: ``(call [...])``; a predicate of a capture that an alternative
    does not have holds. What else to know:

    - a wildcard as a root is passed over when a node type or a token comes next, ``(_ "func" ...)``: the pattern starts
      there, and fields that the root must not have are not looked at;
    - an alternation is a state for each of its branches until one is met, and all that wait are compared at every node:
      put the step that they share before it, and keep them from waiting in bodies (``!body``);
    - of a branch that begins with an alternation, all but its first alternative are lost, unless it is the last branch.
    """

    name: str
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()  # exact names or globs, case-sensitive: "Dockerfile", "Dockerfile.*"
    aliases: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()  # what a "#!" line may name
    grammar: str = ""  # "package:function" that returns the tree-sitter language; "" = no grammar
    deepest: int = 0  # columns that blocks may begin at before the grammar's scanner crashes; 0 = any number
    marks: str = ""  # characters that open a block wherever they stand: "- - x" is two of them
    definitions: str = ""
    references: str = ""
    links: tuple[str, ...] = ()  # patterns of mentioned files; groups "target" and, if there is one, "detail"
    wrappers: tuple[str, ...] = ()  # parents that belong to the definition inside: decorators, exports
    docstring: str = ""  # node type of a string that documents when it is the first statement of a body
    clauses: bool = False  # functions of one name that follow each other are one definition
    prototypes: bool = False  # functions may be declared before they are defined in the same file
    claims: tuple[tuple[str, str], ...] = ()  # extension of another language, pattern of files that are ours
    prose: bool = False  # text for people, not for machines
    blanks: tuple[str, ...] = ()  # patterns whose first group the grammar cannot read: blanks to it
    # of a format (see ``code/formats``), which no settings can give:
    reader: str = ""  # the module there that reads its files
    lines: tuple[
        tuple[str, ...], ...
    ] = ()  # kinds of definitions, how their lines begin with a group "name", and the line that ends one
    bases: tuple[str, ...] = ()  # languages of files that may be of this format
    forms: tuple[
        tuple[str, ...], ...
    ] = ()  # each a pattern of the path, then patterns that must all be in the content
    named: bool = False  # what a file defines depends on what the file is called
    extra: str = ""  # of dowse that has its grammar, which is not installed
