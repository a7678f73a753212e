"""Column store with lazy rows: named tuples kept as columns in memory, and materialized when they are accessed.

A file of the index may have hundreds of definitions, of which a query looks at two or three. Columns are a few arrays
and tuples: quick to decode, and little work for the garbage collector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, overload

Row = TypeVar("Row", bound=NamedTuple)


class LazyRows(Sequence[Row]):
    """A sequence of named tuples over columns; each row is built when it is first accessed, and kept."""

    __slots__ = ("_columns", "_kind", "_made", "_read")

    def __init__(
        self,
        kind: type[Row],
        columns: Sequence[Sequence[Any]] = (),
        ready: Mapping[str, Sequence[Any]] | None = None,
        read: Callable[[], Sequence[Sequence[Any]]] | None = None,
    ) -> None:
        """Take all columns; or those that are ``ready`` (at least one), and how to ``read`` all if others are used."""
        self._kind = kind
        self._columns = ready or self._by_name(columns)
        self._made: dict[int, Row] = {}
        self._read = read

    def _by_name(self, columns: Sequence[Sequence[Any]]) -> Mapping[str, Sequence[Any]]:
        kind = self._kind
        if len(columns) != len(kind._fields) or len(set(map(len, columns))) > 1:
            raise ValueError(f"{len(columns)} columns are no rows of {kind.__name__}")
        return dict(zip(kind._fields, columns, strict=True))

    def _whole(self) -> Mapping[str, Sequence[Any]]:
        """Return all columns by name; read them if they were not needed before."""
        read = self._read
        if read is not None:  # two threads may both read
            self._columns = self._by_name(read())
            self._read = None
        return self._columns

    def column(self, name: str) -> Sequence[Any]:
        """Return one value of every row."""
        return self._columns[name] if name in self._columns else self._whole()[name]

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(index, slice):
            return tuple([self[one] for one in range(len(self))[index]])
        row = self._made.get(index)
        if row is None:
            if index < 0:  # from the end
                return self[range(len(self))[index]]
            row = self._kind._make([column[index] for column in self._whole().values()])
            row = self._made.setdefault(index, row)  # of several threads, all get the first one
        return row

    def __iter__(self) -> Iterator[Row]:
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __repr__(self) -> str:
        return repr(tuple(self))  # equal rows read the same: a dump of an index is compared by it

    def __reduce__(self) -> tuple[Any, ...]:
        return LazyRows, (self._kind, list(self._whole().values()))

    __hash__ = None  # type: ignore[assignment]


def to_columns(rows: Sequence[Row], kind: type[Row]) -> Sequence[Sequence[Any]]:
    """Return the columns of some rows."""
    if isinstance(rows, LazyRows):
        return [rows.column(name) for name in kind._fields]
    return list(zip(*rows, strict=True)) or [()] * len(kind._fields)


def read_column(rows: Sequence[Any], name: str) -> Sequence[Any]:
    """Return one value of every row."""
    return rows.column(name) if isinstance(rows, LazyRows) else list(map(attrgetter(name), rows))
