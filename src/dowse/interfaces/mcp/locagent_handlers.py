"""Handlers of the MCP tools under LocAgent's own names and arguments, which ask those of ``graph_handlers``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dowse.interfaces.mcp import graph_handlers
from dowse.interfaces.mcp.handlers import Context
from dowse.interfaces.mcp.responses import Answer

DEFAULT_PATTERN = "**/*.py"
"""The files that LocAgent searches unless told otherwise."""


def search_code_snippets(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Find code by names, words or lines."""
    given = {"file_path_or_pattern": DEFAULT_PATTERN} | dict(arguments)
    return graph_handlers.search_entities(context, _rename(given, file_path_or_pattern="file_pattern"))


def explore_tree_structure(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Walk the graph around some entities; downstream is what they use."""
    renamed = _rename(arguments, traversal_depth="depth", dependency_type_filter="relation_filter")
    return graph_handlers.traverse_graph(context, {"direction": "downstream"} | renamed)


def get_entity_contents(context: Context, arguments: Mapping[str, Any]) -> Answer:
    """Return the whole code of entities."""
    return graph_handlers.retrieve_entity(context, _rename(arguments, entity_names="entity_ids"))


def _rename(arguments: Mapping[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in arguments.items()}
