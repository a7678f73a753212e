"""The term graph: what matches, what is added, and what the command says about it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.engine import Engine
from dowse.errors import SettingsError
from dowse.evaluation.term_graph_checks import suggest
from dowse.search import query_log
from dowse.search.query import parse, term_graph
from dowse.search.query.rewriting import rewrite_query
from dowse.search.query.term_graph import Entry, TermGraph
from tests.test_cli import Shell

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "terms"
SCHEMA = json.loads((ROOT / "docs/terms.schema.json").read_text("utf-8"))


def graph(*entries: tuple[str, list[str]]) -> TermGraph:
    return TermGraph(tuple(Entry(canonical, tuple(synonyms)) for canonical, synonyms in entries))


def added(found: TermGraph, text: str) -> list[str]:
    return [one.term for one in found.enrich(text).added]


ACCESS = graph(("SubjectAccessReview", ["permission", "check access", "can-i"]))


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("permission denied", True),
        ("Which PERMISSIONS are needed", True),
        ("a permissioned ledger", False),
        ("mypermission", False),
        ("permission_denied", False),
        ("how to check access", True),
        ("how to check   access rights", True),
        ("check_access(user)", True),
        ("check-access", True),
        ("check the access", False),
        ("what can-i do", True),
        ("subjectaccessreviews", True),
        ("nothing of it", False),
        ("", False),
    ],
)
def test_terms_match_whole_words_in_any_case_singular_or_plural(text: str, fires: bool) -> None:
    found = ACCESS.enrich(text)
    assert bool(found.added) is fires
    if not fires:
        assert found.text == text


@pytest.mark.parametrize(
    ("term", "matching", "other"),
    [
        ("policy", ["policies", "Policy"], ["policing"]),
        ("policies", ["policy"], []),
        ("class", ["classes", "class"], ["classy"]),
        ("boxes", ["box", "boxes"], ["boxe r"]),
        ("status", ["status", "statuses"], ["statu"]),
        ("logs", ["log"], ["logged"]),
        ("key", ["keys"], ["keyes", "kies"]),
        ("IP", ["ip", "IP"], ["ips"]),
        ("restart loop", ["restart loops"], ["restarts loop"]),
    ],
)
def test_plurals_are_forms(term: str, matching: list[str], other: list[str]) -> None:
    assert all(term_graph.compile_term(term).fullmatch(text) for text in matching)
    assert not any(term_graph.compile_term(term).fullmatch(text) for text in other)


def test_the_canonical_term_comes_first_and_nothing_that_is_there() -> None:
    assert added(ACCESS, "permission for SubjectAccessReview") == ["check access", "can-i"]
    assert added(ACCESS, "check access") == ["SubjectAccessReview", "permission", "can-i"]
    found = ACCESS.enrich("check access now")
    assert found.text == "check access now SubjectAccessReview permission can-i"
    assert found.added[0] == ("SubjectAccessReview", "SubjectAccessReview", "check access")


def test_at_most_five_of_an_entry_and_ten_in_all() -> None:
    entries = [(f"canon{n}", [f"word{n}", *(f"syn{n}x{i}" for i in range(9))]) for n in range(4)]
    found = graph(*entries)
    assert len(added(found, "word1")) == 5
    assert added(found, "word1")[0] == "canon1"
    assert len(added(found, "word0 word1 word2 word3")) == 10


def test_of_overlapping_matches_the_longest_counts() -> None:
    found = graph(
        ("A", ["access"]), ("B", ["check access rights"]), ("C", ["rights"]), ("D", ["please check"])
    )
    assert added(found, "please check access rights") == ["B"]
    assert added(found, "check access") == ["A"]
    assert added(found, "please check access") == ["D", "A"]


def test_a_term_of_two_entries_asks_for_both() -> None:
    assert added(graph(("A", ["shared"]), ("B", ["shared"])), "shared") == ["A", "B"]


def test_forms_of_one_term_are_added_once() -> None:
    assert added(graph(("Limit", ["quota", "quotas", "limits"])), "limit this") == ["quota"]


_WORD = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
_ENTRY = st.tuples(st.from_regex(r"[a-z]{1,8}( [a-z]{1,8})?", fullmatch=True), st.lists(_WORD, max_size=8))


@given(st.text(max_size=60), st.lists(_ENTRY, max_size=6))
def test_enriching_only_adds_and_never_what_is_there(text: str, entries: list[tuple[str, list[str]]]) -> None:
    found = graph(*entries).enrich(text)
    assert found.text.startswith(text)
    assert len(found.added) <= term_graph.MAX_ADDED_TERMS
    assert (found.text == text) is (not found.added)
    assert not any(term_graph.compile_term(one.term).search(text) for one in found.added)
    assert all(term_graph.compile_term(one.matched) for one in found.added)


def test_filters_phrases_and_program_output_are_left_alone() -> None:
    found = rewrite_query(parse.parse_query('permission lang:go "check access"'), ACCESS, None)
    assert found.languages == ("go",)
    assert found.phrases == ("check access",)
    assert found.rewrite.original == "permission"
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    permission()\nNameError: permission'
    assert rewrite_query(parse.parse_query(trace), ACCESS, None).rewrite.added == ()


@pytest.mark.parametrize(
    "raw",
    [
        "[]",
        '{"entries": {}}',
        '{"entries": [{"canonical": "x"}]}',
        '{"entries": [{"canonical": "", "synonyms": []}]}',
        '{"entries": [{"canonical": "x", "synonyms": ["--"]}]}',
        '{"entries": [{"canonical": "x", "synonyms": [3]}]}',
        "password=hunter2",
    ],
)
def test_a_wrong_file_is_an_error_that_does_not_quote_it(tmp_path: Path, raw: str) -> None:
    path = tmp_path / "terms.json"
    path.write_text(raw, encoding="utf-8")
    with pytest.raises(SettingsError) as error:
        term_graph.load_term_graph(path)
    assert "hunter2" not in str(error.value)
    with pytest.raises((jsonschema.ValidationError, ValueError)):
        jsonschema.validate(json.loads(raw), SCHEMA)


# --- in a search ---


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    review = "package auth\n\n// asks the server\ntype SubjectAccessReview struct{}\n"
    (folder / "review.go").write_text(review, "utf-8")
    (folder / "other.go").write_text(
        "package auth\n\n// rights of a user on files\nfunc Rights() {}\n", "utf-8"
    )
    write_terms(folder / "terms.json", ("SubjectAccessReview", ["check permission"]))
    return folder


def write_terms(path: Path, *entries: tuple[str, list[str]]) -> None:
    listed = [{"canonical": canonical, "synonyms": synonyms} for canonical, synonyms in entries]
    path.write_text(json.dumps({"entries": listed}), encoding="utf-8")


def test_a_search_finds_by_added_terms_and_says_so(tree: Path) -> None:
    with Engine.open(tree, exclude=("*.json",), embedder="none") as engine:
        assert not engine.search("check permission").results
        assert engine.search("check permission").query.rewrite.enriched == "check permission"
    with Engine.open(tree, exclude=("*.json",), term_graph="terms.json", embedder="none") as engine:
        response = engine.search("check permission")
        assert response.results[0].path == "review.go"
        assert response.query.text == response.query.rewrite.original == "check permission"
        assert response.query.rewrite.enriched == "check permission SubjectAccessReview"
        assert [one.term for one in response.query.rewrite.added] == ["SubjectAccessReview"]
        write_terms(tree / "terms.json", ("Rights", ["check permission"]))
        assert engine.search("check permission").results[0].path == "other.go", (
            "a changed file counts at once"
        )


def test_what_the_user_said_counts_more(tree: Path) -> None:
    with Engine.open(tree, term_graph="terms.json") as engine:
        query = engine.search("check permission rights").query
    weights = {term.text: term.weight for term in query.terms}
    assert weights["right"] == 1.0
    assert weights["subjectaccessreview"] == 0.5


def test_a_tree_cannot_name_a_file_elsewhere(tree: Path, tmp_path: Path) -> None:
    write_terms(tmp_path / "outside.json", ("a", ["b"]))
    (tree / "dowse.toml").write_text('term_graph = "../outside.json"\n', encoding="utf-8")
    with Engine.open(tree) as engine, pytest.raises(SettingsError, match="outside of"):
        engine.search("check permission")
    with Engine.open(tree, term_graph=str(tmp_path / "outside.json")) as engine:
        assert engine.search("b").query.rewrite.added


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def test_explain_and_json_show_the_audit(tree: Path, home: Path) -> None:
    (tree / "dowse.toml").write_text('term_graph = "terms.json"\n', encoding="utf-8")
    shell = Shell(tree, home)
    text = shell("search", "check permission", "--explain").stdout
    assert "enriched check permission SubjectAccessReview" in text
    assert "added    SubjectAccessReview (check permission -> SubjectAccessReview)" in text
    said = shell.json("search", "check permission")
    jsonschema.validate(said, json.loads((ROOT / "docs/search.schema.json").read_text("utf-8")))
    assert said["rewrite"]["added"][0]["term"] == "SubjectAccessReview"


# --- the command ---


def test_check(tree: Path, home: Path) -> None:
    shell = Shell(tree, home)
    entries = [
        ("SubjectAccessReview", ["check permission"]),
        ("Rights", ["check permissions", "user right"]),
        ("Unheard", ["of anywhere at all", "zzz"]),
        ("Zebra", ["rights of a user"]),
    ]
    write_terms(tree / "other-terms.json", *entries)
    (tree / ".dowseignore").write_text("*.json\n", encoding="utf-8")
    done = shell("terms", "check", "other-terms.json")
    assert done.returncode == 1
    problems = {(p["entry"], p["kind"]) for p in shell.json("terms", "check", "other-terms.json")["problems"]}
    assert problems == {("Rights", "duplicate"), ("Unheard", "dead"), ("Zebra", "canonical not in the index")}
    write_terms(tree / "other-terms.json", entries[0])
    assert shell("terms", "check", "other-terms.json").returncode == 0
    assert "there is no term graph" in shell("terms", "check").stderr


def test_try(tree: Path, home: Path) -> None:
    shell = Shell(tree, home)
    done = shell("terms", "try", "how to check permissions", "--file", "terms.json")
    assert done.returncode == 0
    assert "added    SubjectAccessReview (check permissions -> SubjectAccessReview)" in done.stdout
    assert shell("terms", "try", "anything else", "--file", "terms.json").returncode == 1


def test_suggest_from_documentation(tmp_path: Path, home: Path) -> None:
    pairs = "".join(
        f'def purge_{noun}():\n    """Delete every {noun} that nobody asked about lately."""\n\n\n'
        f'def show_{noun}():\n    """Print the {noun} list as a table for people."""\n\n\n'
        for noun in ("order", "bill", "guest", "room", "table", "plate", "spoon", "glass", "chair", "lamp")
    )
    (tmp_path / "inn.py").write_text(pairs, encoding="utf-8")
    out = tmp_path / "candidates.json"
    shell = Shell(tmp_path, home)
    filler = 'def step_{}():\n    """Walk {} steps along some winding road."""\n\n\n'
    fillers = "".join(filler.format(n, word) for n, word in enumerate(_names(300)))
    (tmp_path / "filler.py").write_text(fillers, encoding="utf-8")
    found = shell.json("terms", "suggest", "--out", str(out))["suggestions"]
    assert ("delete", "purge") in {(s["synonym"], s["canonical"]) for s in found}
    assert all(s["source"] == "docs" and s["support"] >= 3 for s in found)
    jsonschema.validate(json.loads(out.read_text("utf-8")), SCHEMA)
    assert shell("terms", "suggest", "--out", str(out)).returncode == 2, "nothing is overwritten"


def _names(count: int) -> list[str]:
    letters = "abcdefghij"
    return [f"q{letters[n // 100 % 10]}{letters[n // 10 % 10]}{letters[n % 10]}" for n in range(count)]


# --- the search log ---


def test_searches_are_kept_only_if_the_user_wants_that(tree: Path, home: Path, tmp_path: Path) -> None:
    shell = Shell(tree, home)
    shell.environment |= {"DOWSE_STATE_DIR": str(tmp_path / "state")}
    place = Path(shell("terms", "suggest", "--where").stdout.strip())
    assert tmp_path / "state" in place.parents
    shell("search", "permission")
    (tree / "dowse.toml").write_text("search_log = true\n", encoding="utf-8")
    shell("search", "permission")
    assert not place.exists(), "a tree cannot switch it on"
    (tree / "dowse.toml").unlink()
    shell("search", "permission", DOWSE_SEARCH_LOG="1")
    shell("search", "user", "rights", DOWSE_SEARCH_LOG="1")
    assert [asked.query for asked in query_log.read_log(place)] == ["permission", "user rights"]


def test_a_search_that_was_asked_again_with_success_is_a_suggestion() -> None:
    asked = [
        query_log.LoggedQuery(0.0, "kill zombie tasks", 3, 0.2),
        query_log.LoggedQuery(20.0, "reap zombie tasks", 5, 0.9),
        query_log.LoggedQuery(5000.0, "something else", 4, 0.5),
        query_log.LoggedQuery(5010.0, "another matter", 4, 0.9),
    ]
    found = list(suggest._find_reformulations(asked))
    assert [(s.synonym, s.canonical, s.source) for s in found] == [("kill", "reap", "log")]


def test_the_log_stays_small_and_survives_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tree: Path
) -> None:
    monkeypatch.setattr(query_log, "MAX_BYTES", 2000)
    path = tmp_path / "deep" / "log.jsonl"
    with Engine.open(tree) as engine:
        response = engine.search("rights")
    for number in range(100):
        query_log.log_query(path, f"query {number}", response)
    assert path.stat().st_size < 4000
    with path.open("a", encoding="utf-8") as file:
        file.write("{corrupt\n")
    assert [asked.query for asked in query_log.read_log(path)][-1] == "query 99"


# --- the example ---


def example() -> dict[str, Any]:
    raw: dict[str, Any] = json.loads((EXAMPLE / "kubernetes.json").read_text("utf-8"))
    return raw


def test_the_example_is_what_its_page_says() -> None:
    raw = example()
    jsonschema.validate(raw, SCHEMA)
    synonyms = [term for entry in raw["entries"] for term in entry["synonyms"]]
    assert (len(raw["entries"]), len(synonyms)) == (15, 76)
    assert {key for entry in raw["entries"] for key in entry} == {"canonical", "synonyms"}
    areas = re.findall(r"^\| [\w ]+ \| (`.*`) \|$", (EXAMPLE / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(areas) == 7
    assert sorted(re.findall(r"`([^`]+)`", " ".join(areas))) == sorted(e["canonical"] for e in raw["entries"])
    for name in ("queries.jsonl", "queries-known.jsonl"):
        lines = [json.loads(line) for line in (EXAMPLE / name).read_text("utf-8").splitlines()]
        assert len(lines) == 20
        assert all((EXAMPLE / "corpus" / target).is_file() for line in lines for target in line["relevant"])


def test_how_many_terms_are_added_is_a_parameter() -> None:
    graph = TermGraph((Entry("alpha", ("one", "two", "three")), Entry("beta", ("four", "five"))))
    assert [one.term for one in graph.enrich("alpha beta").added] == ["one", "two", "three", "four", "five"]
    assert [one.term for one in graph.enrich("alpha beta", 4).added] == ["one", "two", "three", "four"]
    assert graph.enrich("alpha beta", 0).text == "alpha beta"


def test_a_search_takes_a_term_graph_or_none_from_the_command_line(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.md").write_text("# SubjectAccessReview\n\nAsks the server.\n")
    entries = {"entries": [{"canonical": "SubjectAccessReview", "synonyms": ["check permission"]}]}
    (tmp_path / "terms.json").write_text(json.dumps(entries))

    def added(*flags: str) -> list[str]:
        command = [
            sys.executable,
            "-m",
            "dowse",
            "search",
            "check permission",
            "-p",
            str(tree),
            "--json",
            *flags,
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        return [one["term"] for one in json.loads(done.stdout)["rewrite"]["added"]]

    assert added() == []
    assert added("--term-graph", "terms.json") == ["SubjectAccessReview"]
    (tree / "terms.json").write_text(json.dumps(entries))
    (tree / "dowse.toml").write_text('term_graph = "terms.json"\nterm_graph_max_terms = 1\n')
    assert added() == ["SubjectAccessReview"]
    assert added("--term-graph", "off") == []
