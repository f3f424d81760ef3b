r"""Data-independent tuning of phased accelerated descent: a model of its risk, minimised.

Near its minimiser the risk is a quadratic whose curvature h lies between the smallest and the
largest of `sco.tuning.curvatures`, and the start is at distance D. AC-SA is linear on a quadratic,
so that a phase of T steps with regulariser :math:`\lambda` turns a mean square distance E into

.. math:: b^2E + Tvs_T^2 + o^2\frac V{nm},

where b is the response of a coordinate to its start, v that to independent unit noise in every
gradient (per coordinate and summed over d), and o that to a constant error of all gradients, which
sampling causes. All three follow from exact recursions. :math:`s_T^2` is the noise variance of a
release divided by T, which is nearly the same for every T. The modelled risk is :math:`\frac h2E`
after the last phase at the worst h. Only accuracy depends on the model: privacy holds for all
parameters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.search import smallest_index
from dpsco_core.methods.euclidean.tuning import curvatures
from dpsco_core.methods.tune import choose_cheapest
from dpsco_core.problems.base import Setting

Table = NDArray[np.float64]

STEP_COUNTS = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64)
DECAY = 3  # p: the regulariser grows by the factor 2^p from phase to phase
EXPONENTS = range(-12, 13)  # base-2 exponents of the regulariser over the largest curvature
SPARED = 0.03  # Steps that lower the risk by less than this share are not worth their time.
STEEPER = 1.25  # the factor by which the empirical risk may be steeper than the population risk


@dataclass(frozen=True, kw_only=True)
class Landscape:
    """The quantities from which the model predicts the risk."""

    smallest: float  # the smallest curvature of the risk
    largest: float  # the largest curvature, at most the smoothness that AC-SA uses
    smoothness: float  # the smoothness of the risk that AC-SA assumes, without the regulariser
    strong_convexity: float  # the certified strong convexity of every loss
    distance: float  # D, the distance of the start from the minimiser
    sampling: float  # V/m: the mean squared error of one user's gradient
    d: int

    @property
    def curvatures(self) -> Table:
        """The candidate curvatures, shape (3,)."""
        middle = (self.smallest * self.largest) ** 0.5
        return np.array([self.smallest, middle, self.largest])


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The sizes and the relative regularisers of the phases of a candidate."""

    users: tuple[int, ...]  # the number of users of each phase
    exponents: tuple[int, ...]  # log2 of each phase's regulariser over that of the first phase


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A layout with the parameters that the model chooses for it."""

    layout: Layout
    steps: int  # the number of steps of every phase
    regulariser: float  # the regulariser of the first phase
    risk: float  # the modelled excess risk


def model_landscape(
    setting: Setting,
    lipschitz: float,
    smoothness: float,
    *,
    strongly: bool = False,  # whether AC-SA may use the certified strong convexity
) -> Landscape:
    r"""Return the model's landscape for losses with these constants.

    Its smoothness is that of the population risk, with a margin, where one is certified. The mean
    of all items' losses is much smoother than the loss of the worst item, whose smoothness is
    `smoothness`.
    """
    constants = setting.constants
    low, largest = curvatures(setting)
    if smoothness > 0:
        largest = min(largest, smoothness)
    low = min(low, largest)
    steepest = min(smoothness, STEEPER * largest) if smoothness > 0 else STEEPER * largest
    variance = min(constants.variance_trace, lipschitz**2)
    return Landscape(
        smallest=low,
        largest=largest,
        smoothness=steepest,
        strong_convexity=min(constants.sample_strong_convexity, steepest) if strongly else 0.0,
        distance=constants.diameter / 2,
        sampling=variance / setting.m,
        d=setting.d,
    )


def step_responses(land: Landscape, regularisers: Table, steps: int) -> tuple[Table, Table, Table]:
    """Return the b, v and o of the module after 0 to `steps` steps.

    All have the shape (steps + 1, regularisers, 3), with the curvatures of `land` in the last axis.
    """
    pull = regularisers[:, None]
    curve = land.curvatures[None, :]
    mu, whole = pull + land.strong_convexity, pull + land.smoothness
    shape = np.broadcast_shapes(pull.shape, curve.shape)
    start, start_mean = np.ones(shape), np.ones(shape)
    error, error_mean = np.zeros(shape), np.zeros(shape)
    var, cov, var_mean = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    tables = np.zeros((3, steps + 1, *shape))
    tables[0, 0] = 1.0
    for t in range(1, steps + 1):
        alpha, gamma = 2 / (t + 1), 4 * whole / (t * (t + 1))
        scale = gamma + (1 - alpha**2) * mu
        of_mean = (1 - alpha) * (mu + gamma) / scale
        of_point = alpha * ((1 - alpha) * mu + gamma) / scale
        pull_weight = alpha * (mu - curve - pull) / (mu + gamma)
        p = pull_weight * of_point + ((1 - alpha) * mu + gamma) / (mu + gamma)
        q, unit = pull_weight * of_mean, alpha / (mu + gamma)
        start = p * start + q * start_mean + unit * pull
        error = p * error + q * error_mean + unit
        crossed = p * cov + q * var_mean
        var = p**2 * var + 2 * p * q * cov + q**2 * var_mean + unit**2
        cov = alpha * var + (1 - alpha) * crossed
        var_mean = alpha**2 * var + 2 * alpha * (1 - alpha) * crossed + (1 - alpha) ** 2 * var_mean
        start_mean = alpha * start + (1 - alpha) * start_mean
        error_mean = alpha * error + (1 - alpha) * error_mean
        tables[:, t] = start_mean, var_mean, error_mean
    return tables[0], tables[1], tables[2]


def choose_layout(
    land: Landscape,
    layouts: Sequence[Layout],
    # A function of the numbers of users and steps that returns the noise per coordinate of one
    # release, infinite if no release is possible.
    noise: Callable[[int, int], float],
) -> Choice:
    r"""Return the layout, steps and regulariser with the least modelled risk, with few steps.

    Raises `NotApplicable` if no layout has a finite modelled risk, for example because all have too
    few users for their tests.
    """
    size = len(EXPONENTS)
    farthest = max((max(layout.exponents) for layout in layouts), default=0)
    powers = np.arange(EXPONENTS[0], EXPONENTS[-1] + farthest + 1, dtype=float)
    b, v, o = step_responses(land, land.largest * 2.0**powers, max(STEP_COUNTS))
    choices: list[Choice] = []
    for layout in layouts:
        for steps in STEP_COUNTS:
            energy = np.full((size, 3), land.distance**2)
            for users, exponent in zip(layout.users, layout.exponents, strict=True):
                rows = slice(exponent, exponent + size)
                private = land.d * noise(users, steps) ** 2
                energy = b[steps, rows] ** 2 * energy + private * v[steps, rows]
                energy += land.sampling / users * o[steps, rows] ** 2
            risks = (land.curvatures / 2 * energy).max(axis=1)
            best = int(smallest_index(risks))
            if best >= 0:
                regulariser = float(land.largest * 2.0 ** EXPONENTS[best])
                risk = float(risks[best])
                choices.append(
                    Choice(layout=layout, steps=steps, regulariser=regulariser, risk=risk)
                )
    return choose_cheapest(
        choices,
        lambda choice: choice.risk,
        lambda choice: choice.steps * sum(choice.layout.users),
        risk_limit=lambda least_risk: (1 + SPARED) * least_risk,
        what="schedule",
    )
