"""Conditions that several bounds share: each says which number fails, in one sentence."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.bounds.base import Hypothesis
from dpsco_core.geometry.base import Symmetric
from dpsco_core.privacy.budget import PureDP
from dpsco_core.problems.base import Setting


def check_sizes(n: int, d: int) -> None:
    """Raise `InvalidInput` unless n and d are at least 1."""
    require(n >= 1, "n", "a positive integer", n)
    require(d >= 1, "d", "a positive integer", d)


def moment_scale(setting: Setting) -> float:
    """Return the moment unit: the p-th root of the bound on the coordinates' p-th moments.

    Gradients and their means in moment units are divided by it, and their squares by its square.
    """
    return math.pow(setting.constants.coordinate_moment, 1 / setting.moment_order)


def scaled_mean_bound(setting: Setting) -> float:
    """Return R, the bound on the mean gradient, over the moment scale; infinite if unknown."""
    scale = moment_scale(setting)
    if not 0 < scale < math.inf:
        return math.inf
    return setting.constants.mean_gradient_bound / scale


def in_moment_units(setting: Setting) -> Setting:
    """Return the setting with gradients, and thus excess risks, in units of the moment scale."""
    c, scale = setting.constants, moment_scale(setting)
    constants = replace(
        c,
        coordinate_moment=1.0,
        mean_gradient_bound=c.mean_gradient_bound / scale,
        smoothness=c.smoothness / scale,
        sample_smoothness=c.sample_smoothness / scale,
        strong_convexity=c.strong_convexity / scale,
    )
    return replace(setting, constants=constants)


def certified(text: str, template: str, number: Callable[[Setting], float]) -> Hypothesis:
    """Return the condition that the problem certifies a constant, that is, that it is finite.

    `number` is the constant as a function of a setting, `text` the condition in words. `template`
    names the constant in the sentence of a failure; ``{p}`` in it becomes the order of moments.
    """

    def check(setting: Setting) -> str:
        """Return the reason why the constant is not certified; empty if it is."""
        if math.isfinite(number(setting)):
            return ""
        name = template.format(p=f"{setting.moment_order:g}")
        return f"The problem certifies no {name}, which this bound needs."

    return Hypothesis(text=text, check=check)


COORDINATE_MOMENT = certified(
    "finite central moment of order p in every coordinate",
    "coordinate-wise moment of order p={p}",
    lambda setting: setting.constants.coordinate_moment,
)
DIRECTIONAL_MOMENT = certified(
    "finite raw moment of order p in every direction",
    "directional moment M of order p={p}",
    lambda setting: setting.constants.directional_moment,
)
FINITE_VARIANCE = certified(
    "finite trace of the covariance",
    "finite variance",
    lambda setting: setting.constants.variance_trace,
)


GAUSSIAN_BUDGET = Hypothesis(
    text="a zCDP or (epsilon, delta) budget",
    check=lambda s: (
        ""
        if s.gaussian_rho > 0
        else f"The method needs a zCDP or (epsilon, delta) budget, and the budget is {s.budget}."
    ),
)
PURE_BUDGET = Hypothesis(
    text="a pure budget",
    check=lambda s: (
        ""
        if isinstance(s.budget, PureDP)
        else f"This row is for noise under a pure budget, and the budget is {s.budget}."
    ),
)
MEAN_BOUND = Hypothesis(
    text="a finite public bound R on the mean",
    check=lambda s: (
        ""
        if math.isfinite(s.constants.mean_gradient_bound)
        else "The bound needs a finite public bound R on the norm of the mean, and there is none."
    ),
)
MEAN_UNRESTRICTED = Hypothesis(
    text="mean unrestricted",
    check=lambda s: (
        ""
        if math.isinf(s.constants.mean_gradient_bound)
        else "The bound is for an unrestricted mean, and here the mean has norm at most "
        f"R={s.constants.mean_gradient_bound:.4g}."
    ),
)


def _check_contains_means(setting: Setting) -> str:
    """Return why the set does not contain all means of the priors; empty if it does.

    The coordinates of these means are at most R/sqrt(d), where R is the largest l2 norm in the set,
    so that they lie in a cube with corners on the sphere of radius R. (The words of the packing do
    after a shift by half their size, which changes no central moment.) The l_q balls with q >= 2
    contain the cube; l1 balls, simplices and l_q balls with q < 2 do not. A symmetric set here
    stays the same when a coordinate changes sign, so that one corner is checked for all.
    """
    body, bound = setting.constraint, setting.constants.mean_gradient_bound
    if body is None or not math.isfinite(bound):
        return ""
    corner = np.full(setting.d, bound / math.sqrt(setting.d))
    if isinstance(body, Symmetric) and body.contains(corner, 1e-9 * bound):
        return ""
    return (
        f"The bound is proven for means in the l2 ball, and here they lie in {body.name}, which "
        "does not hold all the means of the prior."
    )


PRIOR_IN_SET = Hypothesis(
    text="the set of the mean holds the prior's means",
    check=_check_contains_means,
    is_about_set=True,
)


def small_mean(limit: float) -> Hypothesis:
    """Return the condition that the mean's norm bound R is at most `limit` moment scales."""

    def check(setting: Setting) -> str:
        """Return the reason why the mean is too large; empty if it is not."""
        bound = scaled_mean_bound(setting)
        if bound <= limit:
            return ""
        return (
            f"The statement needs a mean of norm at most {limit:g} moment units, and R={bound:.4g}."
        )

    return Hypothesis(text=f"R <= {limit:g}", check=check)


def large_enough(smallest: int) -> Hypothesis:
    """Return the condition that d is at least `smallest`; below it the packing proves nothing."""
    return Hypothesis(
        text=f"d >= {smallest}",
        check=lambda s: (
            ""
            if s.d >= smallest
            else f"The code has too few words for Fano's inequality at d={s.d}, "
            f"so the bound is 0: it needs d >= {smallest}."
        ),
    )
