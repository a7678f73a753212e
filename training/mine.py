"""Mine weakly labelled queries from the repositories of the training split.

    python -m training.mine --from TREES --mirrors MIRRORS --to QUERIES --trees COPIES

``TREES/<owner>+<name>`` is a repository at its commit, as ``trees.py`` writes it, and ``MIRRORS/<owner>+<name>/repo``
a bare clone with its history; without one there are no queries from commits. Writes ``QUERIES/<owner>+<name>.jsonl``,
and ``COPIES/<owner>+<name>``, a copy of the tree without the comments that queries were made from: run queries on that.
The text of both belongs to the repositories: none of it may be written into this project.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from training.mining.commits import mine_commits
from training.mining.docs import mine_docs
from training.mining.errors import mine_errors
from training.mining.headings import mine_headings
from training.mining.names import mine_names
from training.mining.test_titles import mine_tests
from training.mining.tree import MinedQuery, Tree, read_tree
from training.trees import Pin, load_pins

from dowse.errors import UsageError
from dowse.evaluation.mining import strip_syntax

LIMITS = {"commit": 40, "doc": 25, "error": 15, "test": 10, "heading": 6, "name": 10}
"""Queries of each kind that a repository gives at the most."""

TREE_KINDS: Mapping[str, Callable[[Tree, random.Random], list[MinedQuery]]] = {
    "error": mine_errors,
    "test": mine_tests,
    "heading": mine_headings,
    "name": mine_names,
}
"""What is mined from the tree as it is, in the order of choice."""

PROJECT = Path(__file__).parent.parent


def main() -> None:
    """Mine every repository of the training split that has a tree."""
    parser = argparse.ArgumentParser(description="Mine weakly labelled queries from the training split.")
    parser.add_argument(
        "--from", dest="source", type=Path, required=True, help="the trees, as trees.py writes them"
    )
    parser.add_argument("--mirrors", type=Path, required=True, help="bare clones: <owner>+<name>/repo")
    parser.add_argument("--to", type=Path, required=True, help="where the queries go")
    parser.add_argument("--trees", type=Path, required=True, help="where copies of the trees go")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", metavar="OWNER/NAME", help="only these repositories")
    arguments = parser.parse_args()
    for folder in (arguments.to, arguments.trees):
        if folder.resolve().is_relative_to(PROJECT):
            parser.error(f"{folder} is in this project: what is mined belongs to the repositories")
        folder.mkdir(parents=True, exist_ok=True)
    for pin in list_train_pins(arguments.only):
        source = arguments.source / pin.folder_name
        if not source.is_dir():
            print(f"{pin.repository}: skipped, there is no {source}", flush=True)
            continue
        rows, contents, notes = mine_repository(pin, source, arguments.mirrors, arguments.seed)
        copy_tree(source, arguments.trees / pin.folder_name, contents)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (arguments.to / f"{pin.folder_name}.jsonl").write_text(text, encoding="utf-8")
        counts = Counter(row["category"] for row in rows)
        print(f"{pin.repository}: {dict(counts)}", *notes, sep="; ", flush=True)


def list_train_pins(only: list[str] | None = None) -> list[Pin]:
    """List the repositories that may be mined: none that ranking is chosen or reported by."""
    return [pin for pin in load_pins() if pin.split == "train" and (not only or pin.repository in only)]


def mine_repository(
    pin: Pin, source: Path, mirrors: Path, seed: int
) -> tuple[list[dict[str, Any]], dict[str, bytes], list[str]]:
    """Mine a repository; return its rows, the files without chosen comments, and notes on what could not be mined."""
    tree = read_tree(source)
    docs = mine_docs(tree, LIMITS["doc"], random.Random(f"{seed} {pin.repository} doc"))
    found, notes = {"commit": list[MinedQuery](), "doc": docs.queries}, []
    try:
        found["commit"] = mine_commits(tree, mirrors / pin.folder_name / "repo", pin.commit, LIMITS["commit"])
    except (UsageError, OSError) as error:
        notes.append(f"no commits: {error}")
    for kind, mine in TREE_KINDS.items():
        found[kind] = mine(tree, random.Random(f"{seed} {pin.repository} {kind}"))
    rows = [
        format_row(f"{pin.folder_name}-{kind}-{number:02}", kind, query)
        for kind in LIMITS
        for number, query in enumerate(_strip_syntax(found[kind])[: LIMITS[kind]], 1)
    ]
    return rows, docs.contents, notes


def _strip_syntax(queries: list[MinedQuery]) -> list[MinedQuery]:
    """Strip what the query language would not read as text."""
    stripped = (query._replace(query=strip_syntax(query.query)) for query in queries)
    return [query for query in stripped if query.query]


def format_row(id: str, kind: str, query: MinedQuery) -> dict[str, Any]:
    """Format a query like those that were written by hand, which nobody has checked."""
    return {
        "id": id,
        "query": query.query,
        "category": kind,
        "relevant": [*({"target": target, "grade": 2} for target in query.primary), *query.secondary],
        "note": query.note,
        "writer": "mined",
        "checked": "no",
    }


def copy_tree(source: Path, target: Path, contents: Mapping[str, bytes]) -> None:
    """Copy the regular files of a tree, by hard links where possible; some get another content."""
    if target.exists():
        shutil.rmtree(target)
    for folder, folders, names in os.walk(source):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            file = Path(folder, name)
            if name == ".git" or file.is_symlink() or not file.is_file():
                continue
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            _copy_file(file, copy, contents.get(file.relative_to(source).as_posix()))


def _copy_file(file: Path, copy: Path, content: bytes | None) -> None:
    if content is not None:
        copy.write_bytes(content)
        return
    try:
        os.link(file, copy)
    except OSError:  # another file system
        shutil.copyfile(file, copy)


if __name__ == "__main__":
    main()
