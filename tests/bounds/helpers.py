"""Slow, plain evaluations of the lower bounds, and settings for their tests."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from scipy.stats import binom

from dpsco_core.base.cards import BoundCard
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.instances import spikes
from dpsco_core.catalogue import HARD_INSTANCES
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.privacy.budget import ZCDP, Budget
from dpsco_core.problems.base import Constants, Setting

LOG_2 = math.log(2)
# The keys are the arguments that have a name in the literature, and the values their hard
# instances; the first name that occurs counts. Fano by packing hides one pattern of a code, Fano by
# distance hides all of the signs.
ARGUMENTS = {
    "corners": "corners",
    "blocks": "blocks",
    "signs on an lq ball": "hypercube",
    "fano by distance": "hypercube",
    "fano": "spike",
    "tracing": "tracing",
} | dict.fromkeys(("hypercube", "assouad", "packing", "rate distortion"), "hypercube")


def instances_of(card: BoundCard) -> tuple[str, ...]:
    """Return the instances that a lower bound may have: all, unless its card names the bound after
    an argument.
    """
    if card.losses:  # A bound on a loss uses the problem's own instances, whatever its argument.
        return HARD_INSTANCES
    name = card.name.lower()
    laws = tuple(law for argument, law in ARGUMENTS.items() if argument in name)
    return laws[:1] or ("", *HARD_INSTANCES)


def on_own_set(bound: Bound, setting: Setting) -> Setting:
    """Return the setting on the first of several sets where the bound is defined.

    Every set has half the diameter as its radius. The setting itself is returned where the bound is
    undefined on all sets because the dimension is too small.
    """
    radius = setting.constants.diameter / 2
    if not bound.refusal(setting) or math.isinf(radius) or setting.d == 1:
        return setting
    sets = (
        *(Geometry(kind=kind) for kind in ("l1", "sparse", "simplex")),
        Geometry(kind="lq", q=1.5),
    )
    tried = (replace(setting, constraint=one.constraint(setting.d, radius)) for one in sets)
    return next((other for other in tried if not bound.refusal(other)), setting)


def check_fixed_probability(bound: Bound, setting: Setting, probability: float) -> None:
    """Assert that a bound is evaluated at the data's spike probability if and only if it has an
    instance.

    `probability` is far from the one at which the bound is largest.
    """
    setting = on_own_set(bound, setting)
    free, fixed = bound.value(setting), bound.value(replace(setting, spike_probability=probability))
    slug, instance = bound.card.slug, bound.card.instance
    if instance:
        assert fixed < free, (
            f"{slug} has the instance {instance!r}, and ignores setting.spike_probability: where "
            "that is set, the bound is to be evaluated there and not at the best probability"
        )
    else:
        assert fixed == free, f"{slug} has no instance, and depends on setting.spike_probability"


def log_packing_size(d: int, distance: float) -> float:
    """Return the logarithm of the size of the library's code at a given least Hamming distance in
    (0, d].
    """
    sizes = spikes.gilbert_log_sizes(d)
    return float(sizes[min(math.ceil(distance / 2) - 1, len(sizes) - 1)])


def make_setting(
    n: int = 10_000,
    d: int = 20,
    order: float = 4.0,
    budget: Budget | None = None,
    *,
    coordinate_moment: float = 1.0,
    directional_moment: float = 1.0,
    mean_bound: float = 1.0,
    spike_probability: float | None = None,
) -> Setting:
    """Return a setting with unit moments, unless overridden."""
    return Setting(
        n=n,
        d=d,
        moment_order=order,
        budget=ZCDP(rho=0.5) if budget is None else budget,
        constants=Constants(
            coordinate_moment=coordinate_moment,
            directional_moment=directional_moment,
            variance_trace=d * coordinate_moment ** (2 / order),
            mean_gradient_bound=mean_bound,
        ),
        spike_probability=spike_probability,
    )


def exact_binomial_pmf(n: int, p: float) -> list[float]:
    """Return the binomial probabilities of 0 to n successes, computed in exact fractions."""
    q = Fraction(p)
    return [float(math.comb(n, b) * q**b * (1 - q) ** (n - b)) for b in range(n + 1)]


def mean_over(n: int, p: float, f) -> float:
    """Return the mean of f(B) for a binomial count B of n trials with probability p, as a sum."""
    return math.fsum(weight * f(b) for b, weight in enumerate(exact_binomial_pmf(n, p)))


def plain_entropy_inverse(y: float) -> float:
    """Return the smaller solution q of h(q) = max(0, ln 2 - y), with h the binary entropy, by
    bisection.
    """
    target = max(0.0, LOG_2 - y)
    if target == 0:
        return 0.0
    low, high = 0.0, 0.5
    for _ in range(200):
        middle = (low + high) / 2
        entropy = -middle * math.log(middle) - (1 - middle) * math.log1p(-middle)
        low, high = (middle, high) if entropy <= target else (low, middle)
    return (low + high) / 2


def plain_wrong_signs(d: int, t: float) -> float:
    """Return the least fraction of d wrong signs when, of all answers, those with at most s wrong
    ones are e^t times as likely; minimised over s.
    """
    e = math.exp(min(t, 690.0))
    best = math.inf
    for s in range(d + 1):
        weights = [(e if i <= s else 1.0) * math.comb(d, i) for i in range(d + 1)]
        fraction = math.fsum(i * w for i, w in enumerate(weights)) / d / math.fsum(weights)
        best = min(best, fraction)
    return best


def spike_fano(p: float, n: int, d: int, k: float, rho: float, power: int = 1) -> float:
    """Return Fano's lower bound under zCDP on the error, or on its square at `power` 2, for spikes
    of probability p.
    """
    second_moment = mean_over(n, p, lambda b: b * b)
    words = d / 8 * LOG_2
    error = max(0.0, 1 - (rho * second_moment + LOG_2) / words) if words > 0 else 0.0
    separation = p ** (1 - 1 / k) * math.sqrt(d / 8)
    return (separation / 2) ** power * error


def spike_pure(p: float, n: int, d: int, k: float, epsilon: float) -> float:
    """Return Fano's lower bound under pure DP on the error, for spikes of probability p."""
    if d < 8:
        return 0.0
    words = 2 ** (d / 8)
    error = mean_over(n, p, lambda b: (words - 1) / (words - 1 + math.exp(min(epsilon * b, 690.0))))
    return p ** (1 - 1 / k) * math.sqrt(d / 8) / 2 * error


def hypercube_cdp(p: float, n: int, d: int, k: float, rho: float) -> float:
    """Return the lower bound under zCDP on the l2 error, for sign vectors as spikes of probability
    p.
    """
    mean = mean_over(n, p, lambda b: plain_entropy_inverse(rho * b * b / d))
    return 2 * math.sqrt(d) * p ** (1 - 1 / k) * mean


def hypercube_cdp_pinsker(p: float, n: int, d: int, k: float, rho: float) -> float:
    """Return the weaker form E8 of theory/kamath-liu-zhang.md, 4.5, with scipy's binomial law."""
    slope = math.sqrt(2 * rho / d)
    counts = np.arange(min(n, math.floor(1 / slope)) + 1)
    mean = float(np.sum(binom.pmf(counts, n, p) * (1 - slope * counts)))
    return math.sqrt(d) * p ** (1 - 1 / k) * mean


def hypercube_cdp_squared(p: float, n: int, d: int, k: float, rho: float) -> float:
    """Return the lower bound under zCDP on the squared l2 error, for sign vectors as spikes of
    probability p.
    """
    mean = mean_over(n, p, lambda b: max(0.0, 1 - 2 * rho * b * b / d))
    return d * p ** (2 - 2 / k) * mean


def hypercube_pure(p: float, n: int, d: int, k: float, epsilon: float, power: int = 1) -> float:
    """Return the lower bound under pure DP on the l2 error, or on its square at `power` 2, for sign
    vectors as spikes of probability p.
    """
    mean = mean_over(n, p, lambda b: plain_wrong_signs(d, epsilon * b))
    return 2 * (math.sqrt(d) * p ** (1 - 1 / k)) ** power * mean
