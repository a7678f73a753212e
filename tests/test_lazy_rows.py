"""Rows that are kept by column are as the rows they were made of."""

import gc
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.lazy_rows import LazyRows, read_column, to_columns


class Point(NamedTuple):
    x: int
    name: str | None


POINTS = st.lists(st.builds(Point, st.integers(), st.none() | st.text()))


@given(POINTS, st.integers(-5, 5), st.integers(-5, 5))
def test_rows_are_those_they_were_made_of(points: list[Point], first: int, last: int) -> None:
    rows = LazyRows(Point, to_columns(points, Point))
    assert rows == points and points == rows and rows == tuple(points) and len(rows) == len(points)
    assert list(rows) == points and all(type(row) is Point for row in rows)
    assert rows[first:last] == tuple(points[first:last])
    assert (
        list(read_column(rows, "name"))
        == list(read_column(points, "name"))
        == [point.name for point in points]
    )
    assert LazyRows(Point, to_columns(rows, Point)) == rows
    assert rows != [*points, Point(0, "")] and rows != 5
    assert repr(rows) == repr(tuple(points))


def test_a_row_is_made_once_and_only_if_it_is_asked_for() -> None:
    before = points_there_are()
    rows = LazyRows(Point, [list(range(1000)), ["x"] * 1000])
    assert points_there_are() == before
    assert rows[7] is rows[7] and rows[-1] is rows[999] and rows[999] == Point(999, "x")
    assert points_there_are() == before + 2


def points_there_are() -> int:
    return sum(type(thing) is Point for thing in gc.get_objects())


@pytest.mark.parametrize("place", [3, -4])
def test_there_is_no_row_beyond_the_last(place: int) -> None:
    with pytest.raises(IndexError):
        LazyRows(Point, [[1, 2, 3], ["a", "b", "c"]])[place]


@pytest.mark.parametrize("columns", [[], [[1]], [[1], ["a", "b"]], [[1], ["a"], [2]]])
def test_columns_that_are_no_rows(columns: list[list[object]]) -> None:
    with pytest.raises(ValueError, match="no rows of Point"):
        LazyRows(Point, columns)
