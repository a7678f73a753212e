"""Arguments of MCP tools: validate them by the schema of the tool, suggest the right name for a wrong one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dowse.interfaces.mcp.tools import MIN_BUDGET_TOKENS, Tool

ARGUMENT_SYNONYMS = {
    "target": (
        "targets",
        "place",
        "path",
        "paths",
        "file",
        "file_path",
        "symbol",
        "name",
        "id",
        "entity",
        "location",
    ),
    "query": ("q", "text", "question", "pattern", "search", "term"),
    "limit": ("n", "count", "top_k", "max_results", "k"),
    "budget": ("tokens", "max_tokens", "token_budget"),
    "ask": ("action", "kind", "type", "operation", "mode"),
    "repo": ("repository", "root", "project"),
    "detail": ("format", "verbosity", "snippet_mode"),
}
"""What agents call the arguments, as other tools do."""


def complete_arguments(tool: Tool, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Complete what can only mean one thing, and say what was changed: a list of one, a budget that holds nothing."""
    completed, notes = dict(arguments), []
    for name, rules in tool.properties.items():
        if rules.get("type") == "array" and isinstance(completed.get(name), str):
            completed[name] = [completed[name]]
    budget = completed.get("budget")
    if isinstance(budget, int) and 0 < budget < MIN_BUDGET_TOKENS and "budget" in tool.properties:
        completed["budget"] = MIN_BUDGET_TOKENS
        notes.append(
            f"note: the budget was raised from {budget} to {MIN_BUDGET_TOKENS}: less has no room for code"
        )
    return completed, notes


def validate_arguments(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return what is wrong with the arguments of a call, and what would be right; empty if nothing is wrong."""
    for name, value in arguments.items():
        if name not in tool.properties:
            guess = suggest_argument(tool, name)
            hint = f"did you mean '{guess}'? It takes" if guess else "it takes"
            return f"{tool.name} has no argument '{name}': {hint} {', '.join(tool.properties)}"
        if problem := _validate_value(value, tool.properties[name]):
            return f"'{name}' {problem}"
    for name in tool.required:
        if name not in arguments:
            return f"{tool.name} needs '{name}'"
    return ""


def suggest_argument(tool: Tool, name: str) -> str:
    """Suggest the argument that a name was meant to be; empty if there is none like it."""
    for known, others in ARGUMENT_SYNONYMS.items():
        if name.lower() in others and known in tool.properties:
            return known
    return suggest_name(name, tool.properties)


def suggest_name(word: str, known: Iterable[str]) -> str:
    """Suggest the known name that another was meant to be; empty if there is none like it."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word.lower(), list(known), n=1)), "")


_JSON_TYPES: Mapping[str, tuple[type, str]] = {
    "string": (str, "text"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
    "array": (list, "a list"),
}


def _validate_value(value: Any, rules: Mapping[str, Any]) -> str:
    """Return what is wrong with one value, by the rules of its JSON Schema; empty if nothing is wrong."""
    if "enum" in rules and not (isinstance(value, str) and value in rules["enum"]):
        return f"must be one of {', '.join(rules['enum'])}"
    if "type" in rules:
        kind, words = _JSON_TYPES[rules["type"]]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            return f"must be {words}"
    if isinstance(value, int):
        low, high = rules.get("minimum", value), rules.get("maximum", value)
        return "" if low <= value <= high else f"must be from {low} to {high}"
    if isinstance(value, str | list):
        return _validate_length(value, rules)
    return ""


def _validate_length(value: str | list[Any], rules: Mapping[str, Any]) -> str:
    unit = "Length" if isinstance(value, str) else "Items"
    if len(value) < rules.get(f"min{unit}", 0):
        return "must not be empty"
    if len(value) > rules.get(f"max{unit}", len(value)):
        return f"is too long: at most {rules[f'max{unit}']}, not {len(value)}"
    if isinstance(value, list):
        return next((problem for item in value if (problem := _validate_value(item, rules["items"]))), "")
    return ""
