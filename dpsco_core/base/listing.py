"""A tuple that can grow at its end, for the lists of the catalogue."""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar, overload

Row = TypeVar("Row")


class Listing(Sequence[Row], Generic[Row]):
    """Rows in order; whoever holds the list sees what is added later.

    Examples
    --------
    >>> rows = Listing(("a", "b"))
    >>> rows.extend(("c",))
    >>> list(rows), len(rows), "c" in rows
    (['a', 'b', 'c'], 3, True)
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows = tuple(rows)

    def extend(self, rows: Iterable[Row]) -> None:
        """Add rows at the end; `dpsco_core.catalogue.add` does so."""
        self._rows = (*self._rows, *rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        """Return a row, or some as a tuple."""
        return self._rows[place]

    def __len__(self) -> int:
        """Return how many rows there are now."""
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        """Whether `other` has the same rows now, in the same order."""
        return isinstance(other, Sequence) and self._rows == tuple(other)
