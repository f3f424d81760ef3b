r"""Upper bounds for means at tail indices :math:`1<p<2`, where a record may have no variance.

The error of the sample mean then has a mean, but no mean square. Clipped records have a variance
that grows with the level of clipping (theory/infinite-variance.md, 1 and 2). From p = 2 on there
are sharper bounds.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms, TermsOfRun, bound_like
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    MEAN_BOUND,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.tools import (
    BALL,
    IN_BALL,
    KAPPA,
    PARTS,
    Parts,
    at_run,
    root_sum_square,
    void,
)
from dpsco_core.methods.base import Method, Plan
from dpsco_core.methods.mean.below_two import (
    Costs,
    best_level,
    coordinate_costs,
    norm_costs,
    sample_mean_error,
)
from dpsco_core.methods.mean.clipped import ClippedPlan, SimpleClipping
from dpsco_core.methods.mean.coordinatewise import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    MedianPlan,
    noise_scale,
)
from dpsco_core.methods.mean.not_private import SampleMean
from dpsco_core.problems.base import Setting

# A release clips the norm and adds Gaussian noise, or clips the coordinates and adds Gaussian or
# Laplace noise.
Release = Literal["norm", "gaussian", "laplace"]
BELOW_TWO = Hypothesis(
    text="p < 2",
    check=lambda s: (
        ""
        if s.moment_order < 2
        else f"This row is for tail indices below 2, and p={s.moment_order:g}."
    ),
    is_scope=True,
)
_CLASS = (COORDINATE_MOMENT, BELOW_TWO)
_CLIPPED = (*_CLASS, MEAN_BOUND)
_PROVEN = "It is proven for p from 1 to 2: no step of it reads a variance of the records."


def _sampling_terms(plan: Plan) -> tuple[float]:
    """Return a bound on the mean l2 error of the sample mean, as the single term of its run."""
    s = plan.setting
    return (moment_scale(s) * sample_mean_error(s.n, s.d, min(2.0, s.moment_order)),)


def _noise_square_at_unit_level(setting: Setting, release: Release) -> float:
    """Return the mean squared l2 norm of the noise if the clipping level is 1.

    At another level it is multiplied by the square of the level. It is infinite without a budget.
    """
    n, d = setting.n, setting.d
    if release == "laplace":
        return 8 * d**3 / (setting.laplace_epsilon * n) ** 2
    rho = setting.gaussian_rho
    return 2 * d ** (1 if release == "norm" else 2) / (rho * n * n) if rho > 0 else math.inf


_COSTS: dict[Release, Costs] = {
    "norm": norm_costs,
    "gaussian": coordinate_costs,
    "laplace": coordinate_costs,
}


def at_level(setting: Setting, release: Release, level: float, noise: float) -> Parts:
    """Return the parts of a bound on the root mean square error with clipping at `level`.

    `level` and `noise`, the root of the noise's mean squared norm, are in the unit of the records.
    """
    scale, bound = moment_scale(setting), scaled_mean_bound(setting)
    if not 0 < scale < math.inf or math.isinf(bound):
        return void(math.inf)
    order = min(2.0, setting.moment_order)
    sampling, bias = _COSTS[release](level / scale, bound, setting.n, setting.d, order)
    return Parts(sampling=scale * sampling, bias=scale * bias, noise=noise)


def at_best(setting: Setting, release: Release) -> Parts:
    """Return the parts of the bound of `at_level` at the clipping level with the least bound."""
    noise, scale = _noise_square_at_unit_level(setting, release), moment_scale(setting)
    is_sized = 0 < scale < math.inf and math.isfinite(scaled_mean_bound(setting))
    if not is_sized or math.isinf(noise):
        return void(math.inf)
    if setting.moment_order > 2:  # By Lyapunov's inequality a higher moment bounds the second one.
        constants = replace(setting.constants, coordinate_moment=scale**2)
        setting = replace(setting, moment_order=2.0, constants=constants)
    level = best_level(setting, _COSTS[release], noise)
    return at_level(setting, release, level, math.sqrt(noise) * level)


def of_clipped(plan: ClippedPlan) -> Parts:
    """Return the parts of the bound on the root mean square error of a run of simple clipping."""
    noise = math.sqrt(plan.setting.d) * plan.noise.noise_std
    return at_level(plan.setting, "norm", plan.statistic.radius, noise)


def of_coordinatewise(plan: MedianPlan, release: Release) -> Parts:
    """Return the parts of the bound on a run of coordinate-wise clipping.

    They are infinite for several blocks, of whose median nothing is proven.
    """
    if plan.statistic.blocks != 1:
        return void(math.inf)
    # This is the variance of the noise, over the square of its scale.
    variance = 2.0 if release == "laplace" else 1.0
    noise = math.sqrt(variance * plan.setting.d) * noise_scale(plan.noise)
    return at_level(plan.setting, release, 3 * plan.statistic.threshold, noise)


_NORM = r"\Big[\frac{d(R+R_0)^{2-p}}n+\big(\kappa_pd(R-R_0)^{1-p}\big)^2+%s\Big]^{1/2},\ " + KAPPA
_COORDINATE = (
    r"\Big[\frac dn\Big(\tau+\frac{R_0}{\sqrt d}\Big)^{2-p}+(d-1)\psi(0)+\psi(R_0)+"
    r"(\sqrt d-1)R_0\psi'(0)+%s\Big]^{1/2},\ \psi(t)=\kappa_p^2(\tau-t)^{2-2p},\ " + KAPPA
)
_BOUND = Letter("R_0", "bound on the norm of the mean", lambda s: s.constants.mean_gradient_bound)
_CARD = BoundCard(
    slug="upper.mean.sample-below-two",
    name="Sample mean, infinite variance",
    paper=OWN,
    statement="Infinite variance, 1",
    summary="The mean error of the plain average where records may have no variance: it falls with "
    "n more slowly than 1/√n. Its mean square is infinite.",
    kind="upper",
    constant="explicit",
    latex=r"\frac1n\big(d\,[1+2^{2-p}(n-1)]\big)^{1/p}",
    privacy="none",
    method="mean.sample",
    infinite_variance=_PROVEN,
)


def _bound_at_best_level(
    slug: str, name: str, statement: str, latex: str, release: Release, level: Letter
) -> Bound:
    """Return the upper bound of a method below p = 2, at the clipping level with the least bound.

    `slug` and `name` are those of the method; `latex` has the level at its beginning.
    """
    pure = release == "laplace"
    budget = () if pure else (GAUSSIAN_BUDGET,)

    def evaluate(setting: Setting) -> Terms:
        """Return the terms at the clipping level that minimises the bound."""
        return dict(zip(PARTS, at_best(setting, release).values, strict=True))

    what = "record" if release == "norm" else "coordinate"
    return bound_like(
        _CARD,
        slug=f"upper.{slug}-below-two",
        name=f"{name}, infinite variance",
        statement=statement,
        summary=f"The mean error of clipping every {what} where records may have no variance, with "
        "every constant proven, at the level that makes this bound smallest.",
        latex=r"\min_" + latex,
        privacy="pure" if pure else "zcdp",
        method=slug,
        evaluate=evaluate,
        combine=root_sum_square,
        hypotheses=(*budget, *_CLIPPED),
        letters=(_BOUND, level),
    )


def _bound_on_run(row: Bound, method: Method, formula: Callable[[Any], Parts], latex: str) -> Bound:
    """Return the bound on a method's runs, at their parameters, from the bound at the best level.

    `formula` computes the parts from the plan of a run.
    """
    return bound_like(
        row.card,
        slug=f"{row.card.slug}-run",
        name=f"{row.card.name}, for this run",
        summary="The mean error where records may have no variance, with every constant proven, at "
        "the level and the noise of the run: it bounds what is measured.",
        latex=IN_BALL + latex,
        evaluate=at_run(method, formula, row.combine),
        combine=row.combine,
        hypotheses=row.hypotheses,
        letters=(Letter(r"\sigma", "deviation of the run's noise"), *BALL, *row.letters),
    )


_RADIUS, _LIMIT = Letter("R", "clip radius"), Letter(r"\tau", "limit of the entries")
_NORM_ROW = _bound_at_best_level(
    "mean.clipped",
    "Simple clipping",
    "Infinite variance, 2.2",
    "R" + _NORM % r"\frac{2dR^2}{\rho n^2}",
    "norm",
    _RADIUS,
)
_GAUSSIAN_ROW = _bound_at_best_level(
    "mean.cwme-cdp",
    "Coordinate-wise, Gaussian",
    "Infinite variance, 2.1",
    r"\tau" + _COORDINATE % r"\frac{2d^2\tau^2}{\rho n^2}",
    "gaussian",
    _LIMIT,
)
_LAPLACE_ROW = _bound_at_best_level(
    "mean.cwme-pure",
    "Coordinate-wise, Laplace",
    "Infinite variance, 2.1",
    r"\tau" + _COORDINATE % r"\frac{8d^3\tau^2}{(\varepsilon n)^2}",
    "laplace",
    _LIMIT,
)
BELOW_TWO_BOUNDS: tuple[Bound, ...] = (
    Bound(
        card=_CARD,
        evaluate=TermsOfRun(method=SampleMean(), names=("sampling",), formula=_sampling_terms),
        hypotheses=_CLASS,
    ),
    _NORM_ROW,
    _bound_on_run(_NORM_ROW, SimpleClipping(), of_clipped, _NORM % r"d\sigma^2"),
    _GAUSSIAN_ROW,
    _bound_on_run(
        _GAUSSIAN_ROW,
        CoordinatewiseCDP(),
        lambda plan: of_coordinatewise(plan, "gaussian"),
        _COORDINATE % r"d\sigma^2",
    ),
    _LAPLACE_ROW,
    _bound_on_run(
        _LAPLACE_ROW,
        CoordinatewisePure(),
        lambda plan: of_coordinatewise(plan, "laplace"),
        _COORDINATE % r"d\sigma^2",
    ),
)
