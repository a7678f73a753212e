"""Run benchmarks, print their figures and write them to ``results/``: ``python -m benchmarks [NAME...]``."""

from __future__ import annotations

import argparse
import compileall
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import dowse
from benchmarks import results
from benchmarks.bench_types import Outcome
from benchmarks.data import MissingDataError

BENCHMARKS = {
    "quality": "how good the answers are: four public query sets",
    "locagent_profile": "the profile locagent beside LocAgent's own hits, and BM25's constants",
    "near": "what the editor's position adds: CodeGrapher's tasks with and without the open file",
    "channels": "what keywords, what vectors and what both find",
    "peers": "how good the answers of other engines are to the same queries",
    "evaluation": "dowse eval beside the bench's own scorer, and how long it takes",
    "speed": "indexing, queries and the command line, side by side with semble",
    "embedding": "what the built-in model adds to indexing, to a query and to the wheel",
    "incremental": "what changed files cost, in a tree of 7,000 files",
    "graph": "the code graph: calls against jedi, nodes, entities, cost, changes",
    "hostile_source": "files that were made to take all time and memory, in every grammar",
    "walk": "how many functions and files a reader meets who follows one query and one file",
    "own_tree": "forty questions about this repository, asked on its own tree",
    "kills": "50 kills in the middle of indexing, and what is left",
    "agents": "tokens until a scripted agent has seen the cited lines, with three sets of tools",
    "serving": "the MCP server: start, overhead, freshness in a tree of 7,000 files",
    "formats": "questions about configuration, infrastructure, CI, notebooks, routes and components",
    "page": "the web page: what it costs beyond the engine, and 100 users while files change",
    "masks": "masked secrets in real trees: how many are secrets",
    "messages": "messages that programs print: the line that printed one",
    "history": "questions about commits, in other words than theirs, and what searching them costs",
    "issues": "issue reports: the files and functions that mended them, in the tree before",
    "soak": "100 sessions over HTTP while files change: errors, memory, processes left",
    "shared": "PostgreSQL beside the embedded store: answers, 100,000 chunks, many at once, kills and restarts",
    "cluster": "an OpenSearch cluster beside the embedded store: answers, loading, what a query takes",
    "vectors": "searching 100,000 to 1,000,000 vectors: what quantization and one-bit codes lose, what a search takes",
    "scale": "100,000 and 1,000,000 chunks: indexing, queries, memory, start",
}
"""Every benchmark, a module each, in the order they run; the long one last."""


def main() -> int:
    """Run the chosen benchmarks; return 1 if data was missing, 2 for an unknown name."""
    named = [
        name for name in BENCHMARKS if name in sys.argv[1:]
    ]  # only these are imported, with what they need
    modules = {name: import_module(f"benchmarks.{name}") for name in named or BENCHMARKS}
    args = _make_parser(modules).parse_args()
    if unknown := set(args.names) - set(BENCHMARKS):
        print(f"no benchmark is called {min(unknown)}: there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    if args.page:
        results.write_page()
        return 0
    compileall.compile_dir(Path(dowse.__file__).parent, quiet=1)  # pip does this for the other engines
    failed = False
    for name in args.names or BENCHMARKS:
        try:
            for outcome in modules[name].run(args):
                _show(outcome)
        except MissingDataError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    return int(failed)


def _make_parser(modules: dict[str, Any]) -> argparse.ArgumentParser:
    listing = "\n".join(f"  {name:12} {about}" for name, about in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"Benchmarks of dowse:\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which to run [default: all]")
    parser.add_argument(
        "--page", action="store_true", help="only write results/README.md from the JSON files"
    )
    for module in modules.values():
        module.add_arguments(parser)
    return parser


def _show(outcome: Outcome) -> None:
    print(f"\n{outcome.title}\n")
    print(results.render_table(results.figures_to_dicts(outcome)))
    for note in outcome.notes:
        print(f"- {note}")
    if outcome.official:
        results.write(outcome)
    else:
        print("(settings were overridden: not kept in results/)")


if __name__ == "__main__":
    sys.exit(main())
