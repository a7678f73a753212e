"""What the settings file of a tree may decide: one row for each setting.

A tree may be anybody's: an archive, a clone, a dependency. Its settings may say how the tree is searched. They must not
reach outside of it, send anything away, run code or models of a stranger, or take the memory and time of the machine.
What is refused is said in a note, the user's own value or the default is used, and the user can decide otherwise.

Some rows depend on more than their value (an address is only known with the provider's default): whoever uses the
setting checks them with ``Resolved.require_user``, which is an error, since going on would use another store or model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

MAX_FILE_BYTES = 10_000_000
"""A file is held in memory several times while it is indexed; a source file of more is generated."""

MAX_CHUNK_BYTES = 100_000
MAX_OVERLAP_BYTES = 1_000
"""A chunk is embedded and shown as a whole, and an overlap multiplies what is stored."""

MAX_HITS = 1_000
MAX_LINES = 10_000
MAX_BATCH = 1_000
MAX_DIMENSIONS = 10_000
MAX_SECONDS = 600.0
MAX_REWRITE_SECONDS = 60.0
"""Far above what anybody needs, and far below what takes a machine down or lets a search hang."""

MAX_WEIGHT = 100.0
"""The default weights are 1 and less."""

MAX_TEXT = 1_000
"""Characters of a prefix, which every text that is embedded begins with."""

MAX_PATTERNS = 1_000
"""Patterns of files, each of which every path is compared with."""


class Tree(NamedTuple):
    """A tree, and those of its settings that nobody decided otherwise."""

    root: Path
    values: Mapping[str, Any]


class Admission(NamedTuple):
    """What is used of a value (None: nothing), and why not the rest of it."""

    value: Any
    refusal: str = ""


class Row(NamedTuple):
    """What a tree may decide about a setting, in words and as a check; the reason if it may not decide all."""

    bounds: str
    check: Callable[[Any, Tree], Admission]
    reason: str = ""


def admit(name: str, value: Any, tree: Tree) -> Admission:
    """Return what is used of a value that a tree sets."""
    return TABLE[name].check(value, tree)


def describe_refusal(name: str, origin: str, refusal: str, user_file: Path) -> str:
    """Say that a value of a tree is not used, why, and how the user can decide it."""
    variable = f"DOWSE_{name.upper()} in your environment or "
    where = "" if name == "languages" else variable  # a table cannot be written in a variable
    return (
        f"{name} in {origin} is not used: {refusal}; "
        f"if you want it, set {where}{name} in your own settings ({user_file})"
    )


def _accept(value: Any, _: Tree) -> Admission:
    return Admission(value)


def _any(reason: str = "") -> Row:
    return Row("anything", _accept, reason)


def _on_use(bounds: str, reason: str) -> Row:
    return Row(bounds, _accept, reason)


def _never(reason: str) -> Row:
    return Row("nothing", lambda value, _: Admission(None, reason), reason)


def _up_to(limit: float, reason: str) -> Row:
    def check(value: Any, _: Tree) -> Admission:
        return Admission(value) if value <= limit else Admission(None, f"a tree may set {limit:,} at most")

    return Row(f"up to {limit:,}", check, reason)


def _short(limit: int, what: str, reason: str) -> Row:
    def check(value: Any, _: Tree) -> Admission:
        if len(value) <= limit:
            return Admission(value)
        return Admission(None, f"a tree may set {limit:,} {what} at most")

    return Row(f"up to {limit:,} {what}", check, reason)


def _check_workers(value: Any, _: Tree) -> Admission:
    cores = os.cpu_count() or 1
    if value <= cores:
        return Admission(value)
    return Admission(None, f"a tree may set as many as there are cores at most, here {cores}")


def _check_mask(value: Any, _: Tree) -> Admission:
    return Admission(value) if value else Admission(None, "a tree may not have secrets shown")


def _check_index_dir(value: Any, tree: Tree) -> Admission:
    """Accept a folder of the tree that is reached without a link: an index is written, and later removed, there."""
    path = Path(value)
    if not value:
        return Admission(value)
    if path.is_absolute() or path.anchor or ".." in path.parts or value.startswith("~"):
        return Admission(None, "a tree may only have its index inside of it")
    place = tree.root
    for part in path.parts:
        place /= part
        if place.is_symlink() or getattr(place, "is_junction", bool)():
            return Admission(
                None, f"{str(place)!r} is a link, and a tree may only have its index inside of it"
            )
    return Admission(value)


def _check_repositories(value: Any, tree: Tree) -> Admission:
    kept = {name: path for name, path in value.items() if _is_inside(path, tree.root)}
    others = [name for name in value if name not in kept]
    if not others:
        return Admission(kept)
    refusal = f"a tree may only name folders inside of it, which is not so for {', '.join(map(repr, sorted(others)))}"
    return Admission(kept or None, refusal)


def _is_inside(path: str, root: Path) -> bool:
    """Return whether a path leads into a tree after its links are followed."""
    if path.startswith("~"):
        return False
    try:
        return (root / path).resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):  # a name with a NUL; links in a circle
        return False


def _check_shared_name(value: Any, tree: Tree) -> Admission:
    if not value or str(tree.values.get("store", "")).startswith("postgres"):
        return Admission(value)
    return Admission(None, "it belongs to the store, which the tree does not name")


_REACH = "the source of the tree, or your queries, would leave this machine"
_LIMITS = "more takes the memory and time of the machine"

TABLE: Mapping[str, Row] = {
    "include": _short(MAX_PATTERNS, "patterns", _LIMITS),
    "exclude": _short(MAX_PATTERNS, "patterns", _LIMITS),
    "max_file_size": _up_to(MAX_FILE_BYTES, _LIMITS),
    "use_ignore_files": _any(),
    "default_excludes": _any(),
    "mask_secrets": Row("`true`", _check_mask, "secrets would be shown to agents and kept in indexes"),
    "languages": _any("a table with a mistake in it is not used"),
    "chunk_size": _up_to(MAX_CHUNK_BYTES, _LIMITS),
    "chunk_overlap": _up_to(MAX_OVERLAP_BYTES, _LIMITS),
    "embedder": _on_use(
        "`none`, `static`, `hashing`, or a service on this machine; else an error",
        f"{_REACH}; the model file of a stranger would be handed to native code",
    ),
    "embedder_url": _on_use(
        "an address on this machine, which no key is sent to; else an error",
        f"{_REACH}, and your keys are for services that you chose",
    ),
    "embedder_dimensions": _up_to(MAX_DIMENSIONS, _LIMITS),
    "embedder_batch": _up_to(MAX_BATCH, _LIMITS),
    "embedder_timeout": _up_to(MAX_SECONDS, _LIMITS),
    "embedder_query_prefix": _short(MAX_TEXT, "characters", _LIMITS),
    "embedder_document_prefix": _short(MAX_TEXT, "characters", _LIMITS),
    "without_vectors": _any(),
    "store": _on_use("`embedded`, `memory`, or a server on this machine; else an error", _REACH),
    "store_schema": Row(
        "anything, with a server as `store`",
        _check_shared_name,
        "in a store that you chose, the tree would pick the tables that are written",
    ),
    "store_repository": Row(
        "anything, with a server as `store`",
        _check_shared_name,
        "in a store that you chose, the tree would take the place of another repository",
    ),
    # Not even with a store of the tree's: that may be the local server which has your other indexes, and a view is
    # all that is needed to overwrite or clear one. A repository has a view for each checkout, and is shared anyway.
    "store_view": _never("it could be the index of another checkout, which would be overwritten"),
    "store_timeout": _up_to(MAX_SECONDS, _LIMITS),
    "repositories": Row(
        "folders inside the tree, links followed",
        _check_repositories,
        "other folders of yours would be indexed and searched",
    ),
    "index_dir": Row(
        "a relative path inside the tree, without `..` and links",
        _check_index_dir,
        "the index of another project would be overwritten or removed",
    ),
    "trust_index": _never("an index that comes with a tree may say anything"),
    "workers": Row("up to the number of cores", _check_workers, _LIMITS),
    "limit": _up_to(MAX_HITS, _LIMITS),
    "refresh": _any(),
    "hybrid": _any(),
    "fusion": _any(),
    "lexical_weight": _up_to(MAX_WEIGHT, "more only drowns the other channels"),
    "dense_weight": _up_to(MAX_WEIGHT, "more only drowns the other channels"),
    "name_weight": _up_to(MAX_WEIGHT, "more only drowns the other channels"),
    "file_weight": _up_to(MAX_WEIGHT, "more only drowns the other channels"),
    "signals_off": _any(),
    "min_score": _any(),
    "show_weak": _any(),
    "cache": _any(),
    "entity_threshold": _up_to(MAX_HITS, _LIMITS),
    "context_lines": _up_to(MAX_LINES, _LIMITS),
    "terms": _on_use(
        "a file inside the tree, links followed; else an error", "it would show a file of yours"
    ),
    "rewriter": _on_use("`none`, or a service on this machine; else an error", _REACH),
    "rewriter_url": _on_use(
        "an address on this machine, which no key is sent to; else an error",
        f"{_REACH}, and your keys are for services that you chose",
    ),
    "rewriter_timeout": _up_to(MAX_REWRITE_SECONDS, "somebody waits for it"),
    "search_log": _never("whether your queries are kept is for you to decide"),
}
"""What a tree may decide about each setting."""
