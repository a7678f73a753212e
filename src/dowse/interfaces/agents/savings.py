"""Savings log: what agents were sent, and what reading the files whole would have taken; a local file, off by default.

The log exists from ``dowse agent stats --on`` to ``--off``. It has no code and no queries; nothing is sent anywhere.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from dowse import safe_files, settings
from dowse.search.output.token_estimate import estimate_tokens

READ_LINES = 2000
"""Lines of a file that an agent reads at once when it opens it."""

MAX_LOG_BYTES = 5_000_000
"""Size of the log; when it is larger, no more is written."""

MAX_FILE_BYTES = 5_000_000


class LoggedCall(NamedTuple):
    """A call of a tool: when, which, the tokens of its answer, and those of the files that it is about."""

    time: float
    tool: str
    returned: int
    files: int


class ToolSavings(NamedTuple):
    """What the calls of a tool came to."""

    tool: str
    calls: int
    returned: int
    files: int


def find_log() -> Path:
    """Return where the log is, or would be."""
    return settings.user_cache_dir() / "agents" / "calls.jsonl"


def switch(on: bool) -> None:
    """Begin a log, or remove it."""
    path = find_log()
    if on:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch()
    else:
        path.unlink(missing_ok=True)


def log_call(tool: str, text: str, values: Mapping[str, Any], roots: Sequence[Path]) -> None:
    """Append a call, if there is a log. One that cannot be written is no reason to fail a call."""
    path = find_log()
    with suppress(OSError):
        if not path.is_file() or path.stat().st_size > MAX_LOG_BYTES:
            return
        files = sum(_count_tokens(name, roots) for name in _list_files(values))
        entry = LoggedCall(round(time.time(), 1), tool, estimate_tokens(text), files)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry._asdict()) + "\n")


def _list_files(values: Mapping[str, Any]) -> list[str]:
    """List the files of an answer's hits, each once."""
    hits = values.get("hits", ())
    places = (str(hit.get("at", "")) for hit in hits if isinstance(hit, Mapping))
    return list(dict.fromkeys(place.rpartition(":")[0] or place for place in places))


def _count_tokens(name: str, roots: Sequence[Path]) -> int:
    """Estimate the tokens of a file as an agent would open it; a repository may stand before the path."""
    for candidate in (name, name.partition(":")[2]):
        for root in roots:
            with suppress(OSError, ValueError):
                content = safe_files.read_regular(root / candidate, MAX_FILE_BYTES)
                lines = islice(content.decode("utf-8", "replace").splitlines(keepends=True), READ_LINES)
                return estimate_tokens("".join(lines))
    return 0


def read_log() -> Iterator[LoggedCall]:
    """Read the calls in their order; corrupt lines are skipped."""
    with suppress(OSError):
        for line in find_log().read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, TypeError):
                call = LoggedCall(**json.loads(line))
                if isinstance(call.tool, str) and all(
                    isinstance(n, int) for n in (call.returned, call.files)
                ):
                    yield call


def add_up(calls: Iterable[LoggedCall]) -> list[ToolSavings]:
    """Add up the calls of each tool, the most used first."""
    counts: Counter[str] = Counter()
    tokens: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for call in calls:
        counts[call.tool] += 1
        tokens[call.tool][0] += call.returned
        tokens[call.tool][1] += call.files
    return [ToolSavings(tool, count, *tokens[tool]) for tool, count in counts.most_common()]
