"""The remaining time of a run, from the predicted and the measured seconds of its cells."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

# The weight of the prediction, equal to that of a cell with 3% of the largest predicted seconds.
WEIGHT = 1e-3


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A group of similar cells: one method at one point of the axis, all new or all stored."""

    method: str
    key: Hashable  # a hashable key for the kind of cell within one method
    predicted: float  # the predicted seconds per cell


class TimeLeft:
    """The remaining seconds of a run.

    A kind with finished cells takes their mean. Other kinds take their prediction times a factor
    of their method, fitted by least squares so that large cells weigh most: the first small cells
    also pay for one-time preparations. A method with no finished cell takes the common factor.
    """

    def __init__(
        self,
        cells: Iterable[Kind],  # the kind of every cell of the run
    ) -> None:
        """Begin with the kinds of all cells, none of which has run."""
        self._remaining: dict[Kind, int] = defaultdict(int)
        for cell in cells:
            self._remaining[cell] += 1
        self._spent: dict[Kind, float] = defaultdict(float)
        self._count: dict[Kind, int] = defaultdict(int)
        self._products: dict[str, float] = defaultdict(float)
        self._squares: dict[str, float] = defaultdict(float)
        self._largest = max((kind.predicted for kind in self._remaining), default=0.0) ** 2

    def record(self, cell: Kind, seconds: float) -> None:
        """Record the seconds of a finished cell."""
        self._remaining[cell] -= 1
        self._spent[cell] += seconds
        self._count[cell] += 1
        self._products[cell.method] += cell.predicted * seconds
        self._squares[cell.method] += cell.predicted**2

    @property
    def seconds(self) -> float:
        """The predicted seconds of all unfinished cells."""
        weight = WEIGHT * self._largest
        common = _ratio(sum(self._products.values()), sum(self._squares.values()), weight, 1.0)
        total = 0.0
        for kind, count in self._remaining.items():
            if self._count[kind]:
                total += count * self._spent[kind] / self._count[kind]
                continue
            products, squares = self._products[kind.method], self._squares[kind.method]
            total += count * kind.predicted * _ratio(products, squares, weight, common)
        return total


def _ratio(products: float, squares: float, weight: float, otherwise: float) -> float:
    """Return products / squares, drawn towards `otherwise` by a weight; `otherwise` without data.

    It is the factor that fits measured seconds to predicted ones by least squares.
    """
    return (products + weight * otherwise) / (squares + weight) if squares + weight else otherwise
