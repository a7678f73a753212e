"""Reports of bugs, each with the commit that mends it and what that changed: the rows of ``sets/issues.jsonl``."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import UsageError

ISSUES_FILE = Path(__file__).parent / "sets" / "issues.jsonl"

_PREFIX = re.compile(r"^(?:\[[^\]]{1,30}\]|\w{1,12}(?:\([^)]*\))?!?:)\s*")
_REFERENCE = re.compile(
    r"\s*\((?:gh-?|#|!)\s*\d+[^)]*\)"
    r"|\b(?:(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|see|refs?|issue|pr|gh)[ :]+)?(?:#\d+|https?://\S+)",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"^(?:[A-Z][\w-]+-by|fix(?:es|ed)?|close[sd]?|resolve[sd]?|refs?|see|change-id|pr|issue|bug|cc)\b:?.{0,80}$|^-{3,}$",
    re.MULTILINE | re.IGNORECASE,
)
_BLANK_LINES = re.compile(r"\n\s*\n\s*")


@dataclass(frozen=True)
class Report:
    """A report and its answers: files, and definitions as ``path:Qualified.name``, in the tree of ``base``."""

    repository: str
    commit: str
    base: str
    files: tuple[str, ...]
    functions: tuple[str, ...]
    text: str = ""  # in our own words; else the message of the commit is the report
    half: str = "decide"


def load_reports() -> list[Report]:
    """Load all reports; the half of a repository's is given with them."""
    rows = [json.loads(line) for line in ISSUES_FILE.read_text(encoding="utf-8").splitlines()]
    halves = split_repositories(row["repository"] for row in rows)
    return [
        Report(
            row["repository"],
            row["commit"],
            row["base"],
            tuple(row["files"]),
            tuple(row["functions"]),
            row.get("text", ""),
            halves[row["repository"]],
        )
        for row in rows
    ]


def split_repositories(repositories: Iterable[str]) -> dict[str, str]:
    """Split repositories in two: every other one, by name, decides; the rest only reports."""
    names = sorted(set(repositories), key=str.lower)
    return {name: ("report" if at % 2 else "decide") for at, name in enumerate(names)}


def read_report(subject: str, body: str) -> str:
    """Read the message of a commit as a report: without numbers of issues, trailers and prefixes."""
    title = _REFERENCE.sub("", _PREFIX.sub("", subject)).strip(" .,;:")
    rest = _TRAILER.sub("", _REFERENCE.sub("", body.replace("\r", "")))
    return f"{title}\n\n{_BLANK_LINES.sub(chr(10) * 2, rest).strip()}".strip()


def check_out(tree: Path, commit: str) -> None:
    """Make a work tree hold the files of a commit, and nothing else; those that the snapshot lacks are skipped."""
    run_git(tree, "update-ref", "--no-deref", "HEAD", commit)
    run_git(tree, "read-tree", "--reset", commit)
    missing = subprocess.run(
        ["git", "checkout-index", "-q", "-a", "-f", "-u"], cwd=tree, capture_output=True, check=False
    )
    if missing.returncode and b"unable to read" not in missing.stderr:
        raise UsageError(missing.stderr.decode("utf-8", "replace"))
    run_git(tree, "clean", "-ffdxq")


def run_git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return what it prints."""
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")
