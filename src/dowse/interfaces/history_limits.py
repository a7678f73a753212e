"""Limits of what clients from elsewhere see of the git history: what is skipped is not shown as it was either."""

from __future__ import annotations

from dowse.engine import Engine
from dowse.frozen import replace
from dowse.types.commit_values import CommitHit, HistoryAnswer


def hide_skipped_files(engine: Engine, answer: HistoryAnswer) -> HistoryAnswer:
    """Drop the hunks of files that are not in the index from the commits of an answer."""
    return replace(answer, commits=tuple(_keep_indexed(engine, commit) for commit in answer.commits))


def _keep_indexed(engine: Engine, commit: CommitHit) -> CommitHit:
    return commit._replace(hunks=tuple(hunk for hunk in commit.hunks if engine.load_file(hunk.path)))
