"""The git history as evidence: files that earlier commits with similar messages changed."""

import subprocess
from pathlib import Path

import pytest

from dowse import Engine
from dowse.search import commit_index
from dowse.services import commit_log
from dowse.services.commit_log import Commit
from dowse.types.queries import Term

IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
QUERY = "retry loses the deadline when the clock jumps"


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *IDENTITY, *arguments], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(root: Path, message: str, **files: str) -> str:
    for name, text in files.items():
        (root / f"{name}.py").write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    git(root, "init", "-q")
    commit(
        root, "Begin", **{f"part_{n}": f"def part_{n}():\n    return {n}\n" for n in range(3)}, wait="x = 1\n"
    )
    commit(
        root,
        "Keep the deadline of a retry when the clock jumps",
        wait="def pause(seconds):\n    return seconds\n",
    )
    commit(
        root, "Bump the version to 2 for the clock and the deadline", part_0="def part_0():\n    return 9\n"
    )
    return root


def shown(engine: Engine) -> list[str]:
    return [hit.path for hit in engine.search(QUERY).results]


def test_a_file_that_a_similar_commit_changed_is_found_and_the_commit_named(root: Path) -> None:
    with Engine.open(root, embedder="none", show_low_confidence=True) as engine:
        first = engine.search(QUERY).results[0]
    assert first.path == "wait.py"
    (said,) = (reason.detail for reason in first.reasons if reason.name == "history")
    assert "Keep the deadline of a retry" in said


def test_what_is_switched_off_is_not_read(root: Path) -> None:
    with Engine.open(root, embedder="none", history_weight=0.0) as engine:
        assert "wait.py" not in shown(engine)
        assert "history" not in [report.name for report in engine.search(QUERY).channels]


def test_nothing_after_the_commit_that_is_checked_out_is_seen(root: Path) -> None:
    with Engine.open(root, embedder="none", show_low_confidence=True) as engine:
        assert shown(engine)[:1] == ["wait.py"]
        git(root, "checkout", "-q", "HEAD~2")
        assert "wait.py" not in shown(engine)
        git(root, "checkout", "-q", "-")
        assert shown(engine)[:1] == ["wait.py"]


def test_new_commits_are_added_to_those_that_are_known(root: Path) -> None:
    with Engine.open(root, embedder="none") as engine:
        engine.index()
        before = engine.load_history()
        newest = commit(root, "Let part two fail loudly", part_2="raise SystemExit\n")
        after = engine.load_history()
    assert before is not None and after is not None
    assert after.head == newest
    assert [label.partition(" ")[2] for label in after.labels] == [
        "Let part two fail loudly",
        *(label.partition(" ")[2] for label in before.labels),
    ]
    whole = commit_index.build(newest, commit_log.read_commits(root))
    assert after == whole


def test_a_tree_without_git_has_no_history(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def retry_deadline_clock(): pass\n")
    with Engine.open(tmp_path, embedder="none") as engine:
        assert engine.load_history() is None
        assert "history" not in [report.name for report in engine.search(QUERY).channels]


def test_routine_and_bulk_commits_say_nothing(root: Path) -> None:
    commit(root, "Rename the deadline everywhere", **{f"bulk_{n}": f"deadline = {n}\n" for n in range(30)})
    subjects = [one.subject for one in commit_log.read_commits(root)]
    assert subjects == ["Keep the deadline of a retry when the clock jumps", "Begin"]


def test_an_index_is_packed_and_unpacked_and_what_is_not_whole_is_none() -> None:
    commits = [
        Commit("a" * 40, "Fix the socket", "It leaked.", ("a/b.py", "c.py")),
        Commit("b" * 40, "Add c", "", ("c.py",)),
    ]
    index = commit_index.build("a" * 40, commits)
    blob = commit_index.pack(index)
    assert commit_index.unpack(blob) == index
    assert commit_index.unpack(None) is None
    for cut in range(0, len(blob), 7):
        assert commit_index.unpack(blob[:cut]) is None


def test_more_commits_and_rarer_words_say_more() -> None:
    one = Commit("a" * 40, "Close the socket", "", ("socket.py",))
    two = Commit("b" * 40, "Close the file of the socket", "", ("file.py",))
    index = commit_index.build("h", [one, one, two, Commit("c" * 40, "Close the window", "", ("window.py",))])
    rated = index.rate_files([Term("close", 1.0), Term("socket", 1.0)])
    assert rated["socket.py"].score > rated["file.py"].score > rated["window.py"].score
    assert rated["socket.py"].commits == (0, 1)
    assert all(0.0 < evidence.score <= 1.0 for evidence in rated.values())
