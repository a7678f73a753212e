"""Security policy for configuration files of untrusted trees: what a repository may decide about each setting.

A tree may be a stranger's clone or archive. Its settings may say how it is searched, but must not reach outside of it,
send data away, run foreign code or models, or exhaust memory and time. A refused value is reported in a note, and the
user's own or the default is used. Rows that depend on more than their value are checked where they are used, with
``ResolvedSettings.require_user``, which raises an error.
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
MAX_DEFINITION_LINES = 10_000
MAX_BATCH_TEXTS = 1_000
MAX_DIMENSIONS = 10_000
MAX_TIMEOUT_SECONDS = 600.0
MAX_REWRITE_SECONDS = 60.0
MAX_ADDED_TERMS = 100
"""Far above what anybody needs, and far below what takes a machine down or lets a search hang."""

MAX_WEIGHT = 100.0
"""The default weights are 1 and less."""

MAX_PREFIX_CHARS = 1_000
"""Characters of a prefix, which every text that is embedded begins with."""

MAX_PATTERNS = 1_000
"""Patterns of files, each of which every path is compared with."""


class TreeConfig(NamedTuple):
    """A tree, and those of its settings that nobody decided otherwise."""

    root: Path
    values: Mapping[str, Any]


class Admission(NamedTuple):
    """The part of a value that is used (None: nothing), and why the rest is refused."""

    value: Any
    refusal: str = ""


class SettingPolicy(NamedTuple):
    """What a tree may decide about a setting, in words and as a check; the reason if it may not decide all."""

    bounds: str
    check: Callable[[Any, TreeConfig], Admission]
    reason: str = ""


def admit(name: str, value: Any, tree: TreeConfig) -> Admission:
    """Check a value that a tree sets; return what of it is used."""
    return POLICIES[name].check(value, tree)


def describe_refusal(name: str, origin: str, refusal: str, user_file: Path) -> str:
    """Say that a value of a tree is not used, why, and how the user can decide it."""
    variable = f"DOWSE_{name.upper()} in your environment or "
    where = "" if name == "languages" else variable  # a table cannot be written in a variable
    return (
        f"{name} in {origin} is not used: {refusal}; "
        f"if you want it, set {where}{name} in your own settings ({user_file})"
    )


def _accept(value: Any, _: TreeConfig) -> Admission:
    return Admission(value)


def _allow_any(reason: str = "") -> SettingPolicy:
    return SettingPolicy("anything", _accept, reason)


def _check_on_use(bounds: str, reason: str) -> SettingPolicy:
    return SettingPolicy(bounds, _accept, reason)


def _refuse(reason: str) -> SettingPolicy:
    return SettingPolicy("nothing", lambda value, _: Admission(None, reason), reason)


def _limit_number(limit: float, reason: str) -> SettingPolicy:
    def check(value: Any, _: TreeConfig) -> Admission:
        return Admission(value) if value <= limit else Admission(None, f"a tree may set {limit:,} at most")

    return SettingPolicy(f"up to {limit:,}", check, reason)


def _limit_length(limit: int, what: str, reason: str) -> SettingPolicy:
    def check(value: Any, _: TreeConfig) -> Admission:
        if len(value) <= limit:
            return Admission(value)
        return Admission(None, f"a tree may set {limit:,} {what} at most")

    return SettingPolicy(f"up to {limit:,} {what}", check, reason)


def _check_workers(value: Any, _: TreeConfig) -> Admission:
    cores = os.cpu_count() or 1
    if value <= cores:
        return Admission(value)
    return Admission(None, f"a tree may set as many as there are cores at most, here {cores}")


def _check_mask(value: Any, _: TreeConfig) -> Admission:
    return Admission(value) if value else Admission(None, "a tree may not have secrets shown")


def _check_index_dir(value: Any, tree: TreeConfig) -> Admission:
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


def _check_query_dir(value: Any, tree: TreeConfig) -> Admission:
    if not value or _is_inside(value, tree.root):
        return Admission(value)
    return Admission(None, "a tree may only name a folder inside of it")


def _check_repositories(value: Any, tree: TreeConfig) -> Admission:
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


def _check_shared_name(value: Any, tree: TreeConfig) -> Admission:
    if not value or str(tree.values.get("store", "")).startswith(("postgres", "opensearch")):
        return Admission(value)
    return Admission(None, "it belongs to the store, which the tree does not name")


_SENDS_DATA = "the source of the tree, or your queries, would leave this machine"
_TAKES_RESOURCES = "more takes the memory and time of the machine"

POLICIES: Mapping[str, SettingPolicy] = {
    "include": _limit_length(MAX_PATTERNS, "patterns", _TAKES_RESOURCES),
    "exclude": _limit_length(MAX_PATTERNS, "patterns", _TAKES_RESOURCES),
    "max_file_size": _limit_number(MAX_FILE_BYTES, _TAKES_RESOURCES),
    "use_ignore_files": _allow_any(),
    "default_excludes": _allow_any(),
    "mask_secrets": SettingPolicy(
        "`true`", _check_mask, "secrets would be shown to agents and kept in indexes"
    ),
    "languages": _allow_any("a table with a mistake in it is not used"),
    "query_dir": SettingPolicy(
        "a folder inside the tree, links followed", _check_query_dir, "it would show a file of yours"
    ),
    "chunk_size": _limit_number(MAX_CHUNK_BYTES, _TAKES_RESOURCES),
    "chunk_overlap": _limit_number(MAX_OVERLAP_BYTES, _TAKES_RESOURCES),
    "embedder": _check_on_use(
        "`none`, `static`, `hashing`, or a service on this machine; else an error",
        f"{_SENDS_DATA}; the model file of a stranger would be handed to native code",
    ),
    "embedder_url": _check_on_use(
        "an address on this machine, which no key is sent to; else an error",
        f"{_SENDS_DATA}, and your keys are for services that you chose",
    ),
    "embedder_dimensions": _limit_number(MAX_DIMENSIONS, _TAKES_RESOURCES),
    "embedder_batch": _limit_number(MAX_BATCH_TEXTS, _TAKES_RESOURCES),
    "embedder_timeout": _limit_number(MAX_TIMEOUT_SECONDS, _TAKES_RESOURCES),
    "embedder_query_prefix": _limit_length(MAX_PREFIX_CHARS, "characters", _TAKES_RESOURCES),
    "embedder_document_prefix": _limit_length(MAX_PREFIX_CHARS, "characters", _TAKES_RESOURCES),
    "allow_missing_vectors": _allow_any(),
    "store": _check_on_use("`embedded`, `memory`, or a server on this machine; else an error", _SENDS_DATA),
    "store_schema": SettingPolicy(
        "anything, with a server as `store`",
        _check_shared_name,
        "in a store that you chose, the tree would pick the tables that are written",
    ),
    "store_catalogue": _refuse(
        "it could be the catalogue of other indexes, and the text of the tree would go there"
    ),
    "store_repository": SettingPolicy(
        "anything, with a server as `store`",
        _check_shared_name,
        "in a store that you chose, the tree would take the place of another repository",
    ),
    # Not even with a store of the tree's: that may be the local server which has your other indexes, and a view is
    # all that is needed to overwrite or clear one. A repository has a view for each checkout, and is shared anyway.
    "store_view": _refuse("it could be the index of another checkout, which would be overwritten"),
    "store_timeout": _limit_number(MAX_TIMEOUT_SECONDS, _TAKES_RESOURCES),
    "repositories": SettingPolicy(
        "folders inside the tree, links followed",
        _check_repositories,
        "other folders of yours would be indexed and searched",
    ),
    "index_dir": SettingPolicy(
        "a relative path inside the tree, without `..` and links",
        _check_index_dir,
        "the index of another project would be overwritten or removed",
    ),
    "trust_index": _refuse("an index that comes with a tree may say anything"),
    "workers": SettingPolicy("up to the number of cores", _check_workers, _TAKES_RESOURCES),
    "profile": _allow_any(),
    "limit": _limit_number(MAX_HITS, _TAKES_RESOURCES),
    "refresh": _allow_any(),
    "hybrid": _allow_any(),
    "fusion": _allow_any(),
    "bm25_k1": _limit_number(MAX_WEIGHT, "more only drowns the other channels"),
    "bm25_b": _allow_any(),
    "lexical_weight": _limit_number(MAX_WEIGHT, "more only drowns the other channels"),
    "dense_weight": _limit_number(MAX_WEIGHT, "more only drowns the other channels"),
    "name_weight": _limit_number(MAX_WEIGHT, "more only drowns the other channels"),
    "file_weight": _limit_number(MAX_WEIGHT, "more only drowns the other channels"),
    "history_weight": _limit_number(MAX_WEIGHT, "more only drowns the other channels"),
    "disabled_features": _allow_any(),
    "min_relevance": _allow_any(),
    "show_low_confidence": _allow_any(),
    "cache": _allow_any(),
    "entity_threshold": _limit_number(MAX_HITS, _TAKES_RESOURCES),
    "max_definition_lines": _limit_number(MAX_DEFINITION_LINES, _TAKES_RESOURCES),
    "use_server": _allow_any(),
    "term_graph": _check_on_use(
        "a file inside the tree, links followed; else an error", "it would show a file of yours"
    ),
    "term_graph_max_terms": _limit_number(MAX_ADDED_TERMS, "more drowns what was asked"),
    "rewriter": _check_on_use("`none`, or a service on this machine; else an error", _SENDS_DATA),
    "rewriter_url": _check_on_use(
        "an address on this machine, which no key is sent to; else an error",
        f"{_SENDS_DATA}, and your keys are for services that you chose",
    ),
    "rewriter_timeout": _limit_number(MAX_REWRITE_SECONDS, "somebody waits for it"),
    "search_log": _refuse("whether your queries are kept is for you to decide"),
}
"""What a tree may decide about each setting."""
