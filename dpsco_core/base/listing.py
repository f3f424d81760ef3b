"""A tuple that can grow at its end, for the lists of the catalogue."""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar, overload

Row = TypeVar("Row")


class Listing(Sequence[Row], Generic[Row]):
    """Rows in order; whoever holds the list sees what `dpsco_core.catalogue.add` adds later.

    Examples
    --------
    >>> rows = Listing(("a", "b"))
    >>> rows.extend(("c",))
    >>> list(rows), len(rows), "c" in rows
    (['a', 'b', 'c'], 3, True)
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = tuple(rows)

    def extend(self, rows: Iterable[Row]) -> None:
        self._rows = (*self._rows, *rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        return self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._rows == tuple(other)
