"""Ground truth in its formats."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from dowse.errors import UsageError
from dowse.evaluation import dataset, leaks
from dowse.evaluation.eval_types import EvalQuery, GoldTarget

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/groundtruth.schema.json").read_text("utf-8"))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("src/a.py", GoldTarget("src/a.py")),
        ("./src\\a.py", GoldTarget("src/a.py")),
        ("src/a.py:12", GoldTarget("src/a.py", 12, 12)),
        ("src/a.py:12-30", GoldTarget("src/a.py", 12, 30)),
        ("src/a.py:Class.method", GoldTarget("src/a.py", entity="Class.method")),
        ("src/a.cc:ns::f", GoldTarget("src/a.cc", entity="ns::f")),
        ("Makefile", GoldTarget("Makefile")),
        ("docs/Makefile:all", GoldTarget("docs/Makefile", entity="all")),
    ],
)
def test_targets_are_files_lines_or_definitions(text: str, expected: GoldTarget) -> None:
    assert dataset.parse_target(text) == expected
    assert dataset.parse_target(str(expected)) == expected


def test_json_lines(tmp_path: Path) -> None:
    lines = [
        {"query": "a", "relevant": ["x.py"], "category": "c", "cursor_file": "y.py"},
        {
            "id": "two",
            "query": "b",
            "relevant": [{"path": "x.py", "start_line": 3, "end_line": 4, "grade": 2}],
        },
        {"query": "c", "relevant": [{"target": "x.py:F.g", "grade": 3}]},
    ]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    found = dataset.load(write(tmp_path, "t.jsonl", "\n".join(map(json.dumps, lines)) + "\n\n"))
    first, second, third = found.queries
    assert (first.id, first.category, first.cursor_file) == ("1", "c", "y.py")
    assert (second.id, second.relevant) == ("two", (GoldTarget("x.py", 3, 4, grade=2),))
    assert third.relevant == (GoldTarget("x.py", entity="F.g", grade=3),)
    assert not found.suffix_paths


@pytest.mark.parametrize("key", ["queries", "questions"])
def test_one_object_that_holds_all(tmp_path: Path, key: str) -> None:
    text = json.dumps({key: [{"query": "a", "relevant": ["x.py"]}]}, indent=1)
    assert [query.query for query in dataset.load(write(tmp_path, "t.json", text)).queries] == ["a"]


def test_what_is_dumped_loads_again(tmp_path: Path) -> None:
    queries = (
        EvalQuery(
            "a",
            "how é",
            (GoldTarget("x.py", entity="F"), GoldTarget("y.py", 1, 2, grade=2)),
            "docs",
            source="docs",
        ),
        EvalQuery("b", "why", (GoldTarget("z.py"),), "git", source="git", base="abc"),
    )
    text = dataset.dump(queries)
    for line in text.splitlines():
        jsonschema.validate(json.loads(line), SCHEMA)
    assert dataset.load(write(tmp_path, "t.jsonl", text)).queries == queries


def test_a_public_list_with_secondary_answers_matches_paths_by_their_ends(tmp_path: Path) -> None:
    items = [
        {
            "query": "q",
            "relevant": ["a/b.py"],
            "secondary": [{"path": "c.py", "start_line": 1, "end_line": 9}],
        }
    ]
    found = dataset.load(write(tmp_path, "t.json", json.dumps(items, indent=2)))
    assert found.suffix_paths
    assert found.queries[0].relevant == (GoldTarget("a/b.py"), GoldTarget("c.py", 1, 9))


def test_csv_with_several_answers_in_a_cell_or_in_rows(tmp_path: Path) -> None:
    text = 'Query,Relevant,category\n"how, exactly",a.py; b.py:3-4,x\nwhy,c.py,\nwhy,d.py,\n'
    first, second = dataset.load(write(tmp_path, "t.csv", text)).queries
    assert first.query == "how, exactly"
    assert first.relevant == (GoldTarget("a.py"), GoldTarget("b.py", 3, 4))
    assert second.relevant == (GoldTarget("c.py"), GoldTarget("d.py"))


def test_trec_qrels_with_topics(tmp_path: Path) -> None:
    qrels = write(tmp_path, "q.txt", "1 0 a.py 2\n1 0 b.py 0\n2 0 c.py 1\n")
    topics = write(tmp_path, "topics.tsv", "1\tfirst query\n2\tsecond one\n")
    first, second = dataset.load(qrels, queries=topics).queries
    assert (first.id, first.query, first.relevant) == ("1", "first query", (GoldTarget("a.py", grade=2),))
    assert second.query == "second one"
    with pytest.raises(UsageError, match="--queries"):
        dataset.load(qrels)


def test_beir_qrels_and_trec_topics(tmp_path: Path) -> None:
    qrels = write(tmp_path, "q.tsv", "query-id\tcorpus-id\tscore\n7\ta.py\t1\n")
    beir = write(tmp_path, "queries.jsonl", '{"_id": "7", "text": "asked"}\n')
    assert dataset.load(qrels, queries=beir).queries[0].query == "asked"
    trec = write(tmp_path, "topics", "<top>\n<num> Number: 7\n<title> asked so\n<desc> no\n</top>\n")
    assert dataset.load(qrels, queries=trec).queries[0].query == "asked so"


def test_the_shapes_of_public_sets(tmp_path: Path) -> None:
    swe = {
        "repo": "astropy",
        "qid": 3,
        "query": "q",
        "targets": [
            {"path": "a.py", "spans": [[1, 2], [5, 9]], "test": False},
            {"path": "t.py", "spans": [], "test": True},
        ],
    }
    other = swe | {"repo": "sphinx", "targets": [{"path": "s.py", "spans": []}]}
    path = write(tmp_path, "swe.jsonl", json.dumps(swe) + "\n" + json.dumps(other) + "\n")
    with pytest.raises(UsageError, match="astropy, sphinx"):
        dataset.load(path)
    assert dataset.load(path, repo="astropy").queries[0].relevant == (
        GoldTarget("a.py", 1, 2),
        GoldTarget("a.py", 5, 9),
    )
    assert dataset.load(path, repo="sphinx").queries[0].relevant == (GoldTarget("s.py"),)
    task = {
        "task_id": "t1",
        "repo": "https://github.com/o/pytest",
        "description": "Fix it",
        "query_terms": ["a.b"],
        "files_edited": ["x.py"],
        "query_category": "error",
    }
    found = dataset.load(write(tmp_path, "cg.jsonl", json.dumps(task)), repo="pytest").queries[0]
    assert (found.id, found.query, found.category) == ("t1", "Fix it a.b", "error")
    loc = {"id": "r-1", "repo": "requests", "kind": "symbol", "text": "Session", "gold": ["src/s.py:Session"]}
    found = dataset.load(write(tmp_path, "loc.jsonl", json.dumps(loc))).queries[0]
    assert (found.category, found.relevant) == ("symbol", (GoldTarget("src/s.py", entity="Session"),))


def test_queries_without_answers_are_left_out_and_counted(tmp_path: Path) -> None:
    found = dataset.load(
        write(tmp_path, "t.jsonl", '{"query": "a", "relevant": []}\n{"query": "b", "relevant": "x.py"}\n')
    )
    assert [query.query for query in found.queries] == ["b"]
    assert found.notes == ("1 of 2 queries have no answer and are skipped",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no query"),
        ("{not json}\n", ":1 is not JSON"),
        ('{"relevant": ["x"]}\n', "no 'query'"),
        ('{"query": "a", "relevant": [3]}\n', "is not a path"),
        ('{"query": "a", "relevant": [{"path": "x", "grade": "high"}]}\n', "not a target"),
        ('{"query": "a", "relevant": [{"path": "x", "grade": 0.5}]}\n', "a grade is a whole number"),
        (
            '{"id": 1, "query": "a", "relevant": ["x"]}\n{"id": 1, "query": "b", "relevant": ["x"]}\n',
            "id '1'",
        ),
        ('["a"]', "one JSON object"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        dataset.load(write(tmp_path, "t.jsonl", text))


def test_csv_without_its_columns(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'query' and 'relevant'"):
        dataset.load(write(tmp_path, "t.csv", "query,answer\na,b\n"))


# --- leaks ---


@pytest.mark.parametrize(
    ("query", "path", "named", "hinted"),
    [
        ("how does session management work", "src/session.py", True, True),
        ("where are sessions kept", "src/session.py", False, True),
        ("what is in retry_queue.go", "a/retry_queue.go", True, True),
        ("pauses between attempts", "src/retry_queue.go", False, False),
        ("the queue of work", "src/retry_queue.go", False, True),
        ("parse the flags", "flags/__init__.py", True, True),
        ("a db call", "db.py", False, False),
    ],
)
def test_leaks(query: str, path: str, named: bool, hinted: bool) -> None:
    assert (leaks.names_file(query, path), leaks.hints_at(query, path)) == (named, hinted)


def test_the_share_of_leaks() -> None:
    queries = [
        EvalQuery("1", "session store", (GoldTarget("session.py"),)),
        EvalQuery("2", "other", (GoldTarget("a.py"),)),
    ]
    found = leaks.count_leaks(queries)
    assert (found.queries, found.named, found.hinted) == (2, 1, 1)
