"""The formulas of the benchmarks, their data, and that the page of results says what the files say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import agents, corpus, data, metrics, own_tree, quality, results
from benchmarks.__main__ import BENCHMARKS
from benchmarks.bench_types import Figure, Hit, Outcome, Query, Target, Tree
from benchmarks.engine_process import EngineProcess
from benchmarks.sets import codegrapher, locagent

from dowse.evaluation import dataset

ROOT = Path(__file__).parent.parent
OWN_TREE = "benchmarks/sets/own_tree.jsonl"
MACHINE_PATH = re.compile(r"(?<![\w.])/(home|root|tmp|work|Users|var)/|[A-Z]:\\")


# --- formulas ---


def test_entity_ids_are_path_and_qualified_name() -> None:
    assert metrics.entity_id(Hit("a/b.py", 1, 9, "Session.send")) == "a/b.py:Session.send"
    assert metrics.entity_id(Hit("a/b.py", 1, 9)) == "a/b.py"
    assert metrics.entity_id(Hit("a/b.py", 1, 9, "Session.__init__")) == "a/b.py:Session"
    assert metrics.entity_id(Hit("a/b.py", 1, 9, "__init__")) == "a/b.py:__init__"


def test_entity_rank_counts_an_entity_once() -> None:
    found = ["a:f", "a:f", "a:g", "a:f", "b:h"]
    assert metrics.reciprocal(metrics.first_rank(found, {"b:h"}, 10)) == 1 / 3
    assert metrics.reciprocal(metrics.first_rank(found, {"a:g", "b:h"}, 10)) == 1 / 2
    assert metrics.reciprocal(metrics.first_rank(found, {"b:h"}, 2)) == 0.0
    assert metrics.reciprocal(metrics.first_rank([], {"b:h"}, 10)) == 0.0


def test_recall_counts_distinct_files() -> None:
    hits = [Hit("big.py", n, n + 5) for n in range(40)] + [Hit(f"{n}.py", 1, 2) for n in range(12)]
    hits.append(Hit("late.py", 1, 2))
    assert metrics.recall_at_files(hits, ["big.py", "11.py"], 13) == 1.0
    assert metrics.recall_at_files(hits, ["big.py", "late.py"], 13) == 1 / 2
    assert metrics.recall_at_files(hits, ["nowhere.py"], 13) == 0.0


def test_ratios() -> None:
    ours, theirs = [1.0, 2.0, 30.0], [2.0, 2.0, 20.0]
    assert metrics.ratio_of_sums(ours, theirs) == (1 + 2 + 30) / (2 + 2 + 20)
    assert metrics.median_ratio(ours, theirs) == sorted([1 / 2, 2 / 2, 30 / 20])[1]


def test_percentile_is_one_of_the_values() -> None:
    values = [float(n) for n in range(100, 0, -1)]
    assert metrics.percentile(values, 0.5) == 51.0
    assert metrics.percentile(values, 0.95) == 96.0
    assert metrics.percentile([3.0], 0.99) == 3.0


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(1, 9, False), (1, 10, True), (12, 13, True), (20, 25, True), (21, 25, False)],
)
def test_a_result_touches_a_span_that_it_has_a_line_of(start: int, end: int, expected: bool) -> None:
    assert metrics.touches(Hit("a.py", start, end), {"a.py": [[10, 20]]}) is expected


def test_a_result_touches_no_span_of_another_file_and_a_whole_file_none() -> None:
    assert not metrics.touches(Hit("b.py", 10, 20), {"a.py": [[10, 20]]})
    assert not metrics.touches(Hit("a.py", None, None), {"a.py": [[10, 20]]})


def test_targets() -> None:
    assert Target("<", 20).is_met_by(19.9)
    assert not Target("<", 20).is_met_by(20)
    assert Target("<=", 20).is_met_by(20)
    assert not Target(">=", 50).is_met_by(49)


# --- sets, on data made here ---


@pytest.fixture
def bench_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    locagent._load_queries.cache_clear()
    codegrapher._load_tasks.cache_clear()
    return tmp_path


def test_locagent_rows_and_figures(bench_home: Path) -> None:
    queries = [
        {"id": "q1", "repo": "flask", "kind": "symbol", "text": "send", "gold": ["a.py:S.send"]},
        {"id": "q2", "repo": "flask", "kind": "nl", "text": "make a session", "gold": ["a.py:S"]},
    ]
    lines = [
        json.dumps({**query, "searchentity_results": [{"nid": "a.py"}, {"nid": "a.py:S"}]})
        for query in queries
    ]
    (bench_home / "locagent_queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    tree = Tree("flask", bench_home, (Query("q1", "send"), Query("q2", "make a session")))
    answers = [
        [Hit("a.py", 5, 9, "S.send")],
        [Hit("a.py", 5, 9, "S.send"), Hit("a.py", 10, 12, "S.send"), Hit("a.py", 2, 4, "S.__init__")],
    ]
    rows = locagent.rows(tree, answers)
    figures = {figure.name: figure for figure in [*locagent.figures(rows), *locagent.breakdown(rows)]}
    assert figures["MRR@10 of entities"].value == (1 + 1 / 2) / 2
    assert figures["hit@1, exact names"].value == 1.0
    assert figures["MRR@10, nl"].beside == "LocAgent's own search: 0.500"


def test_codegrapher_rows_and_figures(bench_home: Path) -> None:
    task = {"task_id": "task_001", "files_edited": ["src/a.py", "tests/test_a.py"]}
    (bench_home / "codegrapher_tasks.jsonl").write_text(json.dumps(task), encoding="utf-8")
    tree = Tree("task_001", bench_home, (Query("terms", "a"), Query("described", "fix a")))
    both = [Hit("src/a.py", 1, 2), Hit("tests/test_a.py", 1, 2)]
    first, second = codegrapher.figures(codegrapher.rows(tree, [both[:1], both]))
    assert (first.value, second.value) == (1 / 2, 1.0)


def test_queries_about_this_tree_have_answers_that_are_there() -> None:
    queries = dataset.load(ROOT / OWN_TREE).queries
    assert len(queries) == 40
    answers = {target.path for query in queries for target in query.relevant}
    assert [path for path in sorted(answers) if not (ROOT / path).is_file()] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an archive of the source has no commits")
def test_the_tree_of_the_queries_about_this_one_is_the_last_commit(tmp_path: Path) -> None:
    own_tree.export_head(tmp_path)
    assert (tmp_path / OWN_TREE).is_file()
    assert (tmp_path / ".dowseignore").is_file()
    assert not (tmp_path / ".git").exists()


def test_queries_about_this_tree_are_not_searched() -> None:
    assert OWN_TREE in (ROOT / ".dowseignore").read_text(encoding="utf-8").splitlines()


def test_quality_targets_are_of_figures_that_are_measured() -> None:
    for name, targets in quality.TARGETS.items():
        measured = json.loads((results.RESULTS / f"quality-{name}.json").read_text(encoding="utf-8"))[
            "figures"
        ]
        assert targets.keys() <= {figure["name"].partition(" (")[0] for figure in measured}


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("BENCH_TREES", raising=False)
    with pytest.raises(data.MissingDataError, match=r"set BENCH_TREES to .*README"):
        data.find_folder("BENCH_TREES")
    monkeypatch.setenv("BENCH_TREES", str(tmp_path / "nowhere"))
    with pytest.raises(data.MissingDataError, match="BENCH_TREES is not a folder"):
        data.find_folder("BENCH_TREES")


def test_overrides_become_variables_of_known_settings() -> None:
    assert quality.parse_overrides(["chunk_size=800"]) == {"DOWSE_CHUNK_SIZE": "800"}
    with pytest.raises(data.MissingDataError, match="chunk_sise"):
        quality.parse_overrides(["chunk_sise=800"])


# --- engines and trees ---


def test_an_engine_answers_in_its_own_process(tmp_path: Path) -> None:
    (tmp_path / "refresh.py").write_text("def refresh_token():\n    return 1\n", encoding="utf-8")
    with EngineProcess("dowse") as process:
        cost = process.index(tmp_path)
        (answer,) = process.search(["refresh the token"], depth=5, runs=2)
    assert cost.wall_ms > 0
    assert cost.cpu_ms > 0
    (hit,) = answer.hits
    assert (hit.path, hit.entity) == ("refresh.py", "refresh_token")
    assert "return 1" in hit.text


def test_copies_differ_in_one_line() -> None:
    content = b"import os\n\ndef read_file(path):\n    return open(path)\n"
    first, second = corpus.vary_line(content, 1), corpus.vary_line(content, 2)
    assert corpus.vary_line(content, 0) == content
    assert len({content, first, second}) == 3
    changed = [a for a, b in zip(content.split(b"\n"), first.split(b"\n"), strict=True) if a != b]
    assert changed == [b"def read_file(path):"]


# --- speed ---


def test_speed_of_any_folder_needs_no_query_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "main.py").write_text("def main():\n    return 1\n")
    for name in ("BENCH_TREES", "BENCH_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BENCH_SEMBLE_PYTHON", str(tmp_path / "missing"))
    command = [sys.executable, "-m", "benchmarks", "speed", "--runs", "1", "--tree", str(tmp_path / "tree")]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "speed: dowse alone, without semble: BENCH_SEMBLE_PYTHON is not a file" in ran.stderr
    for figure in ("indexing CPU", "indexing wall", "warm query p50", "warm command CPU"):
        assert f"| tree: {figure} |" in ran.stdout


# --- results ---


def test_a_table_shows_values_targets_and_what_was_missed() -> None:
    outcome = Outcome(
        "speed",
        "Speed",
        [Figure("ratio", 0.8, "x", Target("<=", 0.7)), Figure("start", 12.34, "ms", Target("<", 50))],
    )
    assert results.render_table(results.figures_to_dicts(outcome)).splitlines() == [
        "| figure | value | target |",
        "| --- | ---: | --- |",
        "| ratio | 0.800 x | <= 0.7 **missed** |",
        "| start | 12.3 ms | < 50 met |",
    ]


def test_the_page_of_results_is_in_step_with_the_files() -> None:
    kept = results.read_all()
    assert kept
    assert results.PAGE.read_text(encoding="utf-8") == results.render(kept)


def test_the_figures_of_the_readme_are_those_of_the_results() -> None:
    found = results.TABLE.search(results.README.read_text(encoding="utf-8"))
    assert found is not None
    assert found[0] == results.render_readme_table(results.read_all())
    assert "?" not in found[0]


def test_results_say_nothing_about_where_they_were_made() -> None:
    for path in results.RESULTS.glob("*.json"):
        assert not MACHINE_PATH.search(path.read_text(encoding="utf-8")), path.name


# --- the scripted agent ---


def test_lines_that_an_answer_shows() -> None:
    text = """src/a.py:10-14 f (function) [lexical]
def f():
... 2 lines (11-12)
    x

src/b.py:1-9 g (function) [lexical] [sent before]: def g()
src/c.md:3-4
one
two

hits 1-3, more with cursor 3.abc
index 1"""
    assert agents.parse_shown_lines(text) == {"src/a.py": {10, 13, 14}, "src/b.py": set(), "src/c.md": {3, 4}}


def test_half_of_a_cited_range_must_be_seen() -> None:
    transcript = agents.Transcript()
    transcript.add("some text", {"a.py": set(range(1, 5))})
    assert transcript.tokens > 0
    assert (
        transcript.has({"a.py": [(3, 6)]})
        and not transcript.has({"a.py": [(4, 7)]})
        and not transcript.has({"b.py": [(1, 2)]})
    )


def test_the_options_of_all_benchmarks_go_together() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert all(name in ran.stdout for name in BENCHMARKS)
