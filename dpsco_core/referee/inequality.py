"""Claims that one quantity is at most another: a lemma, a constant, a sensitivity, a noise."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from dpsco_core.base.errors import CodeFailed, NotApplicable, require

Point = Mapping[str, float]  # a value for every variable, by name
Quantity = Callable[..., float]  # a function that takes the variables as keyword arguments
# The errors of a quantity without a value, such as the logarithm of a negative number.
UNDEFINED = (ArithmeticError, ValueError, NotApplicable)
TOLERANCE = 1e-9  # the relative excess that counts as rounding


@dataclass(frozen=True, kw_only=True)
class VariableRange:
    """The range of one variable in a statement."""

    low: float
    high: float
    is_whole: bool = False

    def __post_init__(self) -> None:
        """Refuse an empty range."""
        is_range = math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high
        require(is_range, "range", "finite and not empty", f"{self.low:g} to {self.high:g}")

    @property
    def is_logarithmic(self) -> bool:
        """Whether the range spans more than a factor 4, so that the search uses logarithms."""
        return self.low > 0 and self.high > 4 * self.low

    def value(self, share: float) -> float:
        """Return the value at a share from 0 to 1 of the range.

        Examples
        --------
        >>> VariableRange(low=1, high=10_000, is_whole=True).value(0.5)
        100.0
        """
        if self.is_logarithmic:
            value = math.exp(math.log(self.low) * (1 - share) + math.log(self.high) * share)
        else:
            value = self.low * (1 - share) + self.high * share
        value = min(max(value, self.low), self.high)
        return float(round(value)) if self.is_whole else value

    def nested(self, share: float, size: float) -> float:
        """Return the share of the whole range that equals a share of a nested, smaller range.

        Smaller ranges are around the value nearest to 1, on the logarithmic scale: what grows
        without an end does so towards the other ends, as n and 1/epsilon become large. A range
        that is not logarithmic has no such end.
        """
        if not self.is_logarithmic:
            return share
        anchor = self.share(min(max(1.0, self.low), self.high))
        return anchor + (share - anchor) * size

    def share(self, value: float) -> float:
        """Return the share of the range below a value, from 0 to 1; the inverse of `value`."""
        low, high = self.low, self.high
        if self.is_logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return (value - low) / (high - low)


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """A condition of a statement, in words and as a function of its variables."""

    text: str
    holds: Callable[..., bool]


@dataclass(frozen=True, kw_only=True)
class Inequality:
    """The claim that `smaller` is at most `larger` whenever all hypotheses hold.

    Examples
    --------
    >>> claim = Inequality(
    ...     slug="half",
    ...     text="1 - 1/x is at most 1/2",
    ...     smaller=lambda x: 1 - 1 / x,
    ...     larger=lambda x: 0.5,
    ...     ranges={"x": VariableRange(low=1, high=100)},
    ...     hypotheses=(Requirement(text="x > 1", holds=lambda x: x > 1),),
    ... )
    >>> claim.ratio({"x": 4.0})
    1.5
    """

    slug: str
    text: str  # the statement in words
    smaller: Quantity
    larger: Quantity
    ranges: Mapping[str, VariableRange]
    hypotheses: tuple[Requirement, ...]
    # An "explicit" claim states all constants; a "rate" holds up to an unstated constant factor.
    constant: Literal["explicit", "rate"] = "explicit"
    path: str = field(default="", compare=False)  # the file with the statement

    def __post_init__(self) -> None:
        """Raise an error for a claim without variables or without hypotheses."""
        require(bool(self.ranges), "ranges", "those of at least one variable", "none")
        require(bool(self.hypotheses), "hypotheses", "at least one condition", "none")

    def allows(self, point: Point) -> bool:
        """Return whether every hypothesis holds at a point; false if one is undefined."""
        try:
            return all(bool(h.holds(**point)) for h in self.hypotheses)
        except CodeFailed:
            raise
        except UNDEFINED:
            return False

    def ratio(self, point: Point) -> float:
        """Return the smaller quantity over the larger; NaN if either is undefined.

        It is above 1 where the claim fails: infinite where `larger` is not positive and `smaller`
        is.
        """
        try:
            smaller, larger = float(self.smaller(**point)), float(self.larger(**point))
        except CodeFailed:
            raise
        except UNDEFINED:
            return math.nan
        if math.isnan(smaller) or math.isnan(larger):
            return math.nan
        if math.isinf(smaller) and smaller == larger:
            return math.nan
        if larger > 0:
            return smaller / larger if math.isfinite(larger) else 0.0
        return math.inf if smaller > larger else 1.0
