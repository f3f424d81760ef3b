"""How long a run still takes, from what its cells were predicted to take and what they took."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

WEIGHT = 1e-3  # the prediction as it was weighs as a cell of 3 % of the largest one's seconds


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Cells that are alike: of one method at one point of the axis, all new or all known."""

    method: str
    at: Hashable  # what else tells them from others
    predicted: float  # seconds of a cell


class TimeLeft:
    """The seconds that the rest of a run takes.

    Cells of a kind that has run take its mean. The others take what is predicted, times a factor
    of their method: a least-squares fit, in which large cells weigh most, as the first small ones
    also pay for what is made only once. A method that has not run yet has the factor of all.
    """

    def __init__(
        self,
        cells: Iterable[Kind],  # all of the run, one for each cell
    ) -> None:
        self._left: dict[Kind, int] = defaultdict(int)
        for cell in cells:
            self._left[cell] += 1
        self._spent: dict[Kind, float] = defaultdict(float)
        self._count: dict[Kind, int] = defaultdict(int)
        self._products: dict[str, float] = defaultdict(float)
        self._squares: dict[str, float] = defaultdict(float)
        self._largest = max((kind.predicted for kind in self._left), default=0.0) ** 2

    def took(self, cell: Kind, seconds: float) -> None:
        """Note that a cell has run."""
        self._left[cell] -= 1
        self._spent[cell] += seconds
        self._count[cell] += 1
        self._products[cell.method] += cell.predicted * seconds
        self._squares[cell.method] += cell.predicted**2

    @property
    def seconds(self) -> float:
        """The prediction for all cells that have not run."""
        weight = WEIGHT * self._largest
        common = _ratio(sum(self._products.values()), sum(self._squares.values()), weight, 1.0)
        total = 0.0
        for kind, count in self._left.items():
            if self._count[kind]:
                total += count * self._spent[kind] / self._count[kind]
                continue
            products, squares = self._products[kind.method], self._squares[kind.method]
            total += count * kind.predicted * _ratio(products, squares, weight, common)
        return total


def _ratio(products: float, squares: float, weight: float, otherwise: float) -> float:
    return (products + weight * otherwise) / (squares + weight) if squares + weight else otherwise
