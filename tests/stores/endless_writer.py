"""Writes an index without end, to be killed: ``python -m tests.stores.endless_writer PLACE SEED``.

The place is a folder, or the address of a server.
"""

import random
import sys
from pathlib import Path

from dowse import stores

from .building import embedded, source


def main(place: str, seed: int) -> None:
    """Commit after commit, each with a few files that come, change or go; says when the first is through."""
    chance = random.Random(seed)
    shared = stores.SharedIndexOptions("killed", "/tree")
    store = (
        stores.create(place, None, "/tree", "one", shared)
        if stores.is_server(place)
        else embedded(Path(place))
    )
    said = False
    while True:
        with store.writer() as writer:
            for _ in range(chance.randint(1, 4)):
                removed = [f"f{chance.randrange(12)}.py" for _ in range(2)]
                files = [
                    source(f"f{number}.py", f"def name{number}():\n    return {chance.randrange(1000)}\n")
                    for number in chance.sample(range(12), 3)
                ]
                writer.apply(removed, files)
                if not said:
                    print("ready", flush=True)
                    said = True


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
