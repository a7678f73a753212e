"""Issue reports: read as text and, where they hold a trace, as output; boilerplate and marks are no words."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Engine
from dowse.search.query.issue_text import read_issue

PROSE = """The scheduler drops a job when two of them are due within the same second, which is what
happens every day at midnight for us. It worked with the release before this one, and nothing
else in our set-up was changed in the meantime.
"""
TRACE = """Traceback (most recent call last):
  File "/srv/app/shop/runner.py", line 6, in run
    due = pick(jobs)
  File "/srv/app/shop/queue.py", line 3, in pick
    return heap[0]
IndexError: nothing is due at this moment
"""
REPORT = f"""Jobs of the same second are dropped

**Describe the bug**
<!-- Please search for open issues first -->
{PROSE}
- [x] I have searched the open issues
  for the same problem in another release

```python
scheduler = Scheduler(self.clock)
scheduler.__init__(timezone="UTC")
```

{TRACE}
Python: 3.11.4
Operating system: Linux 6.1.0
"""


def test_the_parts_of_a_report() -> None:
    issue = read_issue(REPORT)
    assert issue is not None
    assert issue.title == "Jobs of the same second are dropped"
    assert "scheduler drops a job" in issue.prose
    assert "Describe the bug" in issue.prose
    assert "*" not in issue.prose
    assert "search" not in issue.prose, "comments and check boxes are the template's"
    assert "another release" not in issue.text
    assert "3.11.4" not in issue.text
    assert "Scheduler(self.clock)" in issue.code
    assert "heap[0]" not in issue.text
    assert issue.message == "IndexError: nothing is due at this moment"


@pytest.mark.parametrize(
    "text",
    [
        TRACE,
        "where is a job dropped that is due in the same second as another one of them",
        "def f():\n    return 1\n",
        "two lines\nof a query",
    ],
)
def test_output_and_queries_are_no_reports(text: str) -> None:
    assert read_issue(text) is None


@pytest.mark.parametrize(
    "name", ["address_sanitizer", "sanitizer_double_free", "valgrind", "valgrind_free", "tsc"]
)
def test_the_sentences_of_a_program_make_no_report(name: str) -> None:
    text = (Path(__file__).parent / "output_samples" / f"{name}.txt").read_text(encoding="utf-8")
    assert read_issue(text) is None
    assert read_issue(f"npm warn This will stop working in the next major version of it.\n\n{text}") is None
    assert read_issue(f"Since the last release our nightly job fails.\n\n{PROSE}\n{text}") is not None


def test_prose_without_any_mark_or_output_is_a_query() -> None:
    assert read_issue(PROSE) is None


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    root = tmp_path / "tree"
    (root / "shop").mkdir(parents=True)
    (root / "shop" / "runner.py").write_text("\n\n\n\ndef run(jobs):\n    due = pick(jobs)\n")
    (root / "shop" / "queue.py").write_text("def pick(heap):\n    '''Pick.'''\n    return heap[0]\n")
    (root / "shop" / "scheduler.py").write_text(
        "class Scheduler:\n    '''Runs jobs when they are due.'''\n\n    def add_job(self, job, second):\n"
        "        '''Keep a job for a second; a scheduler drops none.'''\n        self.jobs[second] = job\n"
    )
    (root / "shop" / "clock.py").write_text("def midnight():\n    return 0\n")
    with Engine.open(root, embedder="none", show_low_confidence=True) as engine:
        yield engine


def test_both_the_text_and_the_trace_of_a_report_count(engine: Engine) -> None:
    response = engine.search(REPORT)
    assert response.query.type == "issue"
    assert response.query.message == "IndexError: nothing is due at this moment"
    assert [frame.line for frame in response.query.frames] == [3, 6]
    paths = [hit.path for hit in response.results]
    assert paths[0] == "shop/scheduler.py", "what the prose is about, not where it shows"
    assert {"shop/queue.py", "shop/runner.py"} < set(paths)


def test_a_long_text_has_more_candidates_than_a_short_one(tmp_path: Path) -> None:
    words = [f"{first}{last}" for first in "bdfgklmnprst" for last in ("ando", "emil")]
    for n in range(200):
        (tmp_path / f"part_{n}.py").write_text(f"# {words[n % 20]} {words[(n + 1) % 20]}\n")
    with Engine.open(tmp_path, embedder="none", show_low_confidence=True) as engine:
        counts = [
            report.hits
            for text in (" ".join(words[:20]), " ".join(words))
            for report in engine.search(text).channels
            if report.name == "lexical"
        ]
    assert counts == [50, 150]


def test_special_methods_and_receivers_are_no_names(engine: Engine) -> None:
    names = engine.search(REPORT).query.names
    assert not [name for name in names if "__" in name or name.startswith("self")]


def test_a_line_that_is_named_in_words_is_the_place(tmp_path: Path) -> None:
    (tmp_path / "tally.pl").write_text("use strict;\n" * 40 + "sub half { return 10 / $_[0]; }\n")
    (tmp_path / "zero.md").write_text("Illegal division by zero is what happens at last.\n")
    with Engine.open(tmp_path, embedder="none") as engine:
        first = engine.search("Illegal division by zero at /srv/tally.pl line 41.").results[0]
    assert (first.path, first.start_line <= 41 <= first.end_line) == ("tally.pl", True)
