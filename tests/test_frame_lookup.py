"""Places that a query names: the output of programs leads to the lines it is about."""

import subprocess
import sys
from pathlib import Path

import pytest

from dowse import Engine

TRACE = """\
Traceback (most recent call last):
  File "/home/someone/project/src/app/main.py", line 6, in run
    return load(path)
  File "/home/someone/project/src/app/store.py", line 3, in load
    raise ValueError("no such table: customers")
ValueError: no such table: customers
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src" / "app").mkdir(parents=True)
    (root / "src" / "app" / "main.py").write_text(
        "from app.store import load\n\n\ndef run(path):\n    '''Start.'''\n    return load(path)\n"
    )
    (root / "src" / "app" / "store.py").write_text(
        "def load(path):\n    if not path:\n        raise ValueError('no such table: customers')\n    return path\n"
    )
    (root / "src" / "app" / "tables.py").write_text("def customers():\n    '''The table of customers.'''\n")
    return root


def test_frames_come_first_innermost_first(root: Path) -> None:
    with Engine.open(root) as engine:
        response = engine.search(TRACE)
    assert response.query.type == "output"
    assert [(r.path, r.entity) for r in response.results[:2]] == [
        ("src/app/store.py", "load"),
        ("src/app/main.py", "run"),
    ]
    assert any(reason.name == "places" for reason in response.results[0].reasons)
    assert "src/app/tables.py" in {result.path for result in response.results}, (
        "what went wrong is searched for too"
    )


def test_frames_of_unknown_files_do_no_harm(root: Path) -> None:
    trace = TRACE.replace("/home/someone/project/src/app/", "/usr/lib/elsewhere/other_")
    with Engine.open(root) as engine:
        assert "src/app/store.py" in {result.path for result in engine.search(trace).results}


SHELF = "\n\n".join(f"def item_{n}():\n    return {n}\n" for n in range(1, 9))


@pytest.mark.parametrize(
    "question",
    ["src/app/shelf.py:10", "shelf.py:10:5", "what is at app/shelf.py:10 for", "./src/app/shelf.py:10"],
)
def test_a_line_that_a_question_names_is_the_answer(root: Path, question: str) -> None:
    (root / "src" / "app" / "shelf.py").write_text(SHELF)
    (root / "src" / "app" / "ten.py").write_text("def at_10():\n    '''What 10 is for.'''\n")
    with Engine.open(root) as engine:
        response = engine.search(question)
    first = response.results[0]
    assert (first.path, first.entity, first.relevance) == ("src/app/shelf.py", "item_3", 1.0)
    assert first.start_line <= 10 <= first.end_line
    assert response.query.type != "output"


def test_what_a_line_is_in_is_pointed_at_whatever_else_is_named(root: Path) -> None:
    (root / "src" / "app" / "shelf.py").write_text(SHELF)
    with Engine.open(root) as engine:
        first = engine.search("src/app/shelf.py:10:5: error: item_5 redefined").results[0]
    assert (first.path, first.entity) == ("src/app/shelf.py", "item_3")


def test_words_of_a_message_lift_no_file_above_the_places(root: Path) -> None:
    (root / "src" / "app" / "types.py").write_text(
        "\n\n".join(f"def mismatched_types_{n}():\n    '''mismatched types'''\n" for n in range(20))
    )
    output = "error[E0308]: mismatched types\n  --> src/app/main.py:6:9\n"
    with Engine.open(root) as engine:
        assert engine.search(output).results[0].path == "src/app/main.py"


def test_a_file_of_the_same_name_elsewhere_is_less_sure(root: Path) -> None:
    trace = TRACE.replace("/home/someone/project/src/app/store.py", "/opt/other/lib/tables.py")
    with Engine.open(root) as engine:
        results = engine.search(trace).results
    assert results[0].path == "src/app/main.py"
    assert all(hit.relevance < 1 for hit in results if hit.path == "src/app/tables.py")


@pytest.mark.parametrize(
    ("word", "path"), [("Dockerfile", "Dockerfile"), ("README", "README.md"), ("rules.l", "src/rules.l")]
)
def test_a_word_that_is_a_file_brings_it_in(root: Path, word: str, path: str) -> None:
    (root / "Dockerfile").write_text("FROM scratch\n")
    (root / "README.md").write_text("# A project\n")
    (root / "src" / "rules.l").write_text("%%\n[a-z]+ { return WORD; }\n")
    (root / "build.py").write_text(f"def build():\n    return 'Dockerfile README rules.l {word}'\n" * 5)
    with Engine.open(root) as engine:
        response = engine.search(word)
    assert response.results[0].path == path
    assert "files" in {reason.name for reason in response.results[0].reasons}


def test_a_question_is_not_taken_for_output(root: Path) -> None:
    with Engine.open(root) as engine:
        assert engine.search("where is the table of customers").query.type == "words"


def test_locate_reads_standard_input(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dowse", "locate", "--root", str(root), "-n", "1"],
        input=TRACE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.startswith(("src/app/store.py:1-4: load", f"{root}"))


def searched(root: Path, *args: str) -> str:
    """What a search prints that is made in the root: seen from elsewhere, paths are longer."""
    command = [sys.executable, "-m", "dowse", "search", *args]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def test_a_budget_is_kept(root: Path) -> None:
    short, long = (searched(root, "customers table", "--budget", budget) for budget in ("40", "400"))
    assert 0 < len(short) < len(long)
    assert "tables.py" in short


def test_details(root: Path) -> None:
    ids, signature = (searched(root, "customers", "-n", "1", "--detail", to) for to in ("ids", "signature"))
    path = str(Path("src/app/tables.py"))
    assert ids.splitlines() == [f"{path}:1-2"]
    assert signature.splitlines() == [f"{path}:1-2 customers (function): def customers()"]
