"""Search over commits: is the commit that a question is about among the first, and what does its index cost?

Each question of ``sets/history.jsonl`` is the subject of a commit in other words, written from the commit alone, before
any search. It is asked in the repository at the commit ``head``. Weights are chosen by the questions of the half
``decide``, about other repositories, and the rest report. Beside it: ``git log --grep`` for any of the question's
words, those with most of them first.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, at_least, at_most
from benchmarks.messages import share_within
from dowse import Engine
from dowse.types.commit_values import HistoryOptions

QUESTIONS_FILE = Path(__file__).parent / "sets" / "history.jsonl"

COMMITS = 10
"""Commits of an answer."""

_WORD = re.compile(r"\w{3,}")


class Question(NamedTuple):
    """A question, and the commit that answers it. Those of ``decide`` are what weights are chosen by."""

    repository: str
    head: str
    commit: str
    query: str
    half: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add whether questions are printed that are not answered."""
    group = parser.add_argument_group("history")
    group.add_argument(
        "--history-half",
        choices=["report", "decide"],
        default="report",
        help="the questions that are reported, or those that weights are chosen by",
    )
    group.add_argument(
        "--show-unanswered",
        action="store_true",
        help="print the questions whose commit is not in the first 5",
    )


def load_questions(half: str) -> dict[str, list[Question]]:
    """Load the questions of one half, by repository."""
    found: dict[str, list[Question]] = defaultdict(list)
    for line in QUESTIONS_FILE.read_text(encoding="utf-8").splitlines():
        question = Question(**json.loads(line))
        if question.half == half:
            found[question.repository].append(question)
    return dict(found)


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Ask every question, and measure what reading the history adds to indexing."""
    ranks: list[int] = []
    grep_ranks: list[int] = []
    times: list[float] = []
    index_seconds = history_seconds = update_seconds = 0.0
    commits = 0
    for name, questions in load_questions(args.history_half).items():
        tree = check_out(name, questions[0].head)
        index_dir = str(data.cache_folder() / "history" / f"{tree.name}.index")
        shutil.rmtree(index_dir, ignore_errors=True)
        with Engine.open(tree, index_dir=index_dir, history_weight=0.0) as engine:
            index_seconds += _measure(engine.index)
        with Engine.open(tree, index_dir=index_dir) as engine:
            history_seconds += _measure(engine.load_history)
            index = engine.load_history()
            commits += len(index.labels) if index else 0
            for question in questions:
                started = time.process_time()
                answer = engine.history.search(question.query, HistoryOptions(limit=COMMITS))
                times.append((time.process_time() - started) * 1e3)
                ranks.append(_find_rank([found.sha for found in answer.commits], question.commit))
                if args.show_unanswered and not 1 <= ranks[-1] <= 5:
                    first = answer.commits[0].subject if answer.commits else ""
                    print(ranks[-1], name, question.commit[:8], question.query, "|", first)
        with Engine.open(tree, index_dir=index_dir) as engine:
            update_seconds += _measure(engine.load_history)
        log = _read_messages(tree)
        grep_ranks += [_find_rank(_grep(log, question.query), question.commit) for question in questions]
    yield Outcome(
        name="history",
        title="Questions about commits, in other words than theirs",
        figures=[
            Figure("questions", len(ranks), "queries"),
            Figure("commits that are searched", commits, "commits"),
            Figure("right commit first", share_within(ranks, 1), "", None, _beside(grep_ranks, 1)),
            Figure(
                "right commit in the first 5",
                share_within(ranks, 5),
                "",
                at_least(0.7),
                _beside(grep_ranks, 5),
            ),
            Figure(
                "right commit in the first 10", share_within(ranks, 10), "", None, _beside(grep_ranks, 10)
            ),
            Figure("CPU of a query, median", statistics.median(times), "ms"),
            Figure("CPU of indexing without history", index_seconds, "s"),
            Figure("CPU of reading the history", history_seconds, "s"),
            Figure("history of indexing", history_seconds / index_seconds, "", at_most(0.2)),
            Figure("CPU of opening the history that is known", update_seconds, "s"),
        ],
        notes=[
            "Ten public repositories that no other benchmark uses; weights are chosen by questions about eight others. "
            "CPU counts git's too, except in that of a query."
        ],
        official=args.history_half == "report",
    )


def _beside(ranks: Sequence[int], k: int) -> str:
    return f"git log --grep {share_within(ranks, k):.2f}"


def check_out(name: str, head: str) -> Path:
    """Clone a repository at a commit, once."""
    target = data.cache_folder() / "history" / name.replace("/", "+")
    if not target.is_dir():
        mirror = data.find_folder("BENCH_MIRRORS") / name.replace("/", "+") / "repo"
        if not mirror.is_dir():
            raise data.MissingDataError(f"{name} is not in BENCH_MIRRORS")
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "-q", "--shared", "-n", str(mirror), str(target)], check=True)
    subprocess.run(["git", "checkout", "-q", "--detach", head], cwd=target, check=True)
    return target


def _measure(run_it: object) -> float:
    """Return the CPU seconds of a call, those of its child processes included."""
    assert callable(run_it)
    before = _read_cpu()
    run_it()
    return _read_cpu() - before


def _read_cpu() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))


def _find_rank(shas: Sequence[str], right: str) -> int:
    """Return the rank of a commit; 0 if it is not there."""
    return next((rank for rank, sha in enumerate(shas, 1) if sha == right), 0)


def _read_messages(tree: Path) -> list[tuple[str, str]]:
    """Read the hash and the message of each commit, newest first."""
    ran = subprocess.run(
        ["git", "log", "--no-merges", "--format=%H%x00%B%x01"], cwd=tree, capture_output=True, check=True
    )
    rows = (row.strip().partition("\0") for row in ran.stdout.decode("utf-8", "replace").split("\x01"))
    return [(sha, message.lower()) for sha, _, message in rows if sha]


def _grep(log: Sequence[tuple[str, str]], query: str) -> list[str]:
    """List the commits with any word of a query, those with most words first, then the newest."""
    words = set(_WORD.findall(query.lower()))
    counts = [(sum(word in message for word in words), sha) for sha, message in log]
    ordered = sorted((pair for pair in counts if pair[0]), key=lambda pair: -pair[0])
    return [sha for _, sha in ordered[:COMMITS]]
