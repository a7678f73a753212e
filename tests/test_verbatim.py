"""Words of the query that a place says one after the other."""

from pathlib import Path

import pytest

from dowse import Engine
from dowse.search.ranking.candidates import DESCRIPTION_WORDS
from dowse.search.ranking.signals import phrase
from dowse.types.answers import Reason

MESSAGE = "Working outside of application context"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """One file raises the message; another has its words more often, in another order."""
    root = tmp_path / "tree"
    root.mkdir()
    words = "# an application context: the context of an application that is working, outside of\n"
    (root / "spread.py").write_text(
        words + "def working(application, context):\n    return context\n", "utf-8"
    )
    raising = (
        f'def current(stack):\n    if not stack:\n        raise RuntimeError("{MESSAGE}.")\n    return 1\n'
    )
    (root / "stack.py").write_text(raising, "utf-8")
    return root


def said(tree: Path, question: str, *off: str) -> dict[str, list[Reason]]:
    """What is said of each file, best first."""
    with Engine.open(tree, store="memory", embedder="none", disabled_signals=off) as engine:
        return {
            hit.path: [reason for reason in hit.reasons if reason.name == "phrase"]
            for hit in engine.search(question).results
        }


@pytest.mark.parametrize(
    ("question", "share", "text"),
    [
        (MESSAGE, 1.0, "working outside of application context"),
        (f"{MESSAGE}.", 1.0, "working outside of application context"),
        ("why outside of application context", 1 / 2, "outside of application context"),
        ("Working outside of application code", 1 / 2, "working outside of application"),
    ],
)
def test_a_place_that_says_it_goes_up(tree: Path, question: str, share: float, text: str) -> None:
    (reason,) = said(tree, question)["stack.py"]
    assert reason.value == pytest.approx(1.0 + phrase.GAIN * share)
    assert reason.detail == f'says "{text}"'


def test_the_order_of_words_counts(tree: Path) -> None:
    assert said(tree, MESSAGE)["spread.py"] == []


@pytest.mark.parametrize(
    "question",
    [
        "outside of application",  # too few words
        "outside of application code",  # too few of them in a row
        "context application of outside working",  # another order
        "of it is that the application",  # a row of words that say nothing
        "RuntimeError",  # a name
        f"where {MESSAGE}",  # asks
        f"{MESSAGE} {' '.join(f'word{letter}' for letter in 'abcdefghijkl'[:DESCRIPTION_WORDS])}",  # describes a place
    ],
)
def test_else_it_says_nothing(tree: Path, question: str) -> None:
    assert not any(said(tree, question).values())


def test_it_can_be_switched_off(tree: Path) -> None:
    assert not any(said(tree, MESSAGE, "phrase").values())


def test_the_longest_row_is_the_first_of_equals() -> None:
    assert phrase._find_longest_row([0, 1, 4, 5, 6, 9]) == (4, 3)
    assert phrase._find_longest_row([0, 1, 4, 5]) == (0, 2)
    assert phrase._find_longest_row([]) == (0, 0)
