"""Configuration schema: every setting with its default, type, range and choices, and the validation of values.

Where values come from is the business of ``settings``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from dowse.errors import SettingsError
from dowse.frozen import frozen

ENVIRONMENT_PREFIX = "DOWSE_"

FEATURE_GROUPS = (
    "lexical",
    "dense",
    "names",
    "files",
    "phrases",
    "history",
    "fused",
    "file_name",
    "definition",
    "file_role",
    "format",
    "file_shape",
    "file_vectors",
    "coverage",
    "soft_coverage",
    "phrase",
    "place",
    "report",
    "test_partner",
    "proximity",
)
"""The groups of ranking features that can be switched off, and the two steps that add candidates."""


NOTHING: Mapping[str, Any] = {}


@frozen
class Settings:
    """All settings with their defaults, as one frozen value. Units are in the names or beside the field."""

    # what is indexed
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_size: int = 1_000_000  # bytes
    use_ignore_files: bool = True
    default_excludes: bool = True
    mask_secrets: bool = True
    languages: Mapping[str, Mapping[str, Any]] = NOTHING
    query_dir: str = ""  # folder with LANGUAGE.scm; "" = .dowse/queries

    # how it is cut and embedded
    chunk_size: int = 1000  # bytes
    chunk_overlap: int = 0  # bytes
    embedder: str = "static"
    embedder_url: str = ""  # "" = the provider's usual address
    embedder_dimensions: int = 0  # 0 = as many as the model has
    embedder_batch: int = 64  # texts per request or run of the model
    embedder_timeout: float = 60.0  # seconds
    embedder_query_prefix: str = "auto"  # "auto" = what the model expects
    embedder_document_prefix: str = "auto"
    allow_missing_vectors: bool = False  # index without vectors if the embedder fails

    # where it lives
    store: str = "embedded"  # or "memory", or the address of a server: "postgresql://host/database"
    store_schema: str = "dowse"
    store_catalogue: str = ""  # of a cluster: the PostgreSQL database with the catalogue
    store_repository: str = ""  # what the tree is called there; "" = by its git remote, or by its folder
    store_view: str = ""  # what this checkout is called there; "" = by machine and folder
    store_timeout: float = 30.0  # seconds that a statement may take
    repositories: Mapping[str, str] = NOTHING  # other trees by name; relative to the root
    index_dir: str = ""  # "" = .dowse in the root, or the user cache if that is not ours or cannot be written
    trust_index: bool = False  # use the index that is there, whoever made it
    workers: int = 0  # processes that parse; 0 = as many as there are cores

    # how it is searched
    profile: str = "dowse"  # how hits are ranked: "dowse", or "locagent" to compare with LocAgent
    limit: int = 10
    refresh: bool = True  # notice changed files at query time
    hybrid: str = "auto"  # whether meaning counts beside words: "auto" (by the query), "on" or "off"
    fusion: str = "learned"  # or plain fusion of the channels: "scores", "rrf" or "zscore"
    bm25_k1: float = 1.2  # how soon more of a word counts no more; the embedded store can do no other
    bm25_b: float = 0.75  # how much the length of a chunk counts, from 0 to 1; likewise
    lexical_weight: float = 1.0
    dense_weight: float = 0.2
    name_weight: float = 0.3
    file_weight: float = 1.0
    history_weight: float = 0.3  # 0: the git history is not read
    disabled_features: tuple[str, ...] = ()
    min_relevance: float = 0.0  # hits of less relevance are skipped
    show_low_confidence: bool = False  # show all hits even if none is good
    cache: str = "all"  # answers given before: "all", only the "exact" same query, or "off"
    entity_threshold: int = 5  # fewer entities found by name than this: their contents are searched too
    max_definition_lines: int = 50  # an enclosing definition of up to this many lines is shown whole
    use_server: bool = True  # a search command has a running server of the tree answer, if there is one

    # what becomes of a query before it is searched for
    term_graph: str = ""  # file with the term graph, relative to the root; "" = none
    term_graph_max_terms: int = 10  # that it adds to a query, at most
    rewriter: str = "none"  # what rewrites queries: ollama:MODEL or openai:MODEL
    rewriter_url: str = ""  # "" = the provider's usual address
    rewriter_timeout: float = 5.0  # seconds
    search_log: bool = False  # keep a local list of queries for 'dowse terms suggest'

    def index_fingerprint(self, **versions: object) -> str:
        """Hash the settings that change an index (and the versions given): another hash means a rebuild."""
        relevant = {name: getattr(self, name) for name in _INDEX_SETTINGS} | versions
        return hashlib.sha256(json.dumps(relevant, sort_keys=True, default=list).encode()).hexdigest()[:16]

    def content_key(self) -> str:
        """Write the settings that change how a content is indexed as text, which is part of every content hash."""
        return json.dumps(
            {name: getattr(self, name) for name in _CONTENT_SETTINGS}, sort_keys=True, default=list
        )


_CONTENT_SETTINGS = ("chunk_size", "chunk_overlap", "languages", "mask_secrets")
"""The settings that change how the content of a file is indexed."""

_INDEX_SETTINGS = (
    "include", "exclude", "max_file_size", "use_ignore_files", "default_excludes", "mask_secrets", "languages",
    "chunk_size", "chunk_overlap", "embedder",
)  # fmt: skip
"""The settings that change what an index holds."""

FIELDS: tuple[str, ...] = Settings.__match_args__
_CHOICES = {
    "profile": ("dowse", "locagent"),
    "fusion": ("learned", "scores", "rrf", "zscore"),
    "hybrid": ("auto", "on", "off"),
    "cache": ("all", "exact", "off"),
}
_MINIMUM_VALUES = {
    "max_file_size": 1,
    "chunk_size": 100,
    "chunk_overlap": 0,
    "limit": 1,
    "max_definition_lines": 1,
    "entity_threshold": 0,
    "workers": 0,
    "term_graph_max_terms": 0,
    "embedder_dimensions": 0,
    "embedder_batch": 1,
    "embedder_timeout": 0.1,
    "store_timeout": 0.1,
    "rewriter_timeout": 0.1,
    "bm25_k1": 0.0,
    "bm25_b": 0.0,
    "lexical_weight": 0.0,
    "dense_weight": 0.0,
    "name_weight": 0.0,
    "file_weight": 0.0,
    "history_weight": 0.0,
    "min_relevance": 0.0,
}
_MAXIMUM_VALUES = {
    "max_file_size": 1_000_000_000,  # a file is read as a whole, and several times that large while it is indexed
    "bm25_b": 1.0,
    "min_relevance": 1.0,
}


_BOOLEANS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


def parse_text(key: str, text: str) -> Any:
    """Parse a value written as text: in the environment, or as ``key=value`` on a command line."""
    default = getattr(Settings(), key)
    try:
        if isinstance(default, bool):
            return _BOOLEANS[text.lower()]
        if isinstance(default, tuple):
            return tuple(part.strip() for part in text.split(",") if part.strip())
        if key == "repositories":
            pairs = (part.partition("=") for part in text.split(",") if part.strip())
            return {name.strip(): path.strip() for name, _, path in pairs}
        return type(default)(text) if isinstance(default, int | float) else text
    except (KeyError, ValueError):
        raise SettingsError(
            f"{ENVIRONMENT_PREFIX}{key.upper()}={text}: not a valid {type(default).__name__}"
        ) from None


_TYPE_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple: "a list of strings",
    dict: "a table",
}
"""What the types of settings are called in messages."""


def check_value(key: str, value: Any, origin: str) -> Any:
    """Return a value in the type of its setting; raise an error that says what would be right."""
    if key not in FIELDS:
        close = get_close_matches(key, FIELDS, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "see 'dowse config show' for the known ones"
        raise SettingsError(f"unknown setting '{key}' in {origin}: {hint}")
    default = getattr(Settings(), key)
    if (
        isinstance(default, tuple)
        and isinstance(value, list | tuple)
        and all(isinstance(v, str) for v in value)
    ):
        value = tuple(value)
    elif isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    elif key == "repositories" and not _is_folder_table(value):
        raise SettingsError(
            f"setting '{key}' in {origin} must be a table of names and folders, not {value!r}"
        )
    elif type(value) is not type(default):
        raise SettingsError(
            f"setting '{key}' in {origin} must be {_TYPE_NAMES[type(default)]}, not {value!r}"
        )
    if key in _MINIMUM_VALUES and not _MINIMUM_VALUES[key] <= value < float("inf"):  # "nan" is neither
        raise SettingsError(
            f"setting '{key}' in {origin} must be at least {_MINIMUM_VALUES[key]}, not {value}"
        )
    if key in _CHOICES and value not in _CHOICES[key]:
        raise SettingsError(
            f"setting '{key}' in {origin} must be one of {', '.join(_CHOICES[key])}, not {value!r}"
        )
    if key == "disabled_features" and (unknown := set(value) - set(FEATURE_GROUPS)):
        known = ", ".join(FEATURE_GROUPS)
        raise SettingsError(f"unknown group of features '{min(unknown)}' in {origin}: known are {known}")
    return value


def check_maximum(key: str, value: Any, origin: str) -> Any:
    """Return a value unless it is larger than anybody may set it; what a tree may set is in ``tree_settings``."""
    if key in _MAXIMUM_VALUES and value > _MAXIMUM_VALUES[key]:
        raise SettingsError(
            f"setting '{key}' in {origin} must be at most {_MAXIMUM_VALUES[key]}, not {value}"
        )
    return value


def _is_folder_table(value: Any) -> bool:
    return isinstance(value, dict) and all(
        name and isinstance(path, str) and path for name, path in value.items()
    )
