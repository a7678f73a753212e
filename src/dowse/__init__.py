"""Hybrid code search engine as a library: find code by what it does and by what it is called.

The public Python API (``Engine``, ``Settings``, ``Filter``, ``SearchOptions``, responses and errors), imported lazily.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in ``typing``, which takes longer to import than a running server to answer
if TYPE_CHECKING:
    from dowse.engine import Engine as Engine
    from dowse.errors import DowseError as DowseError
    from dowse.settings import Settings as Settings
    from dowse.types.answers import SearchOptions as SearchOptions
    from dowse.types.answers import SearchResponse as SearchResponse
    from dowse.types.answers import SearchResult as SearchResult
    from dowse.types.stored import Filter as Filter

__version__ = "0.1.0"

_HOMES = {
    "Engine": "dowse.engine",
    "DowseError": "dowse.errors",
    "Settings": "dowse.settings",
    "Filter": "dowse.types.stored",
    "SearchOptions": "dowse.types.answers",
    "SearchResponse": "dowse.types.answers",
    "SearchResult": "dowse.types.answers",
}

__all__ = [
    "DowseError",
    "Engine",
    "Filter",
    "SearchOptions",
    "SearchResponse",
    "SearchResult",
    "Settings",
    "__version__",
]


def __getattr__(name: str) -> object:
    """Import public names when they are first used: ``dowse --help`` must not load the engine."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'dowse' has no attribute '{name}'")
