"""Error and log messages as a program prints them: is the line that printed one found first?

Messages are string literals of calls that raise or log, taken at random from the sources of public trees that no other
benchmark uses, their placeholders filled in as a running program would, and typed without quotes. Every place in the
sources with the same literal counts as right, and tests, documents and examples do not. Beside it: the lines that have
the longest part of the literal as it stands, as a grep for it lists them.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import data
from benchmarks.bench_types import Figure, Outcome, at_least
from dowse import Engine
from dowse.code.file_roles import classify_role
from dowse.types.answers import SearchOptions
from dowse.types.source import Role

MESSAGES = 300
MIN_WORDS = 3
SEED = 22
MAX_FILE_BYTES = 500_000
SOURCES = frozenset(
    ".py .js .ts .tsx .go .rs .java .kt .scala .c .cc .cpp .h .cs .rb .php .ex .exs .swift .lua".split()
)

_CALL = re.compile(
    r"\b(?:raise|throw|panic|die|fatal\w*|abort|bail|anyhow|ensure|fail\w*|errors?\.\w+|\w*err(?:or)?\w*|\w*exception\w*"
    r"|warn\w*|log\w*(?:[.:]+\w+)?|logger\.\w+|console\.\w+|debug\w*|printk|fprintf|expect)\b[!]?"
    r"[^\"'`\n;]{0,60}[(\s]\s*(?:[fru@$]{0,2})(?P<quote>[\"'])",
    re.IGNORECASE,
)
_BODY = {quote: re.compile(rf"(?:[^{quote}\\\n]|\\.)*{quote}") for quote in "\"'"}
_CONTINUED = re.compile(r"\s*(?:[+.]\s*|\\\s*)?(?:[fru]{0,2})(?P<quote>[\"'])")
_VALUE_BETWEEN = re.compile(r"\s*\+\s*[^+\"';{}]{1,60}?\s*\+\s*(?P<quote>[\"'])")
_VALUE_AFTER = re.compile(r"\s*\+\s*[^+\"';\n]{1,60}")
_PLACEHOLDER = re.compile(
    r"%(?:\(\w+\))?[-+#0]*\d*(?:\.\d+)?(?:hh?|ll?|z)?(?P<letter>[diouxXeEfgGcsrpvVTtqw])|[$#]?\{[^{}]*\}|\$\w+|\0"
)
_NUMBERS = frozenset("diouxXeEfgG")
_VALUES = (
    "42", "7", "main", "/var/lib/app/data.json", "10.0.0.12:8443", "user_profile", "OrderService", "'latest'",
    "src/app/index", "c0ffee12", "no such file or directory", "3.7.1", "https://example.org/v1/items", "true", "None",
)  # fmt: skip
_ESCAPE = re.compile(r"\\(?:[nrtabfv0e]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
_WORD = re.compile(r"[(\"']?[A-Za-z]{2,}[)\"',.:;!?]{0,2}")


class Message(NamedTuple):
    """A message: the literal, with NUL where a value was joined, and as it was printed."""

    literal: str
    printed: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how many messages are asked for."""
    group = parser.add_argument_group("messages")
    group.add_argument("--messages", type=int, default=MESSAGES, help="how many messages")
    group.add_argument("--message-seed", type=int, default=SEED, help="which messages are taken")
    group.add_argument(
        "--show-missed", action="store_true", help="print the messages whose line is not first"
    )


def run(args: argparse.Namespace) -> Iterator[Outcome]:
    """Ask for every message, in the tree that it is from."""
    folder = data.find_folder("BENCH_MESSAGES")
    trees = sorted(path for path in folder.iterdir() if path.is_dir())
    ranks, literal_ranks, times = [], [], []
    share = -(-args.messages // len(trees))
    for tree in trees:
        literals = find_messages(tree)
        chance = random.Random(f"{args.message_seed} {tree.name}")
        chosen = chance.sample(sorted(literals), min(share, len(literals)))
        asked = [Message(literal, print_message(literal, chance)) for literal in chosen]
        with Engine.open(tree, index_dir=str(data.cache_folder() / "messages" / tree.name)) as engine:
            engine.index()
            for message in asked:
                started = time.process_time()
                found = engine.search(message.printed, SearchOptions(limit=10)).results
                times.append((time.process_time() - started) * 1e3)
                lines = [(hit.path, hit.start_line, hit.end_line) for hit in found]
                ranks.append(find_rank(lines, literals[message.literal]))
                if args.show_missed and ranks[-1] != 1:
                    print(ranks[-1], tree.name, message, sorted(literals[message.literal])[:2], lines[:1])
        grepped = grep(tree, [message.literal for message in asked])
        literal_ranks += [find_rank(grepped[m.literal], literals[m.literal]) for m in asked]
    yield Outcome(
        name="messages",
        title="Messages of programs, typed without quotes",
        figures=[
            Figure("messages", len(ranks), "queries"),
            Figure(
                "right line first",
                share_within(ranks, 1),
                "",
                at_least(0.9),
                f"grep {share_within(literal_ranks, 1):.2f}",
            ),
            Figure(
                "right line in the first 3",
                share_within(ranks, 3),
                "",
                at_least(0.97),
                f"grep {share_within(literal_ranks, 3):.2f}",
            ),
            Figure("right line in the first 10", share_within(ranks, 10)),
            Figure("CPU of a query, median", statistics.median(times), "ms"),
        ],
        official=args.messages == MESSAGES and args.message_seed == SEED,
    )


def share_within(ranks: Sequence[int], k: int) -> float:
    """Return the share of the ranks that are among the first ``k``; 0 is not found."""
    return sum(1 <= rank <= k for rank in ranks) / max(1, len(ranks))


def find_rank(hits: Sequence[tuple[str, int, int]], right: set[tuple[str, int]]) -> int:
    """Return the rank of the first hit that has a right line; 0 if none has."""
    for rank, (path, first, last) in enumerate(hits, 1):
        if any(path == where and first <= line <= last for where, line in right):
            return rank
    return 0


def find_messages(tree: Path) -> dict[str, set[tuple[str, int]]]:
    """Find the messages in the sources of a tree, and where each is: path and line."""
    found: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for path, text in read_sources(tree):
        if classify_role(path) is not Role.SOURCE:
            continue
        for match in _CALL.finditer(text):
            literal = read_literal(text, match.end(), match["quote"])
            literal = _PLACEHOLDER.sub(_mark, literal)
            if is_message(literal):
                found[literal].add((path, text.count("\n", 0, match.start("quote")) + 1))
    return found


def _mark(match: re.Match[str]) -> str:
    """Mark a placeholder by what it holds, whatever it is called: a number or anything."""
    return "%d" if match["letter"] in _NUMBERS else "%s"


def is_message(literal: str) -> bool:
    """Return whether a literal is prose of a few words, not a name, a path or a table."""
    plain = _PLACEHOLDER.sub(" ", _ESCAPE.sub(" ", literal))
    return sum(_WORD.fullmatch(word) is not None for word in plain.split()) >= MIN_WORDS


def read_sources(tree: Path) -> Iterator[tuple[str, str]]:
    """Read every source file of a tree."""
    for path in sorted(tree.rglob("*")):
        if (
            path.suffix in SOURCES
            and ".min." not in path.name
            and path.is_file()
            and path.stat().st_size <= MAX_FILE_BYTES
        ):
            yield path.relative_to(tree).as_posix(), path.read_text(encoding="utf-8", errors="replace")


def read_literal(text: str, start: int, quote: str) -> str:
    """Read a literal that begins here, with what is joined to it; a value that is joined is a NUL."""
    parts: list[str] = []
    while body := _BODY[quote].match(text, start):
        parts.append(body.group()[:-1])
        if joined := _CONTINUED.match(text, body.end()):
            start, quote = joined.end(), joined["quote"]
        elif joined := _VALUE_BETWEEN.match(text, body.end()):
            parts.append("\0")
            start, quote = joined.end(), joined["quote"]
        else:
            return "".join([*parts, "\0" if _VALUE_AFTER.match(text, body.end()) else ""])
    return "".join(parts)


def print_message(literal: str, chance: random.Random) -> str:
    """Print a message as a program would: with values for its placeholders, without escapes."""

    def fill(match: re.Match[str]) -> str:
        if match["letter"] in _NUMBERS:
            return str(chance.randrange(1, 5000))
        return chance.choice(_VALUES)

    plain = _ESCAPE.sub(" ", _PLACEHOLDER.sub(fill, literal))
    return " ".join(re.sub(r"\\(.)", r"\1", plain).replace("%%", "%").split())


def grep(tree: Path, literals: Sequence[str]) -> Mapping[str, list[tuple[str, int, int]]]:
    """List the lines that have the longest part of each literal as it stands, in the order of their paths."""
    parts = {
        literal: max(_PLACEHOLDER.split(literal), key=lambda part: len(part or "")) for literal in literals
    }
    found: dict[str, list[tuple[str, int, int]]] = {literal: [] for literal in literals}
    for path, text in read_sources(tree):
        for literal, part in parts.items():
            at = text.find(part)
            while at >= 0:
                line = text.count("\n", 0, at) + 1
                found[literal].append((path, line, line))
                at = text.find(part, at + 1)
    return found
