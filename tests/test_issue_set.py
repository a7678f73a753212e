"""The set of issue reports: its form, its halves, and that a report is searched in the tree before it was mended."""

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.issue_reports import ISSUES_FILE, check_out, load_reports, read_report, split_repositories
from benchmarks.mine_issues import mine
from training.exclusions import MEASURED_PROJECTS

from dowse import Engine

REPORTS = load_reports()
GIT = ("git", "-c", "user.name=T", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false")


def test_every_row_has_a_commit_and_what_it_changed() -> None:
    assert len(REPORTS) >= 300
    for report in REPORTS:
        assert len(report.commit) == len(report.base) == 40
        assert report.files
        assert all(name.rpartition(":")[0] in report.files for name in report.functions)
    assert max(Counter(report.commit for report in REPORTS).values()) == 1
    assert ISSUES_FILE.stat().st_size < 2_000_000


def test_no_repository_is_measured_elsewhere() -> None:
    names = {report.repository.rpartition("/")[2].lower() for report in REPORTS}
    assert not names & MEASURED_PROJECTS


def test_a_repository_is_in_one_half() -> None:
    halves = split_repositories(report.repository for report in REPORTS)
    assert all(report.half == halves[report.repository] for report in REPORTS)
    assert sorted(Counter(halves.values()).values()) == [12, 12]


@pytest.mark.parametrize(
    ("message", "report"),
    [
        ("fix(cart): totals are wrong (#12)\n\nCloses #11", "totals are wrong"),
        (
            "Totals are wrong, fixes #3\n\nThey are zero.\n\nSigned-off-by: A B <a@b>",
            "Totals are wrong\n\nThey are zero.",
        ),
    ],
)
def test_a_message_is_read_without_numbers_and_trailers(message: str, report: str) -> None:
    subject, _, body = message.partition("\n\n")
    assert read_report(subject, body) == report


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        [*GIT, *arguments], cwd=folder, capture_output=True, check=True, text=True
    ).stdout.strip()


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "shop" / "repo"
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "cart.py").write_text(
        "def add_up(prices):\n    return 0\n\n\ndef empty(cart):\n    cart.clear()\n"
    )
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Begin the shop with a cart")
    (folder / "cart.py").write_text(
        "def add_up(prices):\n    return sum(prices)\n\n\ndef empty(cart):\n    cart.clear()\n"
    )
    (folder / "later.py").write_text("LATER = True\n")
    body = "A customer who puts two things into the cart is shown that they cost nothing at all. " * 2
    git(folder, "add", "cart.py")
    git(folder, "commit", "-qm", f"The price of a cart is wrong\n\n{body}")
    return folder


def test_a_commit_is_mined_with_the_function_that_it_changed(mirror: Path) -> None:
    (row,) = mine(mirror, "a/shop")
    assert row["files"] == ["cart.py"]
    assert row["functions"] == ["cart.py:add_up"]
    assert row["base"] == git(mirror, "rev-parse", "HEAD~1")
    assert "text" not in json.dumps(row)


def test_nothing_from_after_the_commit_before_is_seen(mirror: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(mirror, "clone", "-q", "--shared", "--no-checkout", str(mirror), str(tree))
    check_out(tree, git(mirror, "rev-parse", "HEAD"))
    check_out(tree, git(mirror, "rev-parse", "HEAD~1"))
    with Engine.open(tree, index_dir=str(tmp_path / "index"), embedder="none") as engine:
        engine.index()
        history = engine.load_history()
        assert history is not None
        assert [label.partition(" ")[2] for label in history.labels] == ["Begin the shop with a cart"]
        assert "sum(prices)" not in (tree / "cart.py").read_text()
