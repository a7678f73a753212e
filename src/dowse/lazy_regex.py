"""Regular expressions that are compiled when they are first used: a command uses few of those that it imports."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    """Stands in for a compiled pattern; what is looked up once is kept, so that later uses cost nothing more."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)
        return value


def compile_lazily(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what ``re.compile`` does, but compile at the first use."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, int(flags)))
