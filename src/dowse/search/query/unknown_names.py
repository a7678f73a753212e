"""Queries that are a name which nothing in the index has: they are read as words, so that meaning counts too."""

from __future__ import annotations

from dowse.code import tokens
from dowse.frozen import replace
from dowse.search.channels.name_lookup import find_definitions, find_hierarchical, has_route
from dowse.stores.protocol import Snapshot
from dowse.types.queries import Query


def read_unknown_names_as_words(snapshot: Snapshot, query: Query) -> Query:
    """Read a symbol or a file that neither names nor keywords know as words; one that is known stays as it is."""
    if query.type == "symbol":
        unknown = query.names
        is_known = any(_is_known(snapshot, name, query) for name in query.names)
    else:
        is_known = any(snapshot.find_files_named(name, query.filter, 1) for name in query.files)
        unknown = () if is_known or _is_hierarchical(snapshot, query) else query.files
    return query if is_known else replace(query, type="words", unknown=unknown)


def _is_known(snapshot: Snapshot, name: str, query: Query) -> bool:
    """Return whether something is defined by this name, or some text has it as a word."""
    words = [tokens.tokenize_word(word)[:1] for word in tokens.split_words(name)]
    if words and all(snapshot.document_frequency(token) for whole in words for token in whole):
        return True
    return bool(find_definitions(snapshot, name, query.filter, 1))


def _is_hierarchical(snapshot: Snapshot, query: Query) -> bool:
    """Return whether what looks like a path is the name of a route or of a resource, a service or a job."""
    named = any(find_hierarchical(snapshot, name, query.filter) for name in query.files)
    return named or has_route(snapshot, query.text, query.filter)
