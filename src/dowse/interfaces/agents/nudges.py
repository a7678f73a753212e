"""Agent hooks: what an agent is told when a session starts, and when it greps for code that search finds better.

A hook gets an event as JSON and answers with JSON, or with nothing. It never blocks a tool.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dowse import settings

START = (
    "This code base has a dowse index, always up to date. Find code with its `search` tool (plain words or a name) "
    "before grep or opening files; `locate` takes an error as it was printed; `graph` knows callers and tests; "
    "`changes` knows why code is as it is."
)

MAX_EVENT_BYTES = 1_000_000

_DEFINITION = re.compile(
    r"\b(?:def|class|function|func|fn|interface|struct|trait|enum|module|type)\b\W{0,8}\w{3,}"
)
_PROSE = re.compile(r"[A-Za-z]{3,}(?:(?:\.\*|[ |]|\\\||\\s[+*]?)+[A-Za-z]{3,})+")
_EXACT = frozenset({"-c", "--count", "-l", "--files-with-matches", "-L", "-F", "--fixed-strings"})
_SEARCHERS = frozenset({"grep", "egrep", "rg", "ag", "ack"})


def answer_event(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a hook answers to an event; None to say nothing."""
    name = event.get("hook_event_name")
    if name == "SessionStart":
        return _add_context("SessionStart", START)
    if name != "PreToolUse":
        return None
    pattern = find_pattern(str(event.get("tool_name", "")), event.get("tool_input"))
    if not pattern or not suits_search(pattern) or not _is_first(str(event.get("session_id", ""))):
        return None
    words = " ".join(dict.fromkeys(re.findall(r"[A-Za-z_]\w{2,}", pattern)))[:100]
    text = f'The dowse `search` tool finds this in one call, by name and by meaning, with its code: query "{words}".'
    return _add_context("PreToolUse", text)


def _add_context(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def find_pattern(tool: str, given: object) -> str:
    """Find the pattern that a tool is about to look for in files; empty if it does not, or counts or lists only."""
    if not isinstance(given, Mapping):
        return ""
    if tool == "Grep":
        counts = given.get("output_mode") == "count"
        return "" if counts else str(given.get("pattern", ""))
    if tool != "Bash":
        return ""
    try:
        words = shlex.split(str(given.get("command", "")).split("|")[0])
    except ValueError:
        return ""
    at = next((n for n, word in enumerate(words) if Path(word).name in _SEARCHERS), None)
    if at is None or _EXACT.intersection(words[at:]):
        return ""
    return next((word for word in words[at + 1 :] if not word.startswith("-")), "")


def suits_search(pattern: str) -> bool:
    """Return whether search answers better than a pattern: it looks for a definition, or for one of several words."""
    return bool(_DEFINITION.search(pattern) or _PROSE.search(pattern))


def _is_first(session: str) -> bool:
    """Return whether a session was not nudged yet, and remember that it is now: once is enough."""
    if not session:
        return True
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    mark = settings.user_cache_dir() / "agents" / "nudged" / digest
    if mark.exists():
        return False
    with suppress(OSError):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    return True
