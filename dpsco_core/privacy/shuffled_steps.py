r"""Shuffling of adaptive noisy steps: n records, in secret random order, one step each.

Step i releases one record with noise, and may depend on all earlier outputs, as in private SGD
over a random permutation (Arora, Marinov and Ullah, Algorithm 1). The better of two sound
accountants for the whole sequence counts (theory/arora-marinov-ullah.md, 2.5): no amplification,
because a record enters a single step; and amplification by the clones argument of Feldman, McMillan
and Talwar (2021), which holds for adaptive sequences. The order must be uniformly random,
independent of the data, and never released; a step may depend on earlier outputs, but not on the
order, and its rho is fixed in advance. Fewer steps than records, on a random subset, are covered.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.privacy.amplification import LARGEST_EPSILON, clones_delta, largest_clones_epsilon
from dpsco_core.privacy.budget import (
    EPSILON_MAX,
    ApproxDP,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_rho,
    zcdp_rho,
)
from dpsco_core.privacy.checks import check_noise, check_positive
from dpsco_core.privacy.entries import Entry

Curve = Literal["gaussian", "zcdp"]

CLONES_SHARE = 0.9  # the clones' share of delta; the rest pays for approximate steps


@dataclass(frozen=True, kw_only=True)
class ShuffledSteps:
    """A certificate that steps at `rho_step`-zCDP each are (epsilon, delta)-DP together.

    Create it with `shuffle_steps`, never by hand.
    """

    steps: int  # n, the number of steps on one record each
    rho_step: float  # the budget of each step, whose noise is sensitivity / sqrt(2 rho_step)
    epsilon: float  # the epsilon of the whole sequence
    delta: float  # the delta of the whole sequence
    epsilon_step: float  # the local epsilon in the clones argument; 0 without amplification
    delta_step: float  # the local delta in the clones argument; 0 without amplification
    # whether shuffling gives the guarantee; otherwise the curve of one step gives it
    amplified: bool
    # The assumption on a step: the exact curve of Gaussian noise, or its zCDP guarantee alone,
    # which covers noise of any shape.
    curve: Curve = "gaussian"

    @property
    def noise_multiplier(self) -> float:
        """The noise standard deviation relative to the l2 sensitivity of a step."""
        return 1 / math.sqrt(2 * self.rho_step)

    def entry(self, *, size: int, l2_sensitivity: float, label: str) -> Entry:
        """Return the ledger entry of amplified Gaussian steps of `size` coordinates each."""
        check_positive("l2_sensitivity", l2_sensitivity)
        noise_std = self.noise_multiplier * l2_sensitivity
        check_noise(noise_std)
        return Entry(
            mechanism="shuffled gaussian",
            label=label,
            sensitivity=l2_sensitivity,
            proven_sensitivity=l2_sensitivity,
            noise=noise_std,
            size=size,
            epsilon=self.epsilon,
            delta=self.delta,
            disjoint_blocks=self.steps,
        )


def shuffled_steps_delta(rho_step: float, steps: int, epsilon: float, delta_step: float) -> float:
    r"""Return a delta at `epsilon` of shuffled Gaussian steps, whichever `delta_step` in (0, 1).

    .. math:: \min\big\{g(\varepsilon),\ H(n, \varepsilon_0, \varepsilon)
        + (1+e^\varepsilon)(2(n-1)e^{-\varepsilon_0} + 1)\,\delta_0\big\}

    and at most 1, with g the exact curve of one step, :math:`\varepsilon_0` that curve's epsilon at
    :math:`\delta_0` = `delta_step`, and H of `clones_delta`.

    Examples
    --------
    >>> shuffled = shuffle_steps(10_000, 0.1, 1e-6)
    >>> shuffled_steps_delta(shuffled.rho_step, 10_000, 0.1, shuffled.delta_step) <= 1e-6
    True
    """
    _check_steps(steps)
    unamplified = gaussian_delta(rho_step, epsilon)
    local = gaussian_epsilon(rho_step, delta_step)
    if epsilon > LARGEST_EPSILON or not 0 < local <= EPSILON_MAX:
        return unamplified
    clones = clones_delta(local, steps, epsilon)
    return min(unamplified, clones + _failure_cost(steps, epsilon, local) * delta_step, 1.0)


@lru_cache(maxsize=1024)
def shuffle_steps(
    steps: int, epsilon: float, delta: float, curve: Curve = "gaussian"
) -> ShuffledSteps:
    r"""Return the certificate of `steps` shuffled steps that are (epsilon, delta)-DP together.

    Its rho per step is the larger of those that the two accountants allow. The clones get nine
    tenths of delta, without a side condition; the rest is divided over the failures of
    :math:`(\varepsilon_0, \delta_0)`-DP steps. The caller supplies a step's
    sensitivity: 2L for a gradient of norm at most L, because neighbours replace a record.

    Parameters
    ----------
    steps : int
        Number of records, each in one step; at least 1.
    epsilon, delta : float
        The target; epsilon in (0, 1e6], delta in (0, 1).
    curve : {"gaussian", "zcdp"}
        ``"zcdp"`` is for noise that is not Gaussian: the best conversion from zCDP replaces the
        Gaussian curve, for a step and for the sequence without amplification.

    Examples
    --------
    >>> round(shuffle_steps(10_000, 0.1, 1e-6).noise_multiplier, 2)  # 36.30 without shuffling
    4.16
    """
    _check_steps(steps)
    ApproxDP(epsilon=epsilon, delta=delta)
    allowed = gaussian_rho if curve == "gaussian" else zcdp_rho
    unamplified = ShuffledSteps(
        steps=steps,
        rho_step=allowed(epsilon, delta),
        epsilon=epsilon,
        delta=delta,
        epsilon_step=0.0,
        delta_step=0.0,
        amplified=False,
        curve=curve,
    )
    if epsilon > LARGEST_EPSILON:
        return unamplified
    local = largest_clones_epsilon(steps, epsilon, CLONES_SHARE * delta)
    if local is None:
        return unamplified
    delta_step = (1 - CLONES_SHARE) * delta / _failure_cost(steps, epsilon, local)
    if not 0 < delta_step < 1:
        return unamplified
    rho = allowed(local, delta_step)
    if rho <= unamplified.rho_step:
        return unamplified
    return ShuffledSteps(
        steps=steps,
        rho_step=rho,
        epsilon=epsilon,
        delta=delta,
        epsilon_step=local,
        delta_step=delta_step,
        amplified=True,
        curve=curve,
    )


def _failure_cost(steps: int, epsilon: float, local: float) -> float:
    """Return the cost in delta of one unit of delta_step, summed over the steps."""
    return (1 + math.exp(epsilon)) * (2 * (steps - 1) * math.exp(-local) + 1)


def _check_steps(steps: int) -> None:
    """Raise an error unless a number of steps is a positive integer."""
    is_valid = isinstance(steps, int | np.integer) and steps >= 1
    require(is_valid, "steps", "a positive integer", steps)
