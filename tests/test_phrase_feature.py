"""Words of the query that a place says one after the other: a message leads to the code that raises it."""

from pathlib import Path

import pytest

from dowse import Engine
from dowse.search.ranking.features import TEXT_FEATURES
from dowse.search.ranking.model import make_model, measure_traits
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
    with Engine.open(tree, store="memory", embedder="none", disabled_features=off) as engine:
        return {
            hit.path: [reason for reason in hit.reasons if reason.name == "phrase"]
            for hit in engine.search(question).results
        }


def get_phrase_weight(tree: Path, question: str) -> float:
    """What a phrase that is all of the query adds to the score of a place."""
    with Engine.open(tree, store="memory", embedder="none") as engine:
        engine.index()
        with engine.candidates(question) as context:
            model = make_model(measure_traits(context))
    return model.file_share * model.text[list(TEXT_FEATURES).index("phrase")]


@pytest.mark.parametrize(
    ("question", "share", "text"),
    [
        (MESSAGE, 1.0, "working outside of application context"),
        (f"{MESSAGE}.", 1.0, "working outside of application context"),
        ("why outside of application context", 4 / 5, "outside of application context"),
        ("Working outside of application code", 4 / 5, "working outside of application"),
        (f"where {MESSAGE}", 5 / 6, "working outside of application context"),
    ],
)
def test_a_place_that_says_it_goes_up(tree: Path, question: str, share: float, text: str) -> None:
    (reason,) = said(tree, question)["stack.py"]
    assert reason.value == pytest.approx(get_phrase_weight(tree, question) * share)
    assert reason.detail == f'says "{text}"'


def test_the_message_leads_to_what_raises_it(tree: Path) -> None:
    assert next(iter(said(tree, MESSAGE))) == "stack.py"
    assert get_phrase_weight(tree, MESSAGE) > 0


def test_the_order_of_words_counts(tree: Path) -> None:
    assert said(tree, MESSAGE)["spread.py"] == []


@pytest.mark.parametrize(
    "question",
    [
        "application context",  # too few words
        "outside application context working",  # too few of them in a row
        "context application of outside working",  # another order
        "of it is that the application",  # a row of words that say nothing
        "RuntimeError",  # a name
    ],
)
def test_else_it_says_nothing(tree: Path, question: str) -> None:
    assert not any(said(tree, question).values())


def test_it_can_be_switched_off(tree: Path) -> None:
    assert not any(said(tree, MESSAGE, "phrase").values())
