"""The instruction budget: what is compared, and when."""

import pytest
from benchmarks import budget
from benchmarks.budget import Record, compare, describe_other_build

RECORDED = Record("3.11.7", 1_000_000, {"help": 1000, "search": 2000})


def test_what_takes_a_little_more_or_less_is_within_the_budget() -> None:
    assert compare(RECORDED.instructions, {"help": 1050, "search": 1500}) == []


def test_what_takes_more_is_a_problem() -> None:
    (problem,) = compare(RECORDED.instructions, {"help": 1000, "search": 2102})
    assert problem == "budget: 'search' takes 5.1% more than recorded"


def test_what_was_never_recorded_is_a_problem() -> None:
    (problem,) = compare(RECORDED.instructions, {"help": 1000, "callers": 1})
    assert "'callers' is not in budget.json" in problem


@pytest.mark.parametrize(
    ("python", "calibration", "why"),
    [
        ("3.11.7", 1_009_000, ""),
        ("3.12.1", 1_000_000, "it was recorded with Python 3.11.7 and this is 3.12.1"),
        ("3.11.7", 1_100_000, "this is another build of Python 3.11.7 than it was recorded with"),
    ],
)
def test_only_the_same_build_of_python_is_compared(python: str, calibration: int, why: str) -> None:
    assert describe_other_build(RECORDED, python, calibration) == why


def test_everything_that_is_counted_has_a_budget() -> None:
    assert budget.read_budget().instructions.keys() == budget.WORKS.keys()
