"""Rounds of clipping: each clips to a smaller ball about the last answer and averages with noise.

CoinPress (Biswas, Dong, Kamath and Ullman 2020) consists of such rounds, and adaptive clipping
finds its centre by them. See theory/adaptive-methods.md, 1.1 and 2.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.search import smallest
from dpsco_core.methods.mean import ladder
from dpsco_core.methods.mean.reading import Reading
from dpsco_core.methods.records.base import scaled_bound, tail_excess
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise
from dpsco_core.problems.base import Setting

T = TypeVar("T")

MOST_ROUNDS = 6
# candidate shares of rho for the centre; a share of 0 means no centre
CENTRE_SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
WORTHWHILE = 0.2  # the share by which a centre must lower the error in the plan's model
NEARER = 1 / 3  # the factor by which a centre must be closer to the mean than a small bound is
# The probability that a normal record, or the noise of an average, falls outside its ball.
MISS_CHANCE = 0.01


@dataclass(frozen=True, kw_only=True)
class CentreRounds:
    """The rounds of clipping that find a centre."""

    radii: tuple[float, ...]  # the radius of each round's ball
    rho: float  # the budget of all rounds together, in equal parts
    distance: float  # the likely distance of the answer from the mean, for light tails

    @property
    def rhos(self) -> tuple[float, ...]:
        """The rho of each round, in equal parts."""
        return (self.rho / len(self.radii),) * len(self.radii)


def plan_centre(n: int, d: int, bound: float, scale: float, rho: float) -> CentreRounds:
    """Return the rounds whose answer is likely to be nearest to the mean, for a rho > 0.

    The mean has a norm of at most `bound`; a coordinate has about the standard deviation `scale`.
    """
    reach = gaussian_norm_bound(d, MISS_CHANCE)

    def plan_of(rounds: int) -> CentreRounds:
        """Return the plan for a number of rounds that share rho equally."""
        shares = (rho / rounds,) * rounds
        radii, distance = round_radii(
            n, bound, scale, shares, reaches=(reach,) * rounds, likely=(reach,) * rounds
        )
        return CentreRounds(radii=radii, rho=rho, distance=distance)

    return smallest(
        map(plan_of, range(1, MOST_ROUNDS + 1)), lambda p: p.distance, what="number of rounds"
    )


def centre_allowed(setting: Setting, *, is_near: bool) -> bool:
    """Return whether the mean may be so far from 0, in units of a norm, that a centre helps.

    With `is_near` the limit is a quarter of what it is otherwise. Adaptive clipping in single mode
    uses the larger limit, because its error is proven for runs without a centre.
    """
    bound = scaled_bound(setting)[1]
    if setting.moment_order < 2:
        return False
    return (0.5 if is_near else 2.0) * math.sqrt(setting.d) < bound < math.inf


def centre_share(setting: Setting, *, is_near: bool) -> float:
    r"""Return the best share of rho for a centre: 0 if no centre lowers the error.

    A centre that is off by r enlarges the squared radius by about r^2. Clipping about it also
    biases the answer towards it: in units of the release's noise, the squared bias is at most
    :math:`d r^2` (theory/adaptive-methods.md, 1.1). With `is_near` a centre is tried at every
    finite bound, but at a small bound only if it is likely to be much nearer to the mean than 0 is.
    For p < 2 there is no centre, because the balls of the rounds are sized by a standard deviation.
    """
    if setting.moment_order < 2:
        return 0.0
    n, d, rho = setting.n, setting.d, setting.gaussian_rho
    scale, bound = scaled_bound(setting)
    reach = setting.constants.mean_gradient_bound
    wide = centre_allowed(setting, is_near=is_near)
    if not (wide or (is_near and bound < math.inf)):
        return 0.0
    pulled = min(d, n**2 * rho / (32 * d))

    def error(share: float) -> float:
        """Return the predicted squared error; infinite if the centre is not near enough."""
        distance = plan_centre(n, d, reach, scale, share * rho).distance / scale if share else bound
        if share and not wide and distance > NEARER * bound:
            return math.inf
        return (d + distance**2) / (1 - share) + pulled * distance**2

    return worthwhile_candidate(CENTRE_SHARES, error)


def worthwhile_candidate(candidates: Sequence[T], error: Callable[[T], float]) -> T:
    """Return the candidate with the least error if it saves a fifth of the first one's error.

    Otherwise return the first candidate.
    """
    best = smallest(candidates, error, what="share of the budget for a centre")
    return best if error(best) < (1 - WORTHWHILE) * error(candidates[0]) else candidates[0]


def centred_setting(setting: Setting, centre: CentreRounds | None) -> Setting:
    """Return the setting of the records minus the centre, with a bound on their mean.

    The bound adds the noise of the centre and what the last ball clips under the worst law of the
    class. It supposes that the centre of the round before is off by no more than is planned.
    """
    if centre is None:
        return setting
    scale = scaled_bound(setting)[0]
    room = centre.radii[-1] - scale * gaussian_norm_bound(setting.d, MISS_CHANCE)
    length = room + scale * math.sqrt(setting.d)
    clipped = length * tail_excess(centre.radii[-1] / length, setting.moment_order)
    constants = replace(setting.constants, mean_gradient_bound=centre.distance + clipped)
    return replace(setting, constants=constants)


def round_radii(
    n: int,
    bound: float,  # the largest distance of the mean from 0
    scale: float,  # the standard deviation of a coordinate
    rhos: Sequence[float],  # the budget of each round
    *,
    # The room that each round's ball leaves for records, in standard deviations of a coordinate.
    reaches: Sequence[float],
    # The likely norm of each round's error, in units of its standard deviation per coordinate.
    likely: Sequence[float],
) -> tuple[tuple[float, ...], float]:
    """Return the radius of each round's ball, and the likely error of the last answer."""
    radii = []
    for rho, reach, likely_length in zip(rhos, reaches, likely, strict=True):
        radius = bound + scale * reach
        radii.append(radius)
        bound = likely_length * math.sqrt(scale**2 / n + 2 * radius**2 / (n**2 * rho))
    return tuple(radii), bound


def descend(
    reading: Reading,
    radii: Sequence[float],
    rhos: Sequence[float],
    ledger: Ledger,
    rng: np.random.Generator,
    *,
    label: str,
) -> Vector:
    """Run the rounds from 0 and return the last answer, shape (d,).

    Every record is projected on a ball that is public when its round begins, so that replacing one
    record moves the average by at most twice the radius over n.
    """
    rows = reading.rows
    centre = np.zeros(rows.d)
    for radius, rho in zip(radii, rhos, strict=True):
        total = ladder.clipped_sums(rows, (radius,), centre)[0] if centre.any() else None
        centre = centre + ledger.release(
            GaussianNoise(l2_sensitivity=2 * radius / rows.n, rho=rho),
            (reading.first_sum(radius) if total is None else total) / rows.n,
            rng,
            label=label,
        )
    return centre


def gaussian_norm_bound(d: int, probability: float) -> float:
    r"""Return :math:`\sqrt{d+2\sqrt{d\ln(1/\beta)}+2\ln(1/\beta)}`, a bound on a Gaussian norm.

    The norm of a standard normal vector exceeds it with probability at most beta.
    """
    log = -math.log(probability)
    return math.sqrt(d + 2 * math.sqrt(d * log) + 2 * log)
