r"""Bounds on strongly convex descent on fresh blocks: Kamath et al. (2022), Theorem 5.7.

Every step averages a block of its own, clipped coordinate by coordinate, so that a bound on the
gradient's error at one point is enough. That bound is `mean_square` with one block for the median,
which is best. The blocks of the steps are disjoint, so that each may spend the whole budget
(parallel composition); the paper divides the budget by the number T of steps.
"""

import math
from dataclasses import replace
from functools import lru_cache

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.errors import require
from dpsco_core.base.search import smallest_or
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, bound_like, set_letters
from dpsco_core.bounds.conditions import COORDINATE_MOMENT, GAUSSIAN_BUDGET, moment_scale
from dpsco_core.bounds.euclidean.conditions import (
    ASSUMPTION_2_12,
    DIAMETER,
    GRADIENT_BOUND,
    MINIMUM_INTERIOR,
    OTHER_PARAMETERS,
    SMOOTH,
    STRONGLY_CONVEX,
    Formula,
    at_least,
    in_scale,
    name_terms,
    signal,
)
from dpsco_core.bounds.euclidean.coordinatewise import CARD
from dpsco_core.bounds.euclidean.uniform import Risk
from dpsco_core.bounds.mean.coordinatewise import mean_square
from dpsco_core.bounds.mean.rates import CDP
from dpsco_core.bounds.rate import bound_at_rate, two_terms
from dpsco_core.bounds.tools import HINGE
from dpsco_core.privacy.budget import ZCDP
from dpsco_core.problems import STRONG_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.statements.kamath import algorithm_3_blocks

_STRONG_NEEDS = (
    "gaussian_rho",
    "coordinate_moment",
    "diameter",
    "mean_gradient_bound",
    "smoothness",
    "strong_convexity",
)


# The rate of Theorem 5.7 of Kamath et al. (2022) is a factor times the squared terms of the rate
# for a mean.
RATE = two_terms(
    "sqrt(d/n)^2",
    "d*(sqrt(d)/(sqrt(rho)*n))^(2-2/p)",
    unit="(M+1)^2*((lambda+L)/lambda)^2/L",
    scale=lambda s: moment_scale(s) ** 2,
    letters=letters.ESTIMATED,
)


def strong_factor(diameter: float, strong_convexity: float, smoothness: float) -> float:
    """Return Theorem 5.7's factor, which depends on the set's diameter and the risk's curvature."""
    total = (strong_convexity + smoothness) / strong_convexity
    return (diameter + 1) ** 2 * total**2 / smoothness


def contraction(strong_convexity: float, smoothness: float) -> float:
    r"""Return q, a bound on the factor by which a gradient step of size 1/(lambda + L) contracts.

    What contracts is the distance from the minimiser, under an exact gradient step.

    .. math:: q=1-\frac{\lambda L}{(\lambda+L)^2}\in[\tfrac34,1)
    """
    _check_constants(strong_convexity, smoothness)
    total = strong_convexity + smoothness
    return 1 - strong_convexity / total * (smoothness / total)


def strong_risk(
    diameter: float, strong_convexity: float, smoothness: float, deviation: float, steps: int
) -> tuple[float, float]:
    r"""Return two terms whose sum bounds the root of the last iterate's mean excess risk.

    .. math::
        \sqrt{\tfrac L2}\Big(q^TM+\frac{(1-q^T)(\lambda+L)G}{\lambda L}\Big)

    The terms are those of optimisation and of noise, with G = `deviation` the root mean square
    error of a gradient. By Minkowski's inequality they sharpen Theorem 3.2. The gradient must
    vanish at the minimiser, and lambda and L are those of the population risk. See
    theory/kamath-liu-zhang.md, 3.1.
    """
    decay = _contraction_after(strong_convexity, smoothness, steps)
    half = math.sqrt(smoothness / 2)
    # This factor converts a deviation G of the gradient into a distance.
    floor = (strong_convexity + smoothness) / strong_convexity / smoothness
    return half * decay * diameter, half * (1 - decay) * floor * deviation


def strong_risk_summed(
    diameter: float, strong_convexity: float, smoothness: float, second_moment: float, steps: int
) -> tuple[float, float]:
    r"""Return the optimisation and the noise term of the second display of Theorem 3.2.

    Their sum bounds the last iterate's mean excess risk; `second_moment` is the mean squared error
    G^2 of a gradient. It follows from the Cauchy-Schwarz inequality over T + 1 summands:

    .. math::
        \frac L2(T+1)\big(q^{2T}M^2+A\big),\qquad
        A=\frac{(\lambda+L)^2G^2}{2\lambda L(\lambda+L)^2-\lambda^2L^2}

    At :math:`q^{2T}=A` it is the printed form with T + 1 in place of T.
    """
    decay = _contraction_after(strong_convexity, smoothness, steps)
    factor = smoothness / 2 * (steps + 1)
    return (
        factor * (decay * diameter) ** 2,
        factor * variance_factor(strong_convexity, smoothness) * second_moment,
    )


def variance_factor(strong_convexity: float, smoothness: float) -> float:
    r"""Return the factor :math:`A/G^2=\frac1{(1-q^2)(\lambda+L)^2}` of `strong_risk_summed`.

    It turns the mean squared error of a gradient into the limit of the squared distance.
    """
    total = strong_convexity + smoothness
    ratio = strong_convexity / total * (smoothness / total)
    return 1 / (total**2 * ratio * (2 - ratio))


def _contraction_after(strong_convexity: float, smoothness: float, steps: int) -> float:
    """Return :math:`q^T`, the factor by which T steps shrink the distance."""
    require(steps >= 1, "steps", "a positive integer", steps)
    _check_constants(strong_convexity, smoothness)
    total = strong_convexity + smoothness
    return math.exp(steps * math.log1p(-strong_convexity / total * (smoothness / total)))


def _check_constants(strong_convexity: float, smoothness: float) -> None:
    """Raise `InvalidInput` unless 0 < strong_convexity <= smoothness < infinity, up to rounding."""
    require(strong_convexity > 0, "strong_convexity", "positive", strong_convexity)
    must = "finite and at least the strong convexity"
    ok = strong_convexity * (1 - 1e-12) <= smoothness < math.inf
    require(ok, "smoothness", must, smoothness)


def risk_at(setting: Setting, steps: int, *, parallel: bool = True, summed: bool = False) -> Risk:
    r"""Return the terms of Theorem 3.2's risk bound after T steps with clipped block means.

    In moment units, they are the parts due to the starting distance, to finite blocks, to clipping
    and to privacy. They come from Minkowski's inequality, or from the theorem's second display if
    `summed`. If `parallel`, each block spends rho, otherwise rho/T. See
    theory/kamath-liu-zhang.md, 3.5.
    """
    c, rho = setting.constants, setting.gaussian_rho
    level = ZCDP(rho=rho if parallel else rho / steps)
    parts = mean_square(replace(setting, n=setting.n // steps, budget=level), "gaussian")
    deviation = parts.root_sum_square()
    if not math.isfinite(deviation):
        return (math.inf,) * 4
    shape = (c.diameter, c.strong_convexity, c.smoothness)
    if summed:
        optimisation, noise = strong_risk_summed(*shape, deviation**2, steps)
    else:
        optimisation_root, noise_root = strong_risk(*shape, deviation, steps)
        optimisation, noise = (
            optimisation_root * (optimisation_root + noise_root),
            noise_root * (optimisation_root + noise_root),
        )
    scale = noise / deviation**2 if deviation > 0 else 0.0
    sampling, bias, cost = (scale * x**2 for x in (parts.sampling, parts.bias, parts.noise))
    return optimisation, sampling, bias, cost


@lru_cache(maxsize=4096)
def best_risk(setting: Setting, parallel: bool = True, summed: bool = False) -> tuple[int, Risk]:
    """Return the number of steps with the smallest sum of `risk_at`, and the terms there.

    The bound holds for any number of steps; a grid is tried and then refined. Beyond 40 over -ln q
    steps the start no longer matters, and more steps only add error. The terms are infinite if they
    are so at every tried number.
    """
    c = setting.constants
    rate = -math.log(contraction(c.strong_convexity, c.smoothness))
    largest = max(1, min(setting.n, math.ceil(40 / max(rate, 1e-12))))

    def candidate(steps: int) -> tuple[int, Risk]:
        """Return a number of steps and the terms of the bound after them."""
        return steps, risk_at(setting, steps, parallel=parallel, summed=summed)

    grid = sorted({round(math.exp(math.log(largest) * i / 24)) for i in range(25)})
    best = smallest_or(map(candidate, grid), _total, (1, (math.inf,) * 4))
    while math.isfinite(_total(best)):
        i = grid.index(best[0])
        low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        if high - low <= 2:
            break
        width = (high - low) / 8
        grid = sorted({low, high, best[0], *(round(low + width * j) for j in range(1, 8))})
        best = smallest_or(map(candidate, grid), _total, best)
    return best


def _total(candidate: tuple[int, Risk]) -> float:
    """Return the sum of the terms of a candidate, a pair of a number of steps and terms."""
    return math.fsum(candidate[1])


def _explicit_formula(*, parallel: bool, summed: bool) -> Formula:
    """Return the function that evaluates `best_risk` at a setting, in the setting's units."""
    return in_scale(lambda setting: best_risk(setting, parallel, summed)[1])


def _paper_deviation_and_rate(setting: Setting) -> tuple[float, float, float]:
    """Return the gradient's error G in Theorem 5.7, the limit it must stay below, and ln q.

    G has its hidden constant set to 1, and q is the `contraction`; all are NaN if one is undefined.
    """
    c = setting.constants
    scale = moment_scale(setting)
    inputs = (c.strong_convexity, c.smoothness, scale, setting.gaussian_rho)
    if min(inputs) <= 0 or math.inf in inputs:
        return math.nan, math.nan, math.nan
    deviation = scale * math.fsum(CDP(setting).values())
    weak, strong = sorted((c.strong_convexity, c.smoothness))
    limit = weak * (strong / (weak + strong))
    share = weak / (weak + strong) * (strong / (weak + strong))
    return deviation, limit, math.log1p(-share)


def _paper_steps(setting: Setting) -> float:
    r"""Return the paper's number of steps, at least 1; NaN where it is not defined.

    .. math:: T=\lceil\ln\frac{(\lambda+L)G}{\lambda L}/\ln q\rceil
    """
    deviation, limit, log_contraction = _paper_deviation_and_rate(setting)
    if math.isnan(deviation):
        return math.nan
    return max(1.0, math.ceil(math.log(deviation / limit) / log_contraction))


def _check_convergence(setting: Setting) -> str:
    """Return the reason why the deviation G is too large for the theorem; empty if it is not."""
    deviation, limit, _ = _paper_deviation_and_rate(setting)
    if math.isnan(deviation) or deviation < limit:
        return ""
    return (
        f"The statement needs G < lambda L/(lambda + L) = {limit:.3g}, and with constant 1 "
        f"G={deviation:.3g} at n={setting.n}."
    )


def _strong_threshold(setting: Setting) -> float:
    """Return the clipping threshold tau of Theorem 5.7, in moment units; NaN if it is undefined."""
    steps = _paper_steps(setting)
    if math.isnan(steps):
        return math.nan
    return math.pow(signal(setting, 0.5, 1.0) / steps**1.5, 1 / setting.moment_order)


def _check_blocks(setting: Setting) -> str:
    """Return why Theorem 5.7 has too few records for a step; empty if it has enough."""
    steps = _paper_steps(setting)
    if math.isnan(steps):
        return ""
    n, d = setting.n, setting.d
    bracket = math.sqrt(d / setting.gaussian_rho) * steps**1.5 / n
    failure = steps * d / n + d * math.pow(bracket, 2 - 2 / setting.moment_order)
    blocks = math.ceil(algorithm_3_blocks(d, min(failure, 0.5)))
    if n / steps >= blocks:
        return ""
    return (
        f"The statement needs n/T >= m = {blocks} records a step, and n/T={n / steps:.4g} at "
        f"T={steps:g}."
    )


_STRONG_CARD = replace(
    CARD,
    slug="upper.sco.cwme-strong",
    name="Strongly convex SCO, coordinate-wise, rate",
    statement="Theorem 5.7, for strongly convex risks as in Theorem 3.2",
    summary="The theorem's rate, with its factor (M+1)^2, which is not "
    "in the units of the problem; logarithms and constants are set to 1.",
    latex=RATE.latex,
    method="sco.cwme-strong",
    loss_class=classes.SMOOTH_STRONG,
    problems=STRONG_PROBLEMS,
)
_STRONG_CONDITIONS = (
    GAUSSIAN_BUDGET,
    COORDINATE_MOMENT,
    DIAMETER,
    GRADIENT_BOUND,
    SMOOTH,
    STRONGLY_CONVEX,
    MINIMUM_INTERIOR,
)
_STRONG_TERMS = ("optimisation", "sampling", "clipping bias", "privacy noise")
_STRONG_LATEX = r"\min_{T,\tau}\frac L2\Big(q^TM+(1-q^T)\frac{\lambda+L}{\lambda L}G\Big)^2,\ "
_STRONG_DEVIATION = (
    r"G^2=\frac db+d\,h_p(3\tau-R)^2+\frac{18\tau^2d^2}{%s\,b^2},\ b=\lfloor n/T\rfloor,\ "
    r"q=1-\frac{\lambda L}{(\lambda+L)^2},\ " + HINGE
)
_STRONG_LETTERS = (
    letters.SMOOTH,
    Letter("q", "contraction of a step"),
    Letter("G", "deviation of the estimated gradient"),
)
_STRONG_COORDINATEWISE_RISKS: tuple[Bound, ...] = (
    bound_at_rate(
        _STRONG_CARD,
        RATE,
        (
            *ASSUMPTION_2_12,
            SMOOTH,
            STRONGLY_CONVEX,
            Hypothesis(text="G < lambda L/(lambda + L)", check=_check_convergence),
            at_least("sqrt(rho) n >= 10^p sqrt(d) T^(3/2)", "tau", 10.0, _strong_threshold),
            Hypothesis(text="n/T >= m", check=_check_blocks),
        ),
    ),
    bound_like(
        _STRONG_CARD,
        slug="upper.sco.cwme-strong-explicit",
        name="Strongly convex SCO, coordinate-wise, proven",
        statement="Theorem 3.2 by Minkowski's inequality, m = 1, parallel composition",
        summary="The mean excess risk with every constant proven, for clipped averages of "
        "disjoint blocks that each spend the whole budget, at the clipping level and number of "
        "steps that make this bound smallest. " + OTHER_PARAMETERS,
        constant="explicit",
        latex=_STRONG_LATEX + _STRONG_DEVIATION % r"\rho",
        evaluate=name_terms(
            _STRONG_TERMS, _STRONG_NEEDS, _explicit_formula(parallel=True, summed=False)
        ),
        hypotheses=_STRONG_CONDITIONS,
    ),
    bound_like(
        _STRONG_CARD,
        slug="upper.sco.cwme-strong-explicit-divided",
        name="Strongly convex SCO, coordinate-wise, proven, divided budget",
        statement="Theorem 3.2 by Minkowski's inequality, m = 1, rho/T a step",
        summary="The same bound when each of the T steps spends a T-th of the budget, as the "
        "paper has it, although blocks are disjoint. " + OTHER_PARAMETERS,
        constant="explicit",
        latex=_STRONG_LATEX + _STRONG_DEVIATION % r"(\rho/T)",
        evaluate=name_terms(
            _STRONG_TERMS, _STRONG_NEEDS, _explicit_formula(parallel=False, summed=False)
        ),
        hypotheses=_STRONG_CONDITIONS,
    ),
    bound_like(
        _STRONG_CARD,
        slug="upper.sco.cwme-strong-framework",
        name="Strongly convex SCO, coordinate-wise, printed framework",
        statement="Theorem 3.2, second display, with T + 1 for T",
        summary="The paper's own sum over the steps, through the proven oracle with rho/T a "
        "step, at the number of steps that makes it smallest. " + OTHER_PARAMETERS,
        constant="explicit",
        latex=r"\min_{T,\tau}\frac L2(T+1)\Big(q^{2T}M^2+"
        r"\frac{(\lambda+L)^2G^2}{2\lambda L(\lambda+L)^2-\lambda^2L^2}\Big),\ "
        + _STRONG_DEVIATION
        % r"(\rho/T)",
        evaluate=name_terms(
            _STRONG_TERMS, _STRONG_NEEDS, _explicit_formula(parallel=False, summed=True)
        ),
        hypotheses=_STRONG_CONDITIONS,
    ),
)
STRONG_COORDINATEWISE_RISKS = set_letters(_STRONG_LETTERS, _STRONG_COORDINATEWISE_RISKS)
