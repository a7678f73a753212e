"""The questions that ranking is trained and measured on: their form, their split, and how their trees are had."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from benchmarks import formats
from training.exclusions import MEASURED_PROJECTS, is_measured_package
from training.trees import QUESTIONS, check_out, load_pins

from dowse.evaluation import dataset

SPLITS = ("train", "validation", "test")
CATEGORIES = frozenset("short long how topic symbol part message issue config docs test change".split())
FILES = sorted(QUESTIONS.glob("*/*.jsonl"))


def read_lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_every_repository_has_its_file_of_questions() -> None:
    named = {QUESTIONS / pin.split / f"{pin.folder_name}.jsonl" for pin in load_pins()}
    assert named == set(FILES)
    assert {pin.split for pin in load_pins()} == set(SPLITS)
    assert len(named) >= 60 and sum(len(read_lines(file)) for file in FILES) >= 1000


def test_a_commit_is_pinned_in_full() -> None:
    assert all(re.fullmatch("[0-9a-f]{40}", pin.commit) for pin in load_pins())


def test_no_measured_project_is_among_them() -> None:
    names = [pin.repository.lower() for pin in load_pins()]
    assert not [name for name in names if name.partition("/")[2] in MEASURED_PROJECTS]
    suspicious = {name for name in names if is_measured_package(name.partition("/")[2])}
    assert not suspicious


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_questions_are_what_eval_reads(file: Path) -> None:
    lines = read_lines(file)
    queries = dataset.load(file).queries
    assert len(queries) == len(lines)
    for line, query in zip(lines, queries, strict=True):
        assert line["category"] in CATEGORIES and line["checked"] in ("agreed", "changed", "no")
        assert any(target.grade == 2 for target in query.relevant)
        assert all(target.grade in (1, 2) for target in query.relevant)
        assert all(re.search(r":\d+-\d+$", str(target)) for target in query.relevant), (
            "an answer has lines, not a whole file"
        )


def test_operators_questions_are_what_the_benchmark_reads() -> None:
    pins = json.loads((formats.QUESTIONS / "repositories.json").read_text(encoding="utf-8"))
    files = {formats.QUESTIONS / f"{pin['repository'].replace('/', '+')}.jsonl": pin for pin in pins}
    assert set(files) == set(formats.QUESTIONS.glob("*.jsonl"))
    known = {pin.repository for pin in load_pins()}
    asked: Counter[str] = Counter()
    for file, pin in files.items():
        queries = dataset.load(file).queries
        assert len(queries) == pin["questions"] and pin["repository"] not in known
        assert re.fullmatch("[0-9a-f]{40}", pin["commit"])
        for query in queries:
            first = [target for target in query.relevant if target.grade == 2]
            assert first and all(target.start for target in first)
        asked[pin["split"]] += len(queries)
    assert asked == {"decide": 30, "report": 30}


def test_ids_are_distinct() -> None:
    ids = Counter(line["id"] for file in FILES for line in read_lines(file))
    assert ids.most_common(1)[0][1] == 1


def test_a_tree_is_checked_out_without_links(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = [
            "git",
            "-C",
            str(tmp_path / "origin"),
            "-c",
            "user.name=n",
            "-c",
            "user.email=e",
            *arguments,
        ]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    (tmp_path / "origin" / "src").mkdir(parents=True)
    git("init", "--quiet")
    (tmp_path / "origin" / "src" / "one.py").write_text("one = 1\n")
    (tmp_path / "origin" / "link").symlink_to("/etc/passwd")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    commit = git("rev-parse", "HEAD")
    (tmp_path / "origin" / "src" / "one.py").write_text("one = 2\n")
    git("commit", "--quiet", "-am", "second")
    written = check_out(str(tmp_path / "origin" / ".git"), commit, tmp_path / "tree")
    assert written == (1, 0)
    assert [path.name for path in (tmp_path / "tree").rglob("*")] == ["src", "one.py"]
    assert (tmp_path / "tree" / "src" / "one.py").read_text() == "one = 1\n"


def test_its_page_has_the_right_numbers() -> None:
    page = (QUESTIONS / "README.md").read_text(encoding="utf-8")
    for split in SPLITS:
        files = [file for file in FILES if file.parent.name == split]
        questions = sum(len(read_lines(file)) for file in files)
        assert f"| `{split}/` | {len(files)} | {questions} |" in page
    for category, count in Counter(line["category"] for file in FILES for line in read_lines(file)).items():
        assert f"| `{category}` | {count} |" in page
