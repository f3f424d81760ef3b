"""The search for a counter-example of an inequality: spread points, then steps from the best.

The points are those of an additive recurrence, which fill the box evenly without a random draw; a
seed moves all of them. A hidden constant is refuted by growth: that of the largest ratio in three
nested boxes of settings.
"""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

from dpsco_core.base.errors import require
from dpsco_core.referee.inequality import TOLERANCE, Inequality, Point

SPREAD_POINTS = 1500  # the number of points in a box, from a low-discrepancy sequence
MOST_CORNERS = 7  # the largest number of variables whose corners are all tried
STARTS = 6  # the number of points from which a local search starts
STEPS = (0.3, 0.1, 0.03, 0.01, 0.003)  # the step lengths of the local search, as shares of a range
BOXES = (1 / 3, 2 / 3, 1.0)  # the sizes of the nested boxes, as shares of the ranges' logarithms
# An unstated constant counts as refuted if the largest ratio grows by this factor from box to box.
GROWTH = 1.5
CLEAR = 1.5  # a counter-example with this ratio needs no further search
MIDDLE = 0.5

Shares = tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """The results of a search for a counter-example."""

    # the point with the largest ratio, or the simplest counter-example if there is one
    point: Point | None
    ratio: float  # the ratio at that point
    smaller: float
    larger: float
    tried: int  # the number of evaluated points
    allowed: int  # the number of points at which all hypotheses hold and both sides have a value
    growth: tuple[float, ...] = ()  # the largest ratio in each of the nested boxes, for a rate

    @property
    def refutes(self) -> bool:
        """Whether the claim fails: at the point, or, for a rate, by growth without limit."""
        if self.growth:
            return all(
                big >= GROWTH * small > 0
                for small, big in zip(self.growth, self.growth[1:], strict=False)
            )
        return self.ratio > 1 + TOLERANCE


def search(claim: Inequality, seed: int = 0, deadline: float = math.inf) -> SearchResult:
    """Search for a counter-example and return the largest ratio of the two sides.

    Parameters
    ----------
    claim : Inequality
        Its hypotheses must hold at some point of its ranges.
    seed : int
        Moves the points.
    deadline : float
        The value of `time.monotonic` after which no new point is tried.
    """
    if claim.constant == "explicit":
        explorer = _Explorer(claim, seed, deadline, 1.0)
        shares, ratio = explorer.best()
        if shares is not None and ratio > 1 + TOLERANCE:
            shares, ratio = explorer.smallest(shares, ratio)
        return _result(claim, explorer, shares, ratio, ())
    growth: list[float] = []
    tried = allowed = 0
    for size in BOXES:
        explorer = _Explorer(claim, seed, deadline, size)
        shares, ratio = explorer.best()
        # A larger box contains the smaller ones, so ratios cannot decrease.
        growth.append(max([ratio if shares is not None else 0.0, *growth]))
        tried, allowed = tried + explorer.tried, allowed + explorer.allowed
    explorer.tried, explorer.allowed = tried, allowed
    return _result(claim, explorer, shares, ratio, tuple(growth))


def _result(
    claim: Inequality,
    explorer: "_Explorer",
    shares: Shares | None,
    ratio: float,
    growth: tuple[float, ...],
) -> SearchResult:
    """Return the search's result at the point with these shares of the explorer's box."""
    must = "conditions that hold, with both sides defined, at some point of the ranges"
    require(explorer.allowed > 0, "hypotheses", must, claim.slug)
    assert shares is not None
    point = explorer.point(shares)
    return SearchResult(
        point=point,
        ratio=ratio,
        smaller=float(claim.smaller(**point)),
        larger=float(claim.larger(**point)),
        tried=explorer.tried,
        allowed=explorer.allowed,
        growth=growth,
    )


class _Explorer:
    """A search in one box, whose sides are shares of the ranges around their middle."""

    def __init__(self, claim: Inequality, seed: int, deadline: float, size: float) -> None:
        """Prepare the search for a counter-example of a claim until a deadline."""
        self._claim, self._seed, self._deadline, self._size = claim, seed, deadline, size
        self._names = tuple(claim.ranges)
        self.tried = self.allowed = 0
        self._ratios: dict[tuple[float, ...], float] = {}

    def point(self, shares: Shares) -> dict[str, float]:
        """Return the point at the given shares of the box."""
        return {
            name: span.value(span.nested(share, self._size))
            for (name, span), share in zip(self._claim.ranges.items(), shares, strict=True)
        }

    def ratio(self, shares: Shares) -> float:
        """Return the ratio at a point; minus infinity if a hypothesis fails there."""
        point = self.point(shares)
        key = tuple(point.values())
        if key not in self._ratios:
            self.tried += 1
            ratio = self._claim.ratio(point) if self._claim.allows(point) else math.nan
            self.allowed += not math.isnan(ratio)
            self._ratios[key] = -math.inf if math.isnan(ratio) else ratio
        return self._ratios[key]

    def best(self) -> tuple[Shares | None, float]:
        """Return the shares of the box with the largest ratio found, and that ratio.

        The shares are None if the hypotheses hold at none of the points that were tried.
        """
        ratios = {shares: self.ratio(shares) for shares in self._spread() if self._has_time()}
        order = sorted(ratios, key=lambda shares: -ratios[shares])
        best, largest = None, -math.inf
        for start in order[:STARTS]:
            if ratios[start] == -math.inf:
                break
            shares, ratio = self._climb(start, ratios[start])
            if ratio > largest:
                best, largest = shares, ratio
        return best, largest

    def smallest(self, shares: Shares, ratio: float) -> tuple[Shares, float]:
        """Return a counter-example with small, round values that keeps enough of its excess.

        A tenth of the excess over 1 is kept, and no more than a ratio of `CLEAR` is asked for.
        """
        threshold = min(1 + (ratio - 1) / 10, CLEAR)
        for place in range(len(shares)):
            low, high = 0.0, shares[place]
            if self.ratio(_with_share(shares, place, low)) >= threshold:
                high = low
            for _ in range(12):
                middle = (low + high) / 2
                if self.ratio(_with_share(shares, place, middle)) >= threshold:
                    high = middle
                else:
                    low = middle
            shares = self._rounded(_with_share(shares, place, high), place, threshold)
        return shares, self.ratio(shares)

    def _rounded(self, shares: Shares, place: int, threshold: float) -> Shares:
        """Return the shares with one variable rounded to as few digits as possible."""
        name = self._names[place]
        span, value = self._claim.ranges[name], self.point(shares)[name]
        for digits in (1, 2, 3):
            rounded = float(f"{value:.{digits}g}")
            if span.low <= rounded <= span.high and self._size == 1:
                shares_there = _with_share(shares, place, span.share(rounded))
                if self.ratio(shares_there) >= threshold:
                    return shares_there
        return shares

    def _climb(self, shares: Shares, ratio: float) -> tuple[Shares, float]:
        """Move one variable or two at a time, as long as the ratio grows.

        Where a hypothesis ties two variables, neither can move alone.
        """
        for step in STEPS:
            has_moved = True
            while has_moved and self._has_time():
                has_moved = False
                for candidate in self._moves(shares, step):
                    reached = self.ratio(candidate)
                    if reached > ratio * (1 + 1e-6) or reached == math.inf > ratio:
                        shares, ratio, has_moved = candidate, reached, True
                        break
        return shares, ratio

    def _moves(self, shares: Shares, step: float) -> Iterator[Shares]:
        """Yield the shares near `shares`, with one or two of them moved by `step`."""
        singles = [
            (place, min(1.0, max(0.0, shares[place] + direction)))
            for place, direction in product(range(len(shares)), (-step, step))
        ]
        yield from (_with_share(shares, place, share) for place, share in singles)
        for (place, share), (other_place, other_share) in combinations(singles, 2):
            if place != other_place:
                yield _with_share(_with_share(shares, place, share), other_place, other_share)

    def _spread(self) -> Iterator[Shares]:
        """Yield places spread over the whole range: corners, then a low-discrepancy sequence."""
        count = len(self._names)
        if count <= MOST_CORNERS:
            yield from product((0.0, MIDDLE, 1.0), repeat=count)
        golden = 1.5
        # The iteration converges to the positive root of x^(count + 1) = x + 1.
        for _ in range(60):
            golden = (1 + golden) ** (1 / (count + 1))
        steps = [golden ** -(k + 1) for k in range(count)]
        for i in range(SPREAD_POINTS):
            place = i + 1 + 7919 * (self._seed % 100_003)
            yield tuple((MIDDLE + place * step) % 1.0 for step in steps)

    def _has_time(self) -> bool:
        """Return whether the time of the search is not used up."""
        if self.allowed == 0 and self.tried < SPREAD_POINTS:
            return True
        return time.monotonic() < self._deadline


def _with_share(shares: Shares, place: int, share: float) -> Shares:
    """Return the shares with the one at index `place` replaced by `share`."""
    return (*shares[:place], share, *shares[place + 1 :])


def describe(point: Mapping[str, float]) -> str:
    """Return the values of the variables at a point, by name, as text.

    Examples
    --------
    >>> describe({"n": 1000.0, "tau": 12.5})
    'n = 1,000, tau = 12.5'
    """
    texts = {
        name: f"{value:,.0f}" if abs(value) < 1e15 and value == int(value) else f"{value:.6g}"
        for name, value in point.items()
    }
    return ", ".join(f"{name} = {text}" for name, text in texts.items())
