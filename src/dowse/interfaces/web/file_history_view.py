"""History of a file on its page: the newest commits, who changed each line last, and the file as a commit has it."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.engine import Engine
from dowse.interfaces.http.problems import HttpProblem
from dowse.interfaces.web.html_builder import Html, element, fill, join
from dowse.interfaces.web.page_frame import file_address
from dowse.services import file_history
from dowse.services.file_history import FileCommit

MAX_COMMITS = 30
"""Commits that the panel of a file lists."""

SHOWN_HASH = 10
"""Digits of a commit's hash that are shown, and that a link has."""

AGES = 5
"""Shades of the lines' ages in the style sheet, from the oldest to the newest commit of a window."""


def history_part(engine: Engine, repository: str, path: str) -> Html:
    """Make the panel with the newest commits of a file, the last change first."""
    commits = file_history.list_commits(engine.root, path, MAX_COMMITS)
    rows = [
        element(
            "li",
            element("a", commit.subject, href=commit_address(repository, path, commit.sha)),
            element(
                "span",
                f"{commit.day} {commit.author} {commit.sha[:SHOWN_HASH]}",
                class_="soft",
                title=commit.sha,
            ),
        )
        for commit in commits
    ]
    none = element("p", "Git knows nothing of this file.", class_="soft") if not rows else None
    title = "Last change" if len(rows) < 2 else f"The last {len(rows)} changes"
    return join(element("h2", title), none, element("ul", rows, class_="places"))


def commit_address(repository: str, path: str, commit: str, first: int = 0, last: int = 0) -> str:
    """Return the address of a file as a commit has it."""
    return file_address(repository, path, first, last, at=commit[:SHOWN_HASH])


def find_link_commit(engine: Engine, path: str) -> str:
    """Find the commit for a link that stays as it is; ``changed`` follows if the file differs from it."""
    found = engine.revision([path])
    if found is None or not found.commit:
        raise HttpProblem(404, "this repository has no commit to link to")
    return f"{found.commit[:SHOWN_HASH]}{' changed' if found.dirty else ''}"


def load_text_at(engine: Engine, path: str, commit: str) -> str:
    """Load the text of a file as a commit has it, or say that there is none."""
    text = engine.load_text_at(path, commit)
    if text is None:
        raise HttpProblem(404, f"{path} cannot be shown as of {commit[:SHOWN_HASH]}: there is no such commit here, or "
                          "the file is not in it, not in the index, or no text")  # fmt: skip
    return text


def render_blame(engine: Engine, repository: str, path: str, first: int, last: int) -> Sequence[Html]:
    """Render for each of some lines who changed it last: a text where a run of lines begins, its age everywhere."""
    commits = file_history.blame_lines(engine.root, path, first, last)
    days = sorted({commit.day for commit in commits})
    ages = {day: (AGES - 1) * place // max(1, len(days) - 1) for place, day in enumerate(days)}
    cells = []
    before: FileCommit | None = None
    for commit in commits:
        shown = _describe_change(repository, path, commit) if commit != before else None
        cells.append(fill('<span class="blame age-{}">{}</span>', str(ages[commit.day]), shown))
        before = commit
    return cells


def _describe_change(repository: str, path: str, commit: FileCommit) -> Html:
    if not commit.sha:
        return element("span", "not committed yet", class_="who")
    return element(
        "a",
        element("span", commit.day, class_="day"),
        element("span", commit.author, class_="who"),
        href=commit_address(repository, path, commit.sha),
        title=f"{commit.subject} ({commit.sha[:SHOWN_HASH]})",
    )
