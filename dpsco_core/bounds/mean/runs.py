r"""Upper bounds on the mean error of a run, at the parameters of that run.

Every formula holds for every level of clipping, also for that of the practical tuning, and with the
noise of either calibration (theory/bounds-of-runs.md, 2). A figure draws these bounds beside
measured errors; bounds at the parameters of a theorem are in tables.
"""

import math
from collections.abc import Callable
from typing import Any

from dpsco_core.bounds.base import Bound, Letter, bound_like
from dpsco_core.bounds.conditions import moment_scale, scaled_mean_bound
from dpsco_core.bounds.mean.clipped import (
    CLIPPED_BOUNDS,
    ClippingBias,
    coordinate_bias,
    directional_bias,
)
from dpsco_core.bounds.mean.coordinatewise import COORDINATEWISE_BOUNDS, squared_parts
from dpsco_core.bounds.mean.smoothed import SECOND_ORDER, SMOOTHED_BOUNDS, root_sum_of_squares
from dpsco_core.bounds.tools import (
    BALL,
    HINGE,
    IN_BALL,
    KAPPA,
    Parts,
    at_run,
    directional_unit,
    void,
)
from dpsco_core.methods.base import Method
from dpsco_core.methods.mean.clipped import ClippedPlan, SimpleClipping
from dpsco_core.methods.mean.coordinatewise import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    MedianPlan,
    noise_scale,
)
from dpsco_core.methods.mean.smoothed import NoiseSmoothing, SmoothedPlan
from dpsco_core.privacy.mechanisms import GaussianNoise


def clipped(plan: ClippedPlan, scale: float, bias: ClippingBias, largest_bias: float) -> Parts:
    r"""Return the parts of Zhao et al. (2024), Theorem 2, in mean square, at the radius of a run.

    .. math:: E\|\tilde\mu-\mu\|^2\le\frac{d\,\text{scale}^2}n+\text{bias}(R)^2+d\sigma^2

    The root sum square of the parts bounds the mean l2 error. `scale` bounds the deviation in every
    direction, and `largest_bias` the bias at any radius. A projection on a ball moves no two points
    apart, so that clipped records vary no more than the records do (theory/bounds-of-runs.md, 2.1).
    """
    d = plan.setting.d
    sampling = scale * math.sqrt(d / plan.setting.n)
    if math.isinf(bias.scale) or math.isinf(bias.shift):
        return void(sampling)
    noise = math.sqrt(d) * plan.noise.noise_std
    return Parts(
        sampling=sampling,
        bias=min(bias.at_radius(plan.statistic.radius), largest_bias),
        noise=noise,
    )


def _directional_parts(plan: ClippedPlan) -> Parts:
    """Return the parts of the bound on a clipping run under moments in every direction.

    The bias is then at most M, the root of the directional moment.
    """
    unit = directional_unit(plan.setting)
    return clipped(plan, unit, directional_bias(plan.setting), unit)


def coordinate_parts(plan: ClippedPlan) -> Parts:
    """Return the parts of the bound on a clipping run under moments of coordinates.

    The bias is then at most a record's mean norm.
    """
    bias = coordinate_bias(plan.setting)
    return clipped(plan, moment_scale(plan.setting), bias, bias.scale + bias.shift)


def coordinatewise(plan: MedianPlan) -> Parts:
    r"""Return the parts of the mean-square bound on a run of Kamath et al. (2022), Algorithm 3.

    The threshold and the number of blocks are those of the run (theory/bounds-of-runs.md, 2.2). The
    bound is infinite if the mean may lie beyond the clipping level.
    """
    setting, scale = plan.setting, moment_scale(plan.setting)
    if not 0 < scale < math.inf or math.isinf(scaled_mean_bound(setting)):
        return void(math.inf)
    is_gaussian, blocks = isinstance(plan.noise, GaussianNoise), plan.statistic.blocks
    # This is the variance of the noise, over the square of its scale.
    per_coordinate = 1.0 if is_gaussian else 2.0
    size = math.sqrt(per_coordinate * setting.d) * noise_scale(plan.noise) / scale
    threshold = plan.statistic.threshold / scale
    return squared_parts(setting, blocks, setting.n // blocks, threshold, size).scaled(scale)


def smoothed(plan: SmoothedPlan) -> Parts:
    r"""Return the parts of the mean-square bound on a run of Kamath et al. (2022), Algorithm 4.

    It is form (v) of theory/kamath-liu-zhang.md, 3.3, at the run's truncation level and smoothing
    variance. For p of at least 3 the bias is the smaller of two bounds on it
    (theory/bounds-of-runs.md, 2.3).
    """
    setting, scale, c = plan.setting, moment_scale(plan.setting), plan.statistic.smoothing_variance
    reach = scaled_mean_bound(setting)
    if not 0 < scale < math.inf or math.isinf(reach):
        return void(math.inf)
    d, level = setting.d, plan.statistic.tau / scale
    bias = SECOND_ORDER * (1 + c) * root_sum_of_squares(d, reach) / level
    if setting.moment_order >= 3:
        # The moment E|1 + sqrt(c) Z|^3 is at most the square root of the sixth moment.
        factor = math.sqrt(1 + 15 * c + 45 * c**2 + 15 * c**3)
        bias = min(bias, factor * (math.pow(d, 1 / 6) + reach) ** 3 / (6 * level**2))
    sampling = math.sqrt((1 + c) * (d + reach**2) / setting.n)
    noise = math.sqrt(d) * plan.noise.noise_std / scale
    return Parts(sampling=sampling, bias=bias, noise=noise).scaled(scale)


_AT_PARAMETERS = {
    b.card.slug: b for b in (*CLIPPED_BOUNDS, *COORDINATEWISE_BOUNDS, *SMOOTHED_BOUNDS)
}


def _bound_on_run(
    slug: str,  # the slug of the bound at its own parameters
    method: Method,
    formula: Callable[[Any], Parts],  # the parts as a function of the plan of a run
    statement: str,
    latex: str,
    *letters: Letter,  # the letters whose values the run sets
) -> Bound:
    """Return the bound on a method's runs from the catalogue's bound at its own parameters."""
    row = _AT_PARAMETERS[slug]
    row_letters = (own for own in row.letters if own.token not in {one.token for one in letters})
    levels = " and ".join(f"the {one.meaning}" for one in letters)
    return bound_like(
        row.card,
        slug=slug.replace("-expected", "-run"),
        name=row.card.name.replace("proven mean error", "proven for this run"),
        statement=statement,
        summary=f"The mean error with every constant proven, at {levels}: it bounds what is "
        "measured, and a figure draws it beside that.",
        latex=IN_BALL + latex,
        evaluate=at_run(method, formula, row.combine),
        combine=row.combine,
        hypotheses=row.hypotheses,
        letters=(*letters, *BALL, *row_letters),
        optimal=row.optimal,
    )


_SIGMA = Letter(r"\sigma", "deviation of the run's noise, per coordinate")
_RADIUS = Letter("R", "run's clip radius")
_LEVEL = Letter(r"\tau", "run's truncation level")
_LAPLACE = Letter("s", "scale of the run's noise, per coordinate")
_BLOCKS = Letter("m", "run's number of blocks")
_CLIPPED = r"+d\sigma^2\Big]^{1/2},\ " + KAPPA
_COORDINATEWISE = (
    r"\Big[\frac dn+(d-1)\psi(0)+\psi(R)+(\sqrt d-1)R\psi'(0)+%s\Big]^{1/2}\ (m=1),\ "
    r"\psi(t)=h_p(3\tau-t)^2,\ " + HINGE
)
RUN_BOUNDS: tuple[Bound, ...] = (
    _bound_on_run(
        "upper.mean.cwme-cdp-expected",
        CoordinatewiseCDP(),
        coordinatewise,
        "Algorithm 3 (CDPCWME), mean square error at any threshold and number of blocks",
        _COORDINATEWISE % r"d\sigma^2",
        _LEVEL,
        _BLOCKS,
        _SIGMA,
    ),
    _bound_on_run(
        "upper.mean.cwme-pure-expected",
        CoordinatewisePure(),
        coordinatewise,
        "Algorithm 3 (DPCWME), mean square error at any threshold and number of blocks",
        _COORDINATEWISE % "2ds^2",
        _LEVEL,
        _BLOCKS,
        _LAPLACE,
    ),
    _bound_on_run(
        "upper.mean.smoothed-expected",
        NoiseSmoothing(),
        smoothed,
        "Algorithm 4, Lemma B.4 at a fixed point, explicit form (v), at any level",
        r"\Big[B^2+\frac{1+c}n\sum_jv_j+d\sigma^2\Big]^{1/2},\ "
        r"B=\min\Big\{\frac{3(1+c)}{8\sqrt2\,\tau}\Big(\sum_jv_j^2\Big)^{1/2},"
        r"\frac{k_c}{6\tau^2}(d^{1/6}+R)^3\text{ from }p=3\Big\},\ "
        r"\sum_jv_j=d+R^2,\ \sum_jv_j^2=d+2R^2+R^4,\ k_c^2=1+15c+45c^2+15c^3",
        _LEVEL,
        Letter("c", "run's smoothing variance"),
        _SIGMA,
    ),
    _bound_on_run(
        "upper.mean.clipped-expected",
        SimpleClipping(),
        _directional_parts,
        "Theorem 2, second-moment version, directional moments, at any radius",
        r"\Big[\frac{dM^2}n+\min\{\kappa_pd^{(p-1)/2}M^pR^{1-p},M\}^2" + _CLIPPED,
        _RADIUS,
        _SIGMA,
    ),
    _bound_on_run(
        "upper.mean.clipped-expected-coordinate",
        SimpleClipping(),
        coordinate_parts,
        "Theorem 2, second-moment version, coordinate-wise central moments, at any radius",
        r"\Big[\frac{dg^2}n+\min\{\kappa_p(\sqrt dg)^p(R-R_0)^{1-p},\sqrt dg+R_0\}^2" + _CLIPPED,
        _RADIUS,
        _SIGMA,
    ),
)
