r"""Data-independent tuning of one pass with correlated noise: radius, phases, steps, step sizes.

The model is that of `dpsco_core.methods.euclidean.tuning`: a quadratic of curvature h, a start at
distance D, and the average of the last m of T points. A step sees only a batch of
:math:`b = \lfloor n/T\rfloor` records, so that two kinds of noise enter it: independent sampling
noise of variance V/b, and the privacy noise :math:`\sum_k s_kz_{t-k}` of `CorrelatedSteps`. With
:math:`\omega_s` the weight of step s in the average and :math:`a = 1-\eta h`, the expected squared
distance of the average from the minimiser is

.. math:: \Big(\frac1m\sum_ta^t\Big)^2D^2 + \frac Vb\sum_s\omega_s^2
    + d\sigma^2\sum_j\Big(\sum_ks_k\omega_{j+k}\Big)^2,
    \qquad \sigma = \frac{2R\kappa_T}{b\sqrt{2\rho}},

and the excess risk is h/2 times that; the mean of it over the smallest curvature, the largest and
the one between them is minimised. The sums depend on T, m and :math:`\eta h` alone, and are
computed once, on a grid of half octaves.

On a wide set the minimiser is far from the start, which needs long steps with much noise. So the
pass may be split into phases, each on records of its own and from the point where the last one
ended. All phases but the last minimise the squared distance, which is the D of the next phase. The
number of phases is the one with the least modelled risk. Where no strong convexity is certified,
:math:`\min(\beta/3, G/D)` is assumed, with G the bound on the mean gradient. Only accuracy depends
on the model: privacy holds for all steps and sizes (theory/practice.md, 1.4).
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import nothing_finite, smallest, smallest_index
from dpsco_core.methods.euclidean.tuning import (
    ASSUMED_CONDITION,
    RADIUS_FACTORS,
    SPARED,
    clipping_bias,
    curvatures,
    start_distance,
    typical_norm,
)
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy.mechanisms.correlated import encoding_norm, inverse_coefficients
from dpsco_core.problems.base import Setting

STEP_COUNTS = tuple(sorted({round(2 ** (k / 2)) for k in range(19)}))  # from 1 to 512
HALVINGS = 80  # step size times curvature ranges over this many half octaves, from 1 down
SIZES = np.arange(20)  # exponents of the step sizes, in half octaves below 1/beta
MOST_PHASES = 4  # the largest number of phases that are compared
WORTH_IT = 1.6  # the largest ratio of modelled risks at which a plan for the farther start is used
# the assumed share of the largest distance: a minimiser is rarely at the other end of the set
HALFWAY = 0.5

COUNTS: NDArray[np.int64] = np.array(STEP_COUNTS)
# The norms kappa_T of the noise mechanism, one for each number of steps T in `COUNTS`.
NORMS: Vector = np.array([encoding_norm(steps) for steps in STEP_COUNTS])


@dataclass(frozen=True, eq=False, kw_only=True)
class Sums:
    """The sums of the risk model, shape (number of T, 2, `HALVINGS`): indexed by T, m and eta h."""

    left: Vector  # the share of the distance D that is left: the mean of a^t over the last m points
    sampling: Vector  # the sum of squared weights, at eta = 1, of the sampling noise of each step
    privacy: Vector  # the sum of squared weights, at eta = 1, of the privacy noise of each step


def average_lengths(steps: int) -> tuple[int, int]:
    """Return the two values of m, the length of the output's average, that the model compares."""
    return 1, max(1, steps // 2)


@lru_cache
def model_sums() -> Sums:
    """Return the sums from which the risk model is computed, for every T of the grid."""
    tables = np.array([_model_sums_at(steps) for steps in STEP_COUNTS])
    return Sums(left=tables[:, 0], sampling=tables[:, 1], privacy=tables[:, 2])


def _model_sums_at(steps: int) -> Vector:
    """Return the three tables of the risk model at one T, shape (3, 2, `HALVINGS`)."""
    a = (1 - 2.0 ** (-np.arange(HALVINGS) / 2))[:, None]
    powers = a ** np.arange(steps + 1)
    # Entry k of `partial_sums` is the sum of the powers of a below the k-th.
    partial_sums = np.cumsum(np.pad(powers, ((0, 0), (1, 0))), axis=1)
    size = 1 << (2 * steps).bit_length()
    inverse = np.fft.rfft(inverse_coefficients(steps), size)
    # Entry s of `age` is the number of steps from step s to the end.
    age = steps - np.arange(steps)
    tables = np.empty((3, 2, HALVINGS))
    for i, m in enumerate(average_lengths(steps)):
        weights = (partial_sums[:, age] - partial_sums[:, np.maximum(age - m, 0)]) / m
        noise_weights = np.fft.irfft(np.fft.rfft(weights[:, ::-1], size) * inverse, size)[:, :steps]
        tables[:, i] = (
            powers[:, steps - m + 1 :].mean(axis=1),
            np.square(weights).sum(axis=1),
            np.square(noise_weights).sum(axis=1),
        )
    return tables


@dataclass(frozen=True, kw_only=True)
class PlannedPass:
    """A clip radius with the phases planned for it."""

    radius: float
    records: tuple[int, ...]  # the number of records of each phase
    descents: tuple[Descent, ...]

    @property
    def modelled_risk(self) -> float:
        """The modelled risk, without the bias of clipping."""
        return self.descents[-1].modelled_risk


def records_per_phase(n: int, phases: int) -> tuple[int, ...]:
    """Return the number of records per phase: half in the last phase, half of the rest before it.

    Examples
    --------
    >>> records_per_phase(1000, 1), records_per_phase(1000, 3)
    ((1000,), (250, 250, 500))
    """
    sizes = [n // 2**i for i in range(1, phases)]
    return (n - sum(sizes), *reversed(sizes))


@lru_cache(maxsize=4096)
def modelled_pass(
    setting: Setting, rho: float, radius: float, phases: int, distance: float
) -> PlannedPass:
    """Return the steps of each phase that minimise the modelled risk at a radius and a distance.

    Raises `NotApplicable` if no candidate has a finite predicted risk.
    """
    records = records_per_phase(setting.n, phases)
    descents = []
    for i, size in enumerate(records, start=1):
        descent, distance = _phase(setting, rho, radius, size, distance, is_last=i == phases)
        descents.append(descent)
    return PlannedPass(radius=radius, records=records, descents=tuple(descents))


def _phase(
    setting: Setting, rho: float, radius: float, records: int, distance: float, *, is_last: bool
) -> tuple[Descent, float]:
    """Return the descent of one phase, and the modelled distance of its end from the minimiser."""
    constants = setting.constants
    if not constants.variance_trace < math.inf:
        raise NotApplicable(
            "The number of batches follows from the variance of the gradients, and the problem "
            "certifies none.",
            distribution="gaussian",
        )
    _, largest = curvatures(setting)
    low, slope = constants.strong_convexity, constants.mean_gradient_bound / distance
    if low == 0:
        low = largest / ASSUMED_CONDITION
        low = min(low, slope) if 0 < slope < math.inf else low
    # Far from the minimiser, clipping shortens gradients, which divides their curvature by the
    # ratio of a gradient's norm to the radius.
    norm = math.hypot(math.sqrt(constants.variance_trace), constants.mean_gradient_bound)
    if math.isfinite(norm):
        low /= max(1.0, norm / radius)
    low = max(low, largest * 2.0**-HALVINGS)  # The table has no entries for smaller curvatures.
    flat = min(HALVINGS - len(SIZES), math.ceil(2 * math.log2(largest / low) - 1e-9))
    fits = records >= COUNTS
    counts, table = COUNTS[fits], model_sums()
    batch = records // counts
    sampling = np.minimum(constants.variance_trace, radius**2) / batch
    privacy = 2 * setting.d / rho * np.square(radius * NORMS[fits] / batch)
    sizes = 2.0 ** (-SIZES / 2) / largest
    risks, squares = [], []
    with np.errstate(over="ignore", invalid="ignore"):
        for place in sorted({0, flat // 2, flat}):
            exponents = SIZES + place
            energy = sampling[:, None, None] * table.sampling[fits][:, :, exponents]
            energy += privacy[:, None, None] * table.privacy[fits][:, :, exponents]
            square = np.square(table.left[fits][:, :, exponents] * distance) + sizes**2 * energy
            squares.append(square)
            risks.append(largest * 2.0 ** (-place / 2) / 2 * square)
        risk, square = np.mean(risks, axis=0), np.max(squares, axis=0)
    chosen_by = (risk if is_last else square).reshape(len(counts), -1)
    best = int(smallest_index(chosen_by.min(axis=1)))
    if best < 0 or not math.isfinite(chosen_by[best].min()):
        raise nothing_finite("number of steps")
    # Of all step counts within the risk limit, the smallest is chosen.
    risk_limit = (1 + SPARED) * float(chosen_by[best].min())
    t = int(np.argmax(chosen_by.min(axis=1) <= risk_limit))
    row, column = divmod(int(smallest_index(chosen_by[t])), len(SIZES))
    descent = Descent(
        steps=int(counts[t]),
        step_size=float(sizes[column]),
        averaged=average_lengths(int(counts[t]))[row],
        modelled_risk=float(risk[t, row, column]),
    )
    return descent, min(distance, math.sqrt(float(square[t, row, column])))


def start_distances(setting: Setting) -> tuple[float, float]:
    r"""Return the assumed distance of the start from the minimiser, and its largest possible value.

    Both are multiplied by `HALFWAY`, because a minimiser is rarely at the far end of the set. If no
    strong convexity is certified, the assumed distance is at most :math:`3G/\beta` before that:
    farther away, a risk of the assumed curvature :math:`\beta/3` would have a gradient larger than
    the bound G on the mean gradient.
    """
    whole, (_, largest) = start_distance(setting), curvatures(setting)
    likely = whole
    if setting.constants.strong_convexity == 0:
        likely = min(whole, ASSUMED_CONDITION * setting.constants.mean_gradient_bound / largest)
    return HALFWAY * likely, HALFWAY * whole


@lru_cache(maxsize=4096)
def practical_pass(setting: Setting, rho: float, radius: float | None = None) -> PlannedPass:
    """Return the clip radius, unless it is given, and the phases with the least modelled risk.

    The plan is for the larger one of the two `start_distances` if its risk is at most `WORTH_IT`
    times that for the smaller one, which is so once there are enough records. The bias of clipping
    is that of `practical_clipping`.

    Raises `NotApplicable` if the set is unbounded, or where the model has no finite prediction.
    """
    likely, largest = start_distances(setting)
    cautious = _pass(setting, rho, radius, largest)
    if likely == largest:
        return cautious
    hopeful = _pass(setting, rho, radius, likely)
    return cautious if cautious.modelled_risk <= WORTH_IT * hopeful.modelled_risk else hopeful


def _pass(setting: Setting, rho: float, radius: float | None, distance: float) -> PlannedPass:
    """Return the radius and the phases with the least modelled risk at a starting distance."""
    radii: tuple[float, ...]
    if radius is None:
        typical, lipschitz = typical_norm(setting), setting.constants.lipschitz
        radii = tuple(sorted({min(typical * factor, lipschitz) for factor in RADIUS_FACTORS}))
    else:
        # A radius that the user gives is assumed to clip without bias.
        typical, radii = 0.0, (radius,)
    curvature, _ = curvatures(setting)
    candidates = (
        modelled_pass(setting, rho, r, phases, distance)
        for phases in range(1, MOST_PHASES + 1)
        if setting.n >= 2**phases or phases == 1
        for r in radii
    )

    def risk(candidate: PlannedPass) -> float:
        """Return the modelled risk of a pass, with the bias of clipping."""
        bias = clipping_bias(setting, typical, candidate.radius) if typical else 0.0
        return candidate.modelled_risk + bias**2 / (2 * curvature)

    return smallest(candidates, risk, what="clip radius", gain=1e-9)


def theorem_steps(setting: Setting, rho: float, lipschitz: float) -> Descent:
    r"""Return the T and :math:`\eta` that minimise the bound of theory/practice.md, 1.5.

    .. math:: \frac{D^2}{2\eta T} + \frac{\eta L^2}2\Big(1 + \frac{4\sqrt d\,\kappa_T^2}
        {\lfloor n/T\rfloor\sqrt{2\rho}}\Big)

    over the T of the grid; all queried points are averaged.
    """
    counts, norms = COUNTS[setting.n >= COUNTS], NORMS[setting.n >= COUNTS]
    noise = 4 * math.sqrt(setting.d / (2 * rho)) * norms**2 / (setting.n // counts)
    best = int(smallest_index((1 + noise) / counts))
    steps = int(counts[best])
    size = start_distance(setting) / (lipschitz * math.sqrt(steps * (1 + float(noise[best]))))
    return Descent(steps=steps, step_size=size, queried=True)
