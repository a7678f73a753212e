"""Query maps by fold: each repository is asked with a map that was learned without it, as a new one would be."""

from __future__ import annotations

import json
from pathlib import Path

from dowse.embedders.query_map import load_query_map
from dowse.embedders.static import load_built_in

FOLDS_FILE = "folds.json"
"""Says for each repository which map has not seen it."""


def use_fold(folds: Path, repository: str) -> None:
    """Have the built-in model use the map that was learned without a repository."""
    fold = json.loads((folds / FOLDS_FILE).read_text(encoding="utf-8"))[repository]
    load_built_in().query_map = load_query_map(folds / f"{fold}.bin")
