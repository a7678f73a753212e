"""Answer a question about a source tree: python find.py TREE "where are changed files noticed"."""

import sys

from dowse import Engine, SearchOptions


def main(tree: str, query: str) -> None:
    """Print the best places, why the first one is there, and who calls it."""
    with Engine.open(tree) as engine:
        response = engine.search(query, SearchOptions(limit=3))
        for hit in response.results:
            print(f"{hit.path}:{hit.start_line}-{hit.end_line} {hit.entity} ({hit.relevance:.2f})")
        if not response.results:
            return
        first = response.results[0]
        print("why:", ", ".join(f"{reason.name} {reason.value:+.2f}" for reason in first.reasons[:3]))
        if first.entity:
            for step in engine.graph.callers(f"{first.path}:{first.entity}").steps:
                print("called by", step.node)


if __name__ == "__main__":
    main(*sys.argv[1:])
