"""Run one reader or writer of the endurance test: ``python -m benchmarks.shared_worker read URL VIEW SECONDS THREADS``.

Each commit moves one word to the next file, so that the files of an answer show its generation. A
writer prints each generation when the commit is acknowledged, and at the end the number of
commits; a reader prints how many answers it got.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import closing

from tests.stores.building import dense, lexical, source

from dowse import stores
from dowse.errors import IndexLocked, IndexUnreachable
from dowse.stores.protocol import Store


def main(role: str, url: str, view: str, seconds: str, threads: str = "1") -> None:
    """Work for a while."""
    until = time.monotonic() + float(seconds)
    if role == "write":
        with closing(_open_store(url, view)) as store:
            print(_write(store, until), flush=True)
        return
    errors: list[BaseException] = []
    counts: list[int] = []

    def read() -> None:
        try:
            counts.append(_read(url, view, until))
        except BaseException as error:
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(int(threads))]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    if errors:
        raise errors[0]
    print(sum(counts))


def _open_store(url: str, view: str) -> Store:
    return stores.create(url, None, view, "one", stores.SharedIndexOptions(f"repository of {view}", view))


def _write(store: Store, until: float) -> int:
    commits, generation = 0, 0
    while time.monotonic() < until:
        try:
            with store.writer() as writer:
                generation = generation or _read_generation(store)
                for _ in range(10):
                    moved = source(f"f{generation}.txt", "marker")
                    generation = writer.apply([f"f{generation - 1}.txt"], [moved])
                    commits += 1
                    print(generation, flush=True)
        except IndexLocked:
            time.sleep(0.05)  # the server has not noticed yet that the one before was killed
    return commits


def _read_generation(store: Store) -> int:
    with store.snapshot() as snapshot:
        return snapshot.generation


def _read(url: str, view: str, until: float) -> int:
    answers = 0
    with closing(_open_store(url, view)) as store:
        while time.monotonic() < until:
            try:
                with store.snapshot() as snapshot:
                    expected = sorted([f"f{snapshot.generation - 1}.txt", "g.txt"])
                    found = (sorted(lexical(snapshot, "marker")), sorted(dense(snapshot, "marker")))
                    assert found == (expected, expected), f"torn: {found} at {snapshot.generation}"
                    assert sorted(snapshot.manifest()) == expected, "torn: other files"
                    answers += 1
            except IndexUnreachable as error:
                if "has changed meanwhile" not in str(error):
                    raise
    return answers


if __name__ == "__main__":
    main(*sys.argv[1:])
