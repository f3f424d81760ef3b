r"""The tail of the user's own numbers: an estimate of the tail index, and a matching scenario.

Beyond a high threshold nearly every law is close to a generalised Pareto law, whose shape
:math:`\gamma` is one over the tail index, and not above 0 where the tail is light (Pickands 1975).
Only the distances beyond the threshold enter, so that neither a shift nor a scale changes the
estimate. It is exact for Pareto and Lomax data; that of other laws has a bias that falls with the
threshold, slowly, and no sample says how large it is: at n = 20,000 log-normal data, whose tail
index is infinite, look like one of 4. `Tail.interval` covers the spread of the samples alone.

The estimate looks at the numbers without any noise: it is not private.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, require

FEWEST = 100
LARGEST = 1e100  # The size of a number is at most this, so that powers of sums stay finite.
LIGHT = 20.0  # No sample distinguishes this tail index from a light tail.
HEAVY = 4.0  # A tail is called light if the numbers rule out this tail index.
# An index is ruled out if it is this many standard errors away: above 1.96 because of the bias.
CARE = 2.5
# A normal variable differs from its mean by more than this many standard deviations with
# probability 0.05.
QUANTILE = 1.96
LEAST_FARTHEST, MOST_FARTHEST = 10, 2000
THRESHOLDS = 24  # the number of thresholds in the plot
MOST_EQUAL = 0.002  # the largest share of the numbers that may equal the farthest number by chance
ONE_SIDED = 0.9  # A tail is called one-sided if one side has this share of it.


@dataclass(frozen=True, kw_only=True)
class Tail:
    """The estimated tail of n numbers."""

    count: int  # the size of the sample
    tail_count: int  # the number of farthest numbers on which the estimate rests
    shape: float  # the estimated shape, one over the tail index; at most 0 for a light tail
    # Increasing counts of the farthest numbers, and the shape that each count gives.
    farthest: tuple[int, ...]
    shapes: tuple[float, ...]
    mean: float
    median: float
    one_sided: bool  # whether the tail is on one side of the median

    @property
    def index(self) -> float:
        """The tail index: moments of a lower order exist. Infinite for a light tail."""
        return index_of(self.shape)

    @property
    def indices(self) -> tuple[float, ...]:
        """The estimated tail index for each number of farthest numbers."""
        return tuple(map(index_of, self.shapes))

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest estimate of the index, from half to twice as many numbers."""
        close = [
            index_of(shape)
            for k, shape in zip(self.farthest, self.shapes, strict=True)
            if self.tail_count <= 2 * k <= 4 * self.tail_count
        ]
        return min(*close, self.index), max(*close, self.index)

    @property
    def interval(self) -> tuple[float, float]:
        r"""The 95 % interval of the tail index, asymptotic: infinite at an end that can be light.

        Of :math:`k` distances beyond a threshold that follow a generalised Pareto law, the shape
        has the standard error :math:`(1+\gamma)/\sqrt k` (Smith 1987, for the most likely shape;
        that of Zhang and Stephens 2009 tends to it). The interval holds every shape
        :math:`\gamma` from which the estimate is at most 1.96 standard errors away, with
        :math:`\max(\gamma, 0)` in the error, and the index is one over the shape.

        It holds the spread of samples, and no bias. Of 2000 samples the share whose interval held
        the index of the law was, at n = 200, 2000 and 20,000: Student t(3) 0.95, 0.94 and 0.95;
        Pareto 1.5 0.96, 0.95 and 0.95; Gaussian (infinite) 0.99, 1.00 and 1.00. Of log-normal
        numbers, whose index is infinite, it was 0.68, 0.33 and 0.02: they look like a power law,
        and no interval of an estimator of this kind shows that they are none.
        """
        # The spread is below 1, because `FEWEST` numbers have 15 in the tail.
        spread = QUANTILE / math.sqrt(self.tail_count)
        largest, smallest = (
            (self.shape + spread) / (1 - spread),
            (self.shape - spread) / (1 + spread),
        )
        return index_of(largest), index_of(smallest)

    @property
    def can_be_either(self) -> bool:
        """Whether the interval allows a heavy tail and a light one."""
        return self.kind != "light" and self.interval[1] >= LIGHT

    @property
    def kind(self) -> Literal["heavy", "light", "unclear"]:
        r"""Whether a power law is seen, none is, or there are too few numbers to tell.

        A tail is light if its shape is about 0 and `CARE` standard errors more would not make its
        index as small as `HEAVY`; that of the shape is :math:`(1+\gamma)/\sqrt k` (Smith 1987).
        """
        if self.shape > 1 / LIGHT:
            return "heavy"
        largest = self.shape + CARE * (1 + max(self.shape, 0.0)) / math.sqrt(self.tail_count)
        return "light" if largest < 1 / HEAVY else "unclear"

    @property
    def law(self) -> str:
        """The slug of the distribution in the catalogue whose tail is most like this one."""
        if self.kind == "light":
            return "gaussian"
        return "skewed-pareto" if self.one_sided else "student-t"

    def order(self, offered: Sequence[float], margin: float) -> float:
        """Return the largest order of `offered` whose moment exists with `margin` to spare.

        If no such moment exists it is the smallest order, and bounds on that moment do not apply to
        such data. If there are too few numbers to tell, it is the smallest order that is at least
        2, which assumes a variance only.
        """
        if self.kind == "unclear":
            return min((p for p in offered if p >= 2), default=min(offered))
        fitting = [p for p in sorted(offered) if p + margin <= self.index]
        return fitting[-1] if fitting else min(offered)


def index_of(shape: float) -> float:
    """Return the tail index of a shape, one over it; infinite if the shape is not above 0."""
    return 1 / shape if shape > 0 else math.inf


def interval_in_words(low: float, high: float) -> str:
    """Return an interval of a tail index; an end of `LIGHT` or more is open.

    Examples
    --------
    >>> interval_in_words(2.61, 4.93), interval_in_words(4.7, math.inf)
    ('2.6 to 4.9', '4.7 or more')
    """
    start = f"{min(low, LIGHT):.2g}"
    return f"{start} or more" if high >= LIGHT else f"{start} to {high:.2g}"


def kind_in_words(kind: str, *, can_be_either: bool) -> str:
    """Return the kind of a tail in words, which say if its interval allows heavy and light ones."""
    return f"{kind}: the interval allows both" if can_be_either else kind


def require_usable(values: Vector) -> None:
    """Raise `InvalidInput` for fewer than `FEWEST` different numbers, or too large ones."""
    require(len(values) >= FEWEST, "numbers", f"at least {FEWEST} in one column", len(values))
    largest = float(np.max(np.abs(values)))
    require(largest <= LARGEST, "numbers", f"at most {LARGEST:g} in size", largest)
    differing = len(np.unique(values))
    require(differing >= FEWEST, "numbers", f"at least {FEWEST} different ones", differing)


def tails(records: Vector, names: Sequence[str]) -> tuple[Tail, ...]:
    """Return the tail of each column of records, shape (n, d); see `tail`.

    Raises `InvalidInput` as `require_usable` does; of several columns it names the one it is about.
    """
    if len(names) > 1:
        must = f"at least {FEWEST} with a number in every chosen column"
        require(len(records) >= FEWEST, "rows", must, len(records))
    fits = []
    for name, values in zip(names, records.T, strict=True):
        try:
            require_usable(values)
            fits.append(tail(values))
        except InvalidInput as problem:
            if len(names) == 1:
                raise
            raise InvalidInput(f"column {name}: {problem}") from None
    return tuple(fits)


def heaviest(fits: Sequence[Tail]) -> int:
    r"""Return the index of the column with the heaviest tail, which is that of the whole record.

    The largest entry of a record is at most its norm, which is at most the sum of the entries'
    sizes. So a moment of the norm exists where it exists for every column, whatever the scales and
    however the columns depend on each other.
    """
    return max(range(len(fits)), key=lambda k: fits[k].shape)


def joint_order(fits: Sequence[Tail], offered: Sequence[float], margin: float) -> float:
    """Return the largest order that `Tail.order` allows for every column."""
    return min(fit.order(offered, margin) for fit in fits)


def cap_notes(values: Vector) -> list[str]:
    """Return sentences on numbers that equal the largest or the smallest one too often.

    Rounded numbers are equal here and there, and the fewer the farther out: only an end with more
    of them than twice its neighbour is a cap. A smallest number of 0 is none.

    Examples
    --------
    >>> cap_notes(np.minimum(np.arange(1000.0), 987))
    ['13 numbers are equal to the largest, 987: a cap hides the tail beyond it.']
    """
    notes = []
    distinct, counts = np.unique(values, return_counts=True)
    for end, neighbour, words in ((-1, -2, "largest"), (0, 1, "smallest")):
        count = int(counts[end])
        is_cap = count > 2 and count >= MOST_EQUAL * len(values)
        if (
            is_cap
            and len(distinct) > 1
            and count > 2 * counts[neighbour]
            and (distinct[end] or words == "largest")
        ):
            notes.append(
                f"{count:,} numbers are equal to the {words}, {distinct[end]:.15g}: a cap hides "
                "the tail beyond it."
            )
    return notes


def tail(values: Vector) -> Tail:
    r"""Return the estimated tail of the distances from the median.

    The estimate rests on the :math:`k = n^{0.6}` farthest numbers, at most 2000: enough of them to
    average over, and few enough that the threshold rises with n. Raises `InvalidInput` if too many
    of the farthest numbers are equal.

    Examples
    --------
    >>> powers = (np.arange(1, 100_001) / 100_000.5) ** (-1 / 3)  # quantiles of index 3
    >>> round(tail(1001 + powers).index, 1), round(tail(np.concatenate([powers, -powers])).index, 1)
    (3.1, 3.1)
    """
    n = len(values)
    median = float(np.median(values))
    tail_count = min(int(n**0.6), MOST_FARTHEST)
    largest_count = min(n // 4, MOST_FARTHEST)
    deviations = values - median
    order = np.argsort(np.abs(deviations), kind="stable")[-largest_count - 1 :]
    distances = np.abs(deviations[order])
    require(distances[-1] > 0, "numbers", "different from one another", n)
    distances /= distances[-1]
    steps = np.unique(np.geomspace(LEAST_FARTHEST, largest_count, THRESHOLDS).astype(np.intp))
    shapes = [(int(k), _estimate_shape(distances[-k - 1 :])) for k in (*steps, tail_count)]
    estimates = sorted({k: shape for k, shape in shapes if not math.isnan(shape)}.items())
    must = "ones whose farthest differ from one another"
    require(tail_count in dict(estimates), "numbers", must, f"{n:,} with too many equal ones")
    share_above = float(np.mean(deviations[order[-tail_count:]] > 0))
    return Tail(
        count=n,
        tail_count=tail_count,
        shape=dict(estimates)[tail_count],
        farthest=tuple(k for k, _ in estimates),
        shapes=tuple(shape for _, shape in estimates),
        mean=float(np.mean(values)),
        median=median,
        one_sided=share_above > ONE_SIDED or share_above < 1 - ONE_SIDED,
    )


def _estimate_shape(
    distances: Vector,  # increasing distances, the first of which is the threshold
) -> float:
    r"""Return the shape of the generalised Pareto law of the distances beyond a threshold.

    The estimate of Zhang and Stephens (2009), close to the most likely one and never without a
    solution: with the likelihood that is left when :math:`\gamma = \overline{\log(1-\theta x)}`
    it averages :math:`\theta` over :math:`30 + \sqrt k` places. NaN where a quarter of the
    distances equals the threshold.
    """
    excess = distances[1:] - distances[0]
    k = len(excess)
    quartile = float(excess[int(k / 4 + 0.5) - 1])
    if quartile <= 0:
        return math.nan
    places = np.arange(1, 30 + int(math.sqrt(k)) + 1)
    theta = 1 / excess[-1] + (1 - np.sqrt(len(places) / (places - 0.5))) / (3 * quartile)
    # The array takes at most a megabyte.
    shapes = np.mean(np.log1p(-theta[:, None] * excess), axis=1)
    likelihood = k * (np.log(-theta / shapes) - shapes - 1)
    weights = np.exp(likelihood - np.max(likelihood))
    best = float(weights @ theta / weights.sum())
    return float(np.mean(np.log1p(-best * excess)))


def central_moment(values: Vector, order: float) -> float:
    r"""Return :math:`(\frac1n\sum|x_i - \bar x|^p)^{1/p}`, the p-th root of the central moment.

    It is the unit of a scenario's lengths, in the unit of the data.
    """
    deviations = np.abs(values - np.mean(values))
    top = float(np.max(deviations))
    return float(top * np.mean((deviations / top) ** order) ** (1 / order))
