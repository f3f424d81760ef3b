r"""An attacker who accuses a fixed share of others by mistake, and the share of members it misses.

One record of a hundred is that of a member, who answers yes, or of somebody else, who answers no.
The attacker knows all other answers and sees their private share, with Gaussian noise that is
(1, 10⁻⁶)-DP: it accuses where the share is above a threshold that is fixed in advance, at which one
of a hundred others is accused. No attack with as few false alarms misses fewer members
(theory/trade-off-curves.md, 1 and 2).
"""

import math

import numpy as np
from scipy.special import ndtri

from dpsco_core.base.arrays import Vector
from dpsco_core.privacy.budget import ApproxDP, gaussian_allowance
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise
from dpsco_core.privacy.tradeoff import TradeoffCurve, budget_curve, gaussian_curve

BUDGET = ApproxDP(epsilon=1.0, delta=1e-6)
RHO = gaussian_allowance(BUDGET)  # the rho of Gaussian noise that exactly meets this budget
MU = math.sqrt(2 * RHO)
ANSWERS = 100
FALSE_ALARMS = 1.0  # the false-alarm rate in percent
PEOPLE = 100  # the number of members of one trial, and of non-members
# The two series of the figure: percentages of members and of non-members.
MISSED, ACCUSED = "missed", "accused"


def play(rng: np.random.Generator) -> list[tuple[str, float, float]]:
    """Attack `PEOPLE` members and as many non-members, each with its own private share.

    Returns two rows (series, false alarms of the threshold, outcome), in percent: the members that
    were `MISSED`, and the non-members that were `ACCUSED`.
    """
    is_accused = [
        np.mean([_accuses(is_member, rng) for _ in range(PEOPLE)]) for is_member in (True, False)
    ]
    return [
        (MISSED, FALSE_ALARMS, 100 * (1 - float(is_accused[0]))),
        (ACCUSED, FALSE_ALARMS, 100 * float(is_accused[1])),
    ]


def _accuses(is_member: bool, rng: np.random.Generator) -> bool:
    """Return whether the attacker accuses a member, or a non-member, by one private share."""
    half = (ANSWERS // 2) / ANSWERS  # the average of the answers without the member's own
    noise = GaussianNoise(l2_sensitivity=1 / ANSWERS, rho=RHO)
    (share,) = Ledger(BUDGET).release(noise, np.array([half + is_member / ANSWERS]), rng)
    return bool(share > half + noise.noise_std * ndtri(1 - FALSE_ALARMS / 100))


def least_misses(false_alarms: Vector) -> Vector:
    """Return the least percentage of members that any attack misses, shape (k,).

    Examples
    --------
    >>> round(float(least_misses(np.array([1.0]))[0]), 2)
    98.17
    """
    return _percent(gaussian_curve(RHO), false_alarms)


def promised_misses(false_alarms: Vector) -> Vector:
    """Return the least percentage of misses that the budget guarantees for any noise, shape (k,).

    `false_alarms` are percentages, too.
    """
    return _percent(budget_curve(BUDGET), false_alarms)


def _percent(curve: TradeoffCurve, false_alarms: Vector) -> Vector:
    """Return the misses on a trade-off curve at the given false alarms, both in percent."""
    return np.asarray(100 * curve.misses(np.asarray(false_alarms) / 100))
