"""The corpus of the fuzzer, replayed: every reader of foreign bytes keeps to what it may do. Needs no fuzzer."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.targets import TARGETS

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
MAX_BYTES = 1_000_000


@pytest.mark.parametrize("name", TARGETS)
def test_every_input_is_taken(name: str) -> None:
    run = TARGETS[name].load()
    run(b"")
    inputs = sorted((CORPUS / name).iterdir())
    assert inputs
    for path in inputs:
        try:
            run(path.read_bytes())
        except Exception as error:
            error.add_note(f"input: {path}")
            raise


def test_corpus_is_small_and_has_no_strangers() -> None:
    assert sorted(folder.name for folder in CORPUS.iterdir()) == sorted(TARGETS)
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < MAX_BYTES


def test_every_target_is_in_the_table() -> None:
    files = {path.stem for path in (CORPUS.parent / "targets").glob("*.py")} - {"__init__"}
    assert files == set(TARGETS)
