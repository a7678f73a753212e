"""Synonym list linter: duplicate terms in a term graph, and entries whose terms do not occur in the index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dowse.code import tokens
from dowse.engine import Engine
from dowse.search.query.term_graph import Entry, TermGraph, compile_term
from dowse.stores.protocol import Snapshot
from dowse.types.stored import Filter

DUPLICATE = "duplicate"
DEAD = "dead"
NO_CANONICAL = "canonical not in the index"


class Problem(NamedTuple):
    """A problem of an entry that its owner should look at."""

    entry: str
    kind: str
    detail: str


def check(graph: TermGraph, engine: Engine) -> list[Problem]:
    """List every problem, in the order of the entries; the index is updated first."""
    engine.index()
    with engine.store.snapshot() as snapshot:
        present = find_occurring_terms(
            snapshot, list(dict.fromkeys(t for entry in graph.entries for t in entry.terms))
        )
    problems = [*find_duplicates(graph.entries)]
    for entry in graph.entries:
        if not present.intersection(entry.terms):
            problems.append(Problem(entry.canonical, DEAD, "none of its terms is anywhere in the index"))
        elif entry.canonical not in present:
            problems.append(Problem(entry.canonical, NO_CANONICAL, "only its synonyms are in the index"))
    return problems


def find_duplicates(entries: Sequence[Entry]) -> Iterator[Problem]:
    """Find terms that are in two entries, or twice in one; singular and plural are the same term."""
    seen: list[tuple[str, str]] = []
    for entry in entries:
        for term in entry.terms:
            for other, owner in seen:
                if compile_term(other).fullmatch(term):
                    where = "the same entry" if owner == entry.canonical else f"the entry '{owner}'"
                    yield Problem(entry.canonical, DUPLICATE, f"'{term}' is in {where} too, as '{other}'")
                    break
            seen.append((term, entry.canonical))


def find_occurring_terms(snapshot: Snapshot, terms: Sequence[str]) -> frozenset[str]:
    """Find the terms that the index has: a word by its token, several words if they are adjacent."""
    known = [term for term in terms if all(map(snapshot.document_frequency, _list_index_tokens(term)))]
    found = {term for term in known if len(term.split()) == 1}
    wanted = {term: compile_term(term) for term in known if term not in found}
    for _, content in snapshot.contents(Filter()) if wanted else ():
        text = content.decode("utf-8", "replace")
        hits = [term for term, words in wanted.items() if words.search(text)]
        found.update(hits)
        for term in hits:
            del wanted[term]
        if not wanted:
            break
    return frozenset(found)


def _list_index_tokens(term: str) -> list[str]:
    """List the tokens that the index must have for a term: for each word the one it is looked up by."""
    return [found[0] for word in tokens.split_words(term) if (found := tokens.tokenize_word(word))]
