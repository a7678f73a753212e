"""Instruction budget: what typical commands and queries may take, counted by valgrind: ``python -m benchmarks.budget``.

Counts do not depend on load, so that a check can be strict: each may be 5 % above ``budget.json``, no more. They do
depend on the build of Python: a loop of plain Python is counted too, and where that differs from the recorded one,
nothing is compared and the output says so. ``--record`` writes ``budget.json`` anew.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

BUDGET = Path(__file__).with_name("budget.json")
TOLERANCE = 0.05
BUILD_TOLERANCE = 0.01
"""How far the calibration loop may be from the recorded one: with another compiler or other flags it is further."""

CALIBRATION = "table = {}\nfor n in range(100_000):\n    table[str(n % 977)] = [n, f'{n:x}'.upper()]"

FOLDERS, FILES_PER_FOLDER = 30, 20

WARM_QUERIES = """
import sys
from dowse import Engine
with Engine.open(sys.argv[1], index_dir=sys.argv[2], cache="off") as engine:
    for query in ["where is an order cancelled", "Invoice7.total", "retry a payment that failed", "orders12.py"] * 5:
        assert engine.search(query).results
"""

PREFIXES = """
import sys
from dowse import Engine
with Engine.open(sys.argv[1], index_dir=sys.argv[2]) as engine:
    for word in ("Invoice", "cancel_order_", "retry_payment_"):
        for length in range(1, len(word) + 1):
            assert engine.graph.entities(word[:length] + "*", content=False)
"""

COMPLETIONS = {"_DOWSE_COMPLETE": "bash_complete", "COMP_WORDS": "dowse sea", "COMP_CWORD": "1"}


class Work(NamedTuple):
    """One thing that is counted: the arguments of Python, and variables. TREE and INDEX stand for the two folders."""

    args: tuple[str, ...]
    environment: Mapping[str, str] = {}


_IN_TREE = ("--root", "TREE", "--index-dir", "INDEX")

WORKS = {
    "help": Work(("-m", "dowse", "--help")),
    "completion": Work(("-m", "dowse"), COMPLETIONS),
    "search in words": Work(("-m", "dowse", "search", "where is an order cancelled", *_IN_TREE)),
    "search by name": Work(("-m", "dowse", "search", "Invoice7.total", *_IN_TREE)),
    "search as JSON": Work(("-m", "dowse", "search", "retry a payment", "--json", *_IN_TREE)),
    "search without refresh": Work(("-m", "dowse", "search", "retry a payment", "--no-refresh", *_IN_TREE)),
    "status": Work(("-m", "dowse", "status", *_IN_TREE)),
    "callers": Work(("-m", "dowse", "callers", "cancel_order_7", *_IN_TREE)),
    "index, nothing changed": Work(("-m", "dowse", "index", *_IN_TREE)),
    "twenty warm queries": Work(("-c", WARM_QUERIES, "TREE", "INDEX")),
    "34 prefixes of 600 names": Work(("-c", PREFIXES, "TREE", "INDEX")),
}


class Record(NamedTuple):
    """What is kept in ``budget.json``: instructions of every work, and the build of Python that took them."""

    python: str
    calibration: int
    instructions: dict[str, int]


def main() -> int:
    """Count, and compare with the budget or record it; return 1 if something takes too much."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budget", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write budget.json anew")
    args = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("budget: not checked, valgrind is not installed")
        return 0
    with tempfile.TemporaryDirectory(prefix="dowse-budget-") as folder:
        environment = make_environment(Path(folder), {})
        python = platform.python_version()
        calibration = count_instructions(("-c", CALIBRATION), environment)
        if not args.record and (why := describe_other_build(read_budget(), python, calibration)):
            print(f"budget: not checked, {why}")
            return 0
        counted = Record(python, calibration, count_all(Path(folder)))
    if args.record:
        BUDGET.write_text(json.dumps(counted._asdict(), indent=2) + "\n", encoding="utf-8")
        return 0
    problems = compare(read_budget().instructions, counted.instructions)
    print("\n".join(problems) or "budget: kept")
    return int(bool(problems))


def read_budget() -> Record:
    """Read what was recorded."""
    return Record(**json.loads(BUDGET.read_text(encoding="utf-8")))


def describe_other_build(budget: Record, python: str, calibration: int) -> str:
    """Say why counts cannot be compared with those of a budget; nothing if they can."""
    if python != budget.python:
        return f"it was recorded with Python {budget.python} and this is {python}"
    if abs(calibration / budget.calibration - 1) > BUILD_TOLERANCE:
        return f"this is another build of Python {python} than it was recorded with"
    return ""


def compare(budget: Mapping[str, int], counted: Mapping[str, int]) -> list[str]:
    """List what takes more than the budget allows, or has none; print how the rest stands."""
    problems = []
    for name, count in counted.items():
        allowed = budget.get(name)
        if allowed is None:
            problems.append(
                f"budget: '{name}' is not in {BUDGET.name}: run python -m benchmarks.budget --record"
            )
            continue
        print(f"{name:24} {count / 1e6:8.1f} M instructions, {count / allowed - 1:+.1%}")
        if count > allowed * (1 + TOLERANCE):
            problems.append(f"budget: '{name}' takes {count / allowed - 1:.1%} more than recorded")
    return problems


def count_all(folder: Path) -> dict[str, int]:
    """Count the instructions of every work, on a tree that is made for it."""
    places = {"TREE": str(make_tree(folder / "tree")), "INDEX": str(folder / "index")}
    works = {
        name: (tuple(places.get(arg, arg) for arg in work.args), make_environment(folder, work.environment))
        for name, work in WORKS.items()
    }
    for args, environment in [
        works["index, nothing changed"],
        *works.values(),
    ]:  # this also compiles the modules
        ran = subprocess.run([sys.executable, *args], env=environment, capture_output=True, check=False)
        if ran.returncode:
            raise RuntimeError(f"{' '.join(args)} failed: {ran.stderr.decode()}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = pool.map(lambda work: count_instructions(*work), works.values())
        return dict(zip(works, counts, strict=True))


def count_instructions(args: Sequence[str], environment: Mapping[str, str]) -> int:
    """Count the instructions that Python executes with some arguments."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, *args]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", ran.stderr)
    if found is None:
        raise RuntimeError(f"valgrind did not count: {ran.stderr[-500:]}")
    return int(found[1])


def make_environment(folder: Path, added: Mapping[str, str]) -> dict[str, str]:
    """Make an environment in which counts repeat: one hash seed, compiled modules, none of the user's settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DOWSE_", "PYTHON"))}
    own = {
        "XDG_CONFIG_HOME": "config",
        "DOWSE_STATE_DIR": "state",
        "DOWSE_CACHE_DIR": "cache",
        "PYTHONPYCACHEPREFIX": "compiled",
    }
    folders = {name: str(folder / path) for name, path in own.items()}
    return {**kept, **folders, "PYTHONHASHSEED": "0", "COLUMNS": "100", **added}


def make_tree(root: Path) -> Path:
    """Make a small tree that is the same everywhere and always."""
    for part in range(FOLDERS):
        folder = root / f"shop{part}"
        folder.mkdir(parents=True)
        for number in range(part * FILES_PER_FOLDER, (part + 1) * FILES_PER_FOLDER):
            (folder / f"orders{number}.py").write_text(_SOURCE.format(n=number), encoding="utf-8")
        (folder / "README.md").write_text(
            f"# Shop {part}\n\nOrders, invoices and payments.\n", encoding="utf-8"
        )
    return root


_SOURCE = '''"""Orders of customer {n}."""


class Invoice{n}:
    """What customer {n} has to pay."""

    def total(self):
        return sum(line.price for line in self.lines)


def cancel_order_{n}(order):
    """Cancel an order, and give the money back."""
    if order.is_paid:
        retry_payment_{n}(order, -order.amount)
    order.cancelled = True


def retry_payment_{n}(order, amount):
    """Pay again if the first attempt failed."""
    for attempt in range(3):
        if order.account.transfer(amount):
            return True
    return cancel_order_{n}(order)
'''


if __name__ == "__main__":
    sys.exit(main())
