"""Strongly convex SCO with the coordinate-wise estimator: Kamath et al. (2022), Theorem 5.7."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from dpsco_core.base.cards import KAMATH_2022, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import smallest
from dpsco_core.methods.access import OwnBlocks
from dpsco_core.methods.base import Calibration, MethodCost
from dpsco_core.methods.departure import ONE_BLOCK
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.euclidean.cwme import require_enough_records
from dpsco_core.methods.euclidean.tuning import mean_room, practical_limit, start_distance
from dpsco_core.methods.records.base import check_level, gaussian_share, hinge_bias
from dpsco_core.methods.stage import PARTS, SmallRun, Stage
from dpsco_core.methods.statistics import MedianOfClippedMeans
from dpsco_core.methods.steps import Descent
from dpsco_core.methods.tune import require_finite
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.statements.kamath import SMALLEST_THRESHOLD, algorithm_3_blocks

MOST_BLOCKS = 64  # the largest number of blocks that the practical tuning considers


@dataclass(frozen=True, kw_only=True)
class StrongCoordinatewiseDescent(DescentMethod):
    r"""Projected gradient descent on disjoint blocks of records, for strongly convex risks.

    Step t uses block t alone, with :math:`\eta = 1/(\lambda+L)`, and the last iterate is returned.
    A record enters one step, so every step may spend all of rho (parallel composition;
    theory/kamath-liu-zhang.md, 2.4).

    Parameters
    ----------
    threshold, blocks : optional
        tau and m of `CoordinatewiseCDP`. If None they are chosen from the setting.
    steps : int, optional
        T. If None it is chosen from the setting.
    calibration : {"tight", "paper"}
        ``"paper"``: rho/T a step, the printed sensitivity and conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: T and tau of Theorem 5.7 with G evaluated at constant 1, and m from the
        failure probability of its proof, divided by the worst squared error. ``"practical"``:
        m = 1, and the T and the clip limit of `practical_blocks`.
    """

    threshold: float | None = None
    blocks: int | None = None
    steps: int | None = None

    reads = "summed"
    cost = MethodCost(fixed=2.2e5, per_row=3, per_element=1.2, per_piece=5e4)
    departs = (ONE_BLOCK,)
    card = MethodCard(
        slug="sco.cwme-strong",
        name="Coordinate-wise, strongly convex",
        paper=KAMATH_2022,
        statement="Algorithms 1 to 3, Theorem 5.7",
        summary="Gradient descent for strongly convex risks: every step uses a block of records of "
        "its own, so that each may spend the whole budget.",
        privacy="zcdp",
        problems=SCO_PROBLEMS,
        rate="upper.sco.cwme-strong",
        caveat="Needs a strongly convex and smooth population risk.",
    )
    stage = Stage(problem="quadratic", splits=PARTS, small=SmallRun(fields={"steps": 4}))
    colour = "teal"
    symbol = "diamond-open"
    dashed = True

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the given parameters, or with those of the tuning."""
        rho = gaussian_share(setting, self.calibration)
        strong, smooth = convexity_and_smoothness(setting)
        theory = self.tuning == "theory"
        divided = self.calibration == "paper"
        steps, threshold, predicted = self.steps, self.threshold, math.nan
        if theory and steps is None:
            steps = theorem_steps(setting, rho, self.calibration)
        elif not theory and (steps is None or threshold is None):
            limit = None
            if threshold is not None:
                check_level("threshold", threshold)
                limit = 3 * threshold
            best = practical_blocks(setting, rho, divided=divided, steps=steps, limit=limit)
            steps, threshold, predicted = best.steps, best.limit / 3, best.modelled_risk
        assert steps is not None
        rho_step = rho / steps if divided else rho
        require_enough_records(setting, 1, steps)
        size = setting.n // steps
        if threshold is None:
            threshold = theorem_threshold(setting, rho, steps, self.calibration)
        check_level("threshold", threshold)
        blocks = self.blocks
        if blocks is None:
            blocks = theorem_blocks(setting, rho, steps, threshold) if theory else 1
        require_enough_records(setting, blocks, steps)
        median = MedianOfClippedMeans(threshold=threshold, blocks=blocks, printed=divided)
        noise_std = median.sensitivity(size, setting.d) / math.sqrt(2 * rho_step)
        descent = Descent(steps=steps, step_size=1 / (strong + smooth), modelled_risk=predicted)
        return DescentPlan(
            setting=setting,
            statistic=median,
            access=OwnBlocks(),
            descent=descent,
            rho=rho,
            rho_step=rho_step,
            diagnostics={
                "clip_limit": 3 * threshold,
                "blocks": float(blocks),
                "noise_std": noise_std,
                **descent.diagnostics,
                "rho_step": rho_step,
                "gradient_calls": float(steps * size),
            },
        )


def convexity_and_smoothness(setting: Setting) -> tuple[float, float]:
    """Return the certified strong convexity and smoothness constants of the population risk.

    Raises `NotApplicable` where one is missing.
    """
    constants = setting.constants
    if constants.strong_convexity <= 0:
        raise NotApplicable(
            "The method needs a strongly convex population risk, and this problem certifies none.",
            problem="quadratic",
            otherwise="sco.cwme",
        )
    if math.isinf(constants.smoothness):
        raise NotApplicable(
            "The method needs a smooth population risk, and this problem certifies none.",
            problem="quadratic",
        )
    return constants.strong_convexity, constants.smoothness


def _contraction(strong: float, smooth: float) -> float:
    r"""Return the factor of Theorem 3.2 by which a step shrinks a distance.

    .. math:: q = 1 - \frac{\lambda L}{(\lambda+L)^2}
    """
    return 1 - strong * smooth / (strong + smooth) ** 2


def theorem_steps(setting: Setting, rho: float, calibration: Calibration) -> int:
    r"""Return the number of steps T of Theorem 5.7.

    :math:`T = \lceil\ln\frac{(\lambda+L)G}{\lambda L}/\ln q\rceil`, with q of `_contraction`, and
    with the deviation :math:`G = \sqrt{d/n} + \sqrt d(\sqrt d/(\sqrt\rho n))^{1-1/p}` in units of
    the moment. It is 1 where that is not positive, because the bound is void there. The logarithm
    is of a length, which is divided by the diameter. The paper takes the diameter to be 1, and
    ``"paper"`` does not divide.
    """
    strong, smooth = convexity_and_smoothness(setting)
    n, d, order = setting.n, setting.d, setting.moment_order
    scale = require_finite(setting.constants.coordinate_moment, "a coordinate-wise moment") ** (
        1 / order
    )
    power = 1 - 1 / order
    error = math.sqrt(d / n) + math.sqrt(d) * (math.sqrt(d / rho) / n) ** power
    accuracy = scale * error * (strong + smooth) / (strong * smooth)
    if calibration == "tight":
        accuracy /= require_finite(setting.constants.diameter, "a bounded constraint set")
    if not accuracy < 1:
        return 1
    return max(1, math.ceil(math.log(accuracy) / math.log(_contraction(strong, smooth))))


def theorem_threshold(setting: Setting, rho: float, steps: int, calibration: Calibration) -> float:
    r"""Return the threshold tau of Theorem 5.7, to whose triple entries are clipped.

    In units of the root of the coordinate moment it is :math:`(\sqrt\rho n/(\sqrt d T))^{1/p}` with
    all of rho on each block, and :math:`(\sqrt\rho n/(\sqrt d T^{3/2}))^{1/p}` as printed; at least
    10, and at least (R+1)/3, where R bounds the norm of the mean gradient.
    """
    constants, order = setting.constants, setting.moment_order
    scale = require_finite(constants.coordinate_moment, "a coordinate-wise moment") ** (1 / order)
    bound = require_finite(constants.mean_gradient_bound, "a bound R on the mean gradient") / scale
    power = 1.5 if calibration == "paper" else 1.0
    signal = math.sqrt(rho / setting.d) * setting.n / steps**power
    return float(scale * max(signal ** (1 / order), SMALLEST_THRESHOLD, (bound + 1) / 3))


def theorem_blocks(setting: Setting, rho: float, steps: int, threshold: float) -> int:
    r"""Return the number of blocks :math:`m = \lceil 4\ln(2d/\beta)\rceil`, made even.

    The failure probability beta is the corrected one of theory/kamath-liu-zhang.md, 2.4:
    :math:`\frac{Td}n + d(\sqrt dT^{3/2}/(\sqrt\rho n))^{2(1-1/p)}` divided by
    :math:`(R + 3\tau\sqrt d)^2`, the squared error if the estimate fails; at most 1/2.
    """
    n, d, order = setting.n, setting.d, setting.moment_order
    scale = setting.constants.coordinate_moment ** (1 / order)
    worst = (setting.constants.mean_gradient_bound + 3 * threshold * math.sqrt(d)) / scale
    power = 2 * (1 - 1 / order)
    failure = steps * d / n + d * (math.sqrt(d / rho) * steps**1.5 / n) ** power
    beta = min(0.5, failure / worst**2)
    blocks = math.ceil(algorithm_3_blocks(d, beta))
    return blocks + blocks % 2


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """The number of disjoint blocks, the clip limit per coordinate, and the modelled risk."""

    steps: int  # T; each step has a block of records of its own
    limit: float  # coordinates of gradients are clipped to [-limit, limit]
    modelled_risk: float  # the excess risk that the model predicts


@lru_cache(maxsize=4096)
def practical_blocks(
    setting: Setting,
    rho: float,  # the largest budget of the run
    *,
    divided: bool = False,  # whether a step spends rho/T instead of all of rho on its own block
    steps: int | None = None,  # T; None if it is to be chosen
    limit: float | None = None,  # the clip limit U; None if it is to be chosen
) -> Blocks:
    r"""Return the T, at most 64, and the clip limit U that minimise a model of the excess risk.

    .. math:: \frac L2\Big[D_T^2 + \frac{\eta^2(1-a^{2T})}{1-a^2}
        \Big(\frac{VT}{n} + d\,b^2 + d\sigma_T^2\Big)\Big], \qquad a = \frac L{\lambda+L},

    V the trace of Cov(g), b the sharp clipping bias at U of a coordinate whose mean is the
    `mean_room`, at most U/2, and sigma_T the noise on n/T records. The distance :math:`D_t` from
    the minimiser starts at half the diameter, on one axis, and falls by
    :math:`\eta\min(\lambda D_{t-1}, U)` a step: a clipped gradient moves a far point no farther.
    U is the `practical_limit`, or that doubled until it leaves the gradient at the start whole.

    Raises `NotApplicable` if the set is unbounded, no moment is certified, or no T and U have a
    finite predicted risk.
    """
    start_distance(setting)
    if math.isinf(setting.constants.coordinate_moment):
        raise NotApplicable(
            "The number of steps follows from a moment of the gradients, and the problem certifies "
            "none.",
            distribution="gaussian",
        )
    counts = range(1, min(setting.n, MOST_BLOCKS) + 1) if steps is None else (steps,)

    def risk(pair: tuple[int, float]) -> float:
        """Return the modelled risk of a number of steps and a clip limit."""
        return _modelled_risk(setting, rho / pair[0] if divided else rho, *pair)

    candidates = (
        (count, clip_limit)
        for count in counts
        for clip_limit in (_limits(setting, rho, count, divided) if limit is None else (limit,))
    )
    chosen = smallest(candidates, risk, what="number of steps")
    return Blocks(steps=chosen[0], limit=chosen[1], modelled_risk=risk(chosen))


def _limits(setting: Setting, rho: float, steps: int, divided: bool) -> Iterator[float]:
    """Yield the clip limits U per coordinate that are compared at a number of steps."""
    _, smooth = convexity_and_smoothness(setting)
    largest_pull = smooth * start_distance(setting)
    block = replace(setting, n=max(1, setting.n // steps))
    limit = practical_limit(block, rho / steps if divided else rho)
    yield limit
    while limit < largest_pull:
        limit *= 2
        yield limit


def _modelled_risk(setting: Setting, rho_step: float, steps: int, limit: float) -> float:
    """Return the modelled risk at a number of steps and a clip limit; see `practical_blocks`."""
    strong, smooth = convexity_and_smoothness(setting)
    constants, d, order = setting.constants, setting.d, setting.moment_order
    size, a = 1 / (strong + smooth), smooth / (strong + smooth)
    scale, block = constants.coordinate_moment ** (1 / order), max(1, setting.n // steps)
    bias = scale * hinge_bias((limit - min(mean_room(setting), limit / 2)) / scale, order)
    # `noise` is the variance of the noise on one coordinate of a step's estimate.
    noise = d * (2 * limit / block) ** 2 / (2 * rho_step)
    distance = start_distance(setting)
    for _ in range(steps):
        distance -= size * min(strong * distance, limit)
    energy = constants.variance_trace / block + d * (noise + bias**2)
    spread = size**2 * (1 - a ** (2 * steps)) / (1 - a * a) * energy
    return float(smooth / 2 * (distance**2 + spread))
