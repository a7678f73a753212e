"""``dowse eval`` from end to end: the real command on a real tree with real git history."""

from __future__ import annotations

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dowse.engine import Engine
from dowse.evaluation import mining, storage
from tests.test_cli import Shell, make_tree

GREETING = '''"""Saying hello."""


def compose_greeting(person, formal):
    """Write the opening words of a letter, polite or casual."""
    return ("Dear " if formal else "Hi ") + person


class Envelope:
    """Folded paper around a message that keeps strangers from reading it."""

    def seal(self, wax):
        """Close the flap for good with something hot."""
        self.closed = wax
'''

LEDGER = '''"""Money."""


def settle_accounts(ledger):
    """Bring debts and payments of all customers to zero."""
    return [entry for entry in ledger if entry.open]
'''


def git(folder: Path, *arguments: str) -> None:
    identity = [
        "-c",
        "user.name=Somebody",
        "-c",
        "user.email=somebody@example.org",
        "-c",
        "commit.gpgsign=false",
    ]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, message: str, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with documentation, names and a history worth asking about."""
    folder = tmp_path_factory.mktemp("letters")
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "Initial import", letters=GREETING, money=LEDGER)
    commit(folder, "Bump version to 2", money=LEDGER + "\n\nVERSION = 2\n")
    commit(
        folder,
        "Address people warmly when nothing else is asked for",
        letters=GREETING.replace('"Hi "', '"Hello "'),
    )
    closed = LEDGER.replace("entry.open", "entry.open and entry.amount")
    commit(folder, "Leave out customers who owe nothing (#12)\n\nSigned-off-by: S", money=closed)
    return folder


@pytest.fixture(scope="module")
def dowse(repository: Path, home: Path) -> Shell:
    return Shell(repository, home)


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [
        {"query": "settle_accounts", "relevant": ["money.py:settle_accounts"], "category": "symbol"},
        {"query": "Envelope seal", "relevant": ["letters.py:Envelope.seal"], "category": "symbol"},
        {"query": "polite opening of a letter", "relevant": ["letters.py"], "category": "words"},
        {"query": "something that is nowhere", "relevant": ["gone.py"], "category": "words"},
    ]
    path = tmp_path_factory.mktemp("truth") / "truth.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_an_evaluation_says_what_was_found_and_what_was_not(dowse: Shell, truth: Path) -> None:
    said = dowse.json("eval", str(truth))
    run = said["runs"][0]
    assert run["overall"]["hit@1"]["mean"] == 3 / 4
    assert [query["ranks"] for query in run["queries"]] == [[1], [1], [1], [0]]
    assert run["queries"][3]["missing"] == ["gone.py"]
    assert run["categories"].keys() == {"symbol", "words"}
    assert run["overall"]["span_recall@10"]["queries"] == 2
    assert run["tokens"]["results"] > 0
    text = dowse("eval", str(truth)).stdout
    assert "4 queries from truth.jsonl against 2 indexed files" in text
    assert "1 of 4 queries have answers that are not in the index (such as gone.py)" in text
    assert re.search(r"^not found +something that is nowhere", text, re.M)


def test_one_query_is_one_query(dowse: Shell, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({"query": "settle_accounts", "relevant": ["money.py"]}) + "\n")
    assert "1 query from one.jsonl against 2 indexed files" in dowse("eval", str(path)).stdout


def test_a_query_is_asked_from_the_file_of_its_asker(dowse: Shell, tmp_path: Path) -> None:
    path = tmp_path / "from.jsonl"
    lines = [
        {"query": "wax", "relevant": ["letters.py"], "cursor_file": "money.py:3"},
        {"query": "wax", "relevant": ["letters.py"], "cursor_file": "gone.py"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    by_words = ("eval", str(path), "--set", "embedder=none")

    def found(*more: str) -> list[set[str]]:
        queries = dowse.json(*by_words, *more)["runs"][0]["queries"]
        return [{place.partition(":")[0] for place in query["found"]} for query in queries]

    assert found() == [{"letters.py", "money.py"}, {"letters.py"}]
    assert found("--no-near") == [{"letters.py"}, {"letters.py"}]


def test_a_comparison_and_its_exit_codes(dowse: Shell, truth: Path) -> None:
    harmful = ("--compare", "exclude=money.py", "--metrics", "hit@1")
    done = dowse("eval", str(truth), *harmful)
    assert done.returncode == 0
    assert "exclude=money.py against base" in done.stdout
    assert "regressed by hit@1:" in done.stdout
    assert dowse("eval", str(truth), *harmful, "--fail-on-any-regression").returncode == 1
    same = dowse(
        "eval", str(truth), "--compare", "limit=5", "--fail-on-regression", "--fail-on-any-regression"
    )
    assert same.returncode == 0


def test_bars(dowse: Shell, truth: Path) -> None:
    assert dowse("eval", str(truth), "--fail-under", "hit@1=0.75").returncode == 0
    below = dowse("eval", str(truth), "--fail-under", "hit@1=0.8")
    assert below.returncode == 1
    assert "hit@1 is 0.7500, below 0.8" in below.stderr
    assert dowse("eval", str(truth), "--fail-under", "hit@1").returncode == 2
    assert dowse("eval", str(truth), "--metrics", "bleu").returncode == 2
    assert dowse("eval").returncode == 2


def test_other_settings_get_an_index_of_their_own(dowse: Shell, truth: Path, repository: Path) -> None:
    dowse("index")
    before = dowse.json("status")["index"]["generation"]
    said = dowse.json("eval", str(truth), "--compare", "chunk_size=200")
    assert [run["name"] for run in said["runs"]] == ["base", "chunk_size=200"]
    assert dowse.json("status")["index"]["generation"] == before


def test_saved_runs_compare(dowse: Shell, truth: Path, tmp_path: Path) -> None:
    before, after = tmp_path / "a.json", tmp_path / "b.json"
    assert dowse("eval", str(truth), "--save", str(before)).returncode == 0
    assert dowse("eval", str(truth), "--set", "exclude=money.py", "--save", str(after)).returncode == 0
    done = dowse("eval", "diff", str(before), str(after), "--fail-on-any-regression")
    assert done.returncode == 1
    assert "b.json against a.json" in done.stdout
    back = dowse.json("eval", "diff", str(after), str(before))
    assert back["comparison"]["improved"]
    assert not back["comparison"]["regressed"]
    worse = dowse(
        "eval",
        str(truth),
        "--set",
        "exclude=money.py",
        "--baseline",
        str(before),
        "--fail-on-any-regression",
    )
    assert worse.returncode == 1
    (tmp_path / "c.json").write_text("{}", encoding="utf-8")
    assert "not a saved evaluation" in dowse("eval", "diff", str(before), str(tmp_path / "c.json")).stderr
    older = json.loads(before.read_text(encoding="utf-8")) | {"schema": storage.SCHEMA - 1}
    (tmp_path / "c.json").write_text(json.dumps(older), encoding="utf-8")
    refused = dowse("eval", "diff", str(before), str(tmp_path / "c.json"))
    assert refused.returncode == 2 and "run the evaluation again" in refused.stderr


class _Page(HTMLParser):
    """Checks that every element that is opened is closed, and notes what is asked for from elsewhere."""

    VOID = frozenset({"meta", "input", "br", "wbr", "rect", "circle", "path", "polyline"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.elsewhere: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.elsewhere += [str(value) for name, value in attrs if name in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_reports(dowse: Shell, tmp_path: Path) -> None:
    truth = tmp_path / "truth.jsonl"
    lines = [
        {"query": "<script>alert(1)</script> | *letter*", "relevant": ["gone.py"], "category": "a"},
        {"query": "settle_accounts", "relevant": ["money.py"], "category": "b"},
    ]
    truth.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    html, markdown = tmp_path / "out" / "r.html", tmp_path / "r.md"
    done = dowse(
        "eval", str(truth), "--compare", "names=off", "--html", str(html), "--markdown", str(markdown)
    )
    assert done.returncode == 0, done.stderr
    text = html.read_text("utf-8")
    page = _Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert page.elsewhere == []
    assert "<script" not in text
    assert "url(" not in text
    assert text.count("<svg") >= 4
    assert "<script>alert(1)</script> | *letter*" in page.text
    report = markdown.read_text("utf-8")
    assert "\\<script\\>alert(1)\\</script\\> \\| \\*letter\\*" in report
    assert "names=off against base" in report


# --- mining ---


def mined(dowse: Shell, tmp_path: Path, *options: str) -> list[dict[str, Any]]:
    out = tmp_path / "mined.jsonl"
    done = dowse("eval", "--mine", "20", "--out", str(out), "--mine-only", "--force", *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def test_documentation_is_asked_for_and_hidden(dowse: Shell, tmp_path: Path) -> None:
    queries = mined(dowse, tmp_path, "--from", "docs")
    by_query = {query["query"]: query for query in queries}
    assert by_query["Bring debts and payments of all customers to zero"]["relevant"] == [
        "money.py:settle_accounts"
    ]
    assert "Write the opening words of a letter, polite or casual" in by_query
    hidden = tmp_path / "one.jsonl"
    lines = [by_query["Bring debts and payments of all customers to zero"]]
    lines.append({k: v for k, v in lines[0].items() if k != "source"} | {"id": "open"})
    hidden.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    run = dowse.json("eval", str(hidden), "--set", "embedder=none")["runs"][0]
    asked = {query["id"]: query for query in run["queries"]}
    assert asked["open"]["ranks"] == [1], "with its documentation it is easy to find"
    assert asked[lines[0]["id"]]["ranks"] == [0], "without it, no word of the query is in the tree"


def test_the_index_is_not_touched_by_mining(dowse: Shell, tmp_path: Path) -> None:
    before = dowse.json("status")["index"]["generation"]
    done = dowse("eval", "--mine", "9", "--out", str(tmp_path / "t.jsonl"))
    assert done.returncode == 0, done.stderr
    assert dowse.json("status")["index"]["generation"] == before
    assert dowse.json("search", "customers", "debts")["results"][0]["path"] == "money.py"


def test_names_are_asked_for(dowse: Shell, tmp_path: Path) -> None:
    queries = {query["query"] for query in mined(dowse, tmp_path, "--from", "symbols")}
    assert {"settle_accounts", "compose_greeting", "Envelope"} <= queries


def test_history_is_asked_about_the_tree_before(dowse: Shell, tmp_path: Path, repository: Path) -> None:
    queries = {query["query"]: query for query in mined(dowse, tmp_path, "--from", "git")}
    assert queries.keys() == {
        "Address people warmly when nothing else is asked for",
        "Leave out customers who owe nothing",
    }
    asked = queries["Leave out customers who owe nothing"]
    assert asked["relevant"] == ["money.py:settle_accounts"]
    changed = subprocess.run(
        ["git", "log", "-1", "--format=%H"], cwd=repository, check=True, capture_output=True, text=True
    ).stdout.strip()
    held = subprocess.run(
        ["git", "merge-base", "--is-ancestor", changed, asked["base"]], cwd=repository, check=False
    )
    assert held.returncode == 1, "the tree that is asked about must not have the commit"
    status = subprocess.run(
        ["git", "status", "--porcelain", "--ignored"],
        cwd=repository,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert [line for line in status.splitlines() if ".dowse" not in line] == []
    run = dowse.json("eval", str(tmp_path / "mined.jsonl"))["runs"][0]
    assert all(not query["missing"] for query in run["queries"])


def test_the_seed_decides(dowse: Shell, tmp_path: Path) -> None:
    first = mined(dowse, tmp_path, "--seed", "1")
    assert first == mined(dowse, tmp_path, "--seed", "1")
    assert {query["source"] for query in first} == {"docs", "symbols", "git"}


def test_queries_are_no_part_of_what_is_asked(tmp_path: Path, home: Path) -> None:
    shell = Shell(make_tree(tmp_path / "project"), home)
    mined = shell("eval", "--mine", "6", "--from", "symbols")
    assert mined.returncode == 0, mined.stderr
    (kept,) = shell.folder.glob("dowse-truth-*.jsonl")
    assert "gives its answers away" not in mined.stderr
    assert "excluded by default" in shell("status", "--why", kept.name).stdout
    query = json.loads(kept.read_text(encoding="utf-8").splitlines()[0])["query"]
    assert kept.name not in {hit["path"] for hit in shell.json("search", query)["results"]}
    other = kept.rename(shell.folder / "queries.jsonl")
    assert "queries.jsonl is searched too" in shell("eval", other.name).stderr
    (shell.folder / ".dowseignore").write_text("queries.jsonl\n", encoding="utf-8")
    assert "is searched too" not in shell("eval", other.name).stderr


def test_an_edited_file_is_kept(dowse: Shell, tmp_path: Path) -> None:
    out = tmp_path / "kept.jsonl"
    options = ("eval", "--mine", "5", "--mine-only", "--out", str(out))
    assert dowse(*options).returncode == 0
    assert dowse(*options).returncode == 0, "the same queries again are no loss"
    out.write_text("edited\n", encoding="utf-8")
    refused = dowse(*options)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert out.read_text("utf-8") == "edited\n"


def test_a_folder_without_history_gives_what_it_has(tmp_path: Path, home: Path) -> None:
    shell = Shell(make_tree(tmp_path / "plain"), home)
    done = shell("eval", "--mine", "6", "--out", str(tmp_path / "t.jsonl"))
    assert done.returncode == 0, done.stderr
    assert "nothing was mined from git" in done.stderr
    assert shell("eval", "--mine", "6", "--from", "git").returncode == 2
    assert "'commits'" in shell("eval", "--mine", "6", "--from", "commits").stderr


def test_no_large_file_decides(tmp_path: Path) -> None:
    for name, count in (("large", 60), ("small", 2), ("other", 2)):
        text = "".join(f"def {name}_number_{n}():\n    return {n}\n\n\n" for n in range(count))
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    with Engine.open(tmp_path) as engine:
        found = mining.mine(engine, 6, ["symbols"], 1)
    files = [query.relevant[0].path for query in found.queries]
    assert sorted(files[:3]) == ["large.py", "other.py", "small.py"]
    assert files.count("large.py") == 2
