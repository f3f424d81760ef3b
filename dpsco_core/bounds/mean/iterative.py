r"""Iterative updating: Zhao et al. (2024), Algorithm 3, Lemmas 6-8 and Theorem 5.

The data are clipped to radius R and split into k groups, and each group's mean gets Gaussian noise.
One record touches one group, so the vector of noisy means costs the rho of one of them (parallel
composition). For an exactly solved inner program the error is at most :math:`6r_0` plus the
clipping bias (theory/zhao-et-al.md, 2.4, 2.6 and 3.5).
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpsco_core.base.cards import ZHAO_2024, BoundCard
from dpsco_core.base.errors import require
from dpsco_core.base.law_classes import DIRECTIONAL
from dpsco_core.base.search import smallest_index
from dpsco_core.base.valley import lowest_between
from dpsco_core.bounds.base import Bound, Hypothesis, Terms, bound_like, set_letters
from dpsco_core.bounds.conditions import DIRECTIONAL_MOMENT
from dpsco_core.bounds.mean.clipped import LETTERS, ClippingBias, directional_bias, printed_bias
from dpsco_core.bounds.tools import (
    BETA,
    DIRECTIONAL_CONDITIONS,
    KAPPA,
    check_beta,
    directional_unit,
    enough_records,
    rate_terms,
)
from dpsco_core.methods.mean.iterative import theory_groups
from dpsco_core.methods.records.directions import EXACT_DIMENSIONS
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting


def iterative_rate(setting: Setting, rho: float, beta: float) -> tuple[float, float, float]:
    """Return the rate of Zhao et al. (2024), Theorem 5 in its form (31), at the balancing radius.

    The terms are sampling, bias and noise, in units of M. The number of groups is among the hidden
    constants.
    """
    check_beta(beta)
    n, d = setting.n, setting.d
    dimension, private = d - math.log(beta), math.inf
    if rho > 0:
        slope = math.sqrt(dimension) / (n * math.sqrt(rho))
        private = math.sqrt(d) * slope ** (1 - 1 / setting.moment_order)
    return math.sqrt(dimension / n), private, private


def iterative_amplified_rate(setting: Setting, beta: float) -> tuple[float, float, float]:
    """Return the rate (21) of Theorem 5; infinite unless the budget is (epsilon, delta)."""
    require(0 < beta < math.exp(-1), "beta", "between 0 and 1/e", beta)
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return math.inf, math.inf, math.inf
    log_delta = -math.log(budget.delta)
    logs = log_delta + math.sqrt(log_delta * math.log(-math.log(beta)))
    return iterative_rate(setting, (budget.epsilon / logs) ** 2, beta)


def group_radius(
    n: int, d: int, moment: float, rho: float, radius: float, groups: int, *, tau: float = 0.1
) -> float:
    r"""Return the radius :math:`r_0` of Lemma 6 in its form (91), at quantile level tau.

    Theorem 5 bounds the l2 error by :math:`6r_0` plus the bias of clipping to `radius`. The paper
    takes tau = 0.1; the lemma needs at least :math:`8\ln(1/\beta)/\tau^2` `groups`.
    """
    by_sampling = 16 / tau * moment * math.sqrt(d / n)
    by_noise = 16 * math.sqrt(2) / tau * radius * math.sqrt(groups * d / rho) / n
    noise = math.sqrt(2 / rho) * radius * groups / n
    return max(by_sampling, by_noise, 4 / tau * math.hypot(noise, moment * math.sqrt(groups / n)))


def unsplit_radius(
    n: int, d: int, moment: float, rho: float, radius: float, groups: int, beta: float, tau: float
) -> float:
    r"""Return a sharper :math:`r_0` than `group_radius`, for any tau below one half.

    The proof does not split the probability of failure equally (theory/zhao-et-al.md, 2.6). The
    radius is infinite unless :math:`k>\ln(1/\beta)/(2\tau^2)`, k the number of `groups`.
    """
    check_beta(beta)
    require(0 < tau < 0.5, "tau", "between 0 and 1/2", tau)
    margin = tau - math.sqrt(-math.log(beta) / (2 * groups))
    if margin <= 0:
        return math.inf
    spread = math.hypot(moment / math.sqrt(n), math.sqrt(2 * groups / rho) * radius / n)
    return (4 * math.sqrt(d) + math.sqrt(groups)) * spread / margin


def printed(setting: Setting) -> tuple[float, float]:
    r"""Return the terms :math:`6r_0` and bias of Theorem 5's error bound as printed.

    They are (91) and (55) with k = 2397 groups, at the clip radius that minimises their sum, which
    bounds the l2 error with probability 0.95. Records beyond k equal groups are not counted. Both
    are infinite for n < k or rho = 0.
    """
    d, rho, moment = setting.d, setting.gaussian_rho, setting.constants.directional_moment
    groups = theory_groups()
    records = setting.n // groups * groups
    if records == 0 or rho <= 0 or math.isinf(moment):
        return math.inf, math.inf
    bias = printed_bias(setting)

    def value(radius: float) -> tuple[float, float]:
        """Return the two terms of the printed bound at a clip radius."""
        return 6 * group_radius(records, d, moment, rho, radius, groups), bias.at_radius(radius)

    slope = 6 * group_radius(records, d, 0.0, rho, 1.0, groups)
    return value(_best_radius(lambda r: math.fsum(value(r)), bias, slope))


@lru_cache(maxsize=4096)
def general_quantile(setting: Setting, beta: float) -> tuple[float, float, int]:
    r"""Return :math:`(6r_0,\text{bias},k)` of a sharper Theorem 5, at the best k and clip radius.

    The first two add up to a bound on the l2 error with probability :math:`1-\beta`, for k groups.
    It takes `unsplit_radius` as tau tends to one half, and the sharp bias. k is between 8 and 120;
    the terms are infinite if no such k is allowed.
    """
    n, d, rho = setting.n, setting.d, setting.gaussian_rho
    moment, void = setting.constants.directional_moment, (math.inf, math.inf, 8)
    if rho <= 0 or math.isinf(moment) or n < 8:
        return void
    bias = directional_bias(setting)
    tau = 0.5 * (1 - 1e-9)
    k = np.unique(np.geomspace(8, min(120, n), 40).astype(np.int64))
    k = k[tau > np.sqrt(-math.log(beta) / (2 * k))]
    if not len(k):
        return void
    records = n // k * k
    margin = tau - np.sqrt(-math.log(beta) / (2 * k))
    factor = 6 * (4 * math.sqrt(d) + np.sqrt(k)) / margin
    radii = bias.scale * np.geomspace(1e-3, 1e6, 200)[:, None]
    spread = np.hypot(moment / np.sqrt(records), np.sqrt(2 * k / rho) * radii / records)
    log_ratio = (bias.order - 1) * np.log(bias.scale / radii)
    biases = bias.constant * bias.amplitude * np.exp(np.minimum(log_ratio, 690.0))
    values = factor * spread + biases
    best = int(smallest_index(values.min(axis=0)))
    if best < 0:
        return void
    groups = int(k[best])
    total = n // groups * groups

    def value(radius: float) -> tuple[float, float]:
        """Return the two terms of the bound at a clip radius."""
        r0 = unsplit_radius(total, d, moment, rho, radius, groups, beta, tau=tau)
        return 6 * r0, bias.at_radius(radius)

    slope = 6 * unsplit_radius(total, d, 0.0, rho, 1.0, groups, beta, tau=tau)
    radius = _best_radius(lambda r: math.fsum(value(r)), bias, slope)
    return (*value(radius), groups)


def _best_radius(value: Callable[[float], float], bias: ClippingBias, slope: float) -> float:
    """Return the clip radius that minimises a convex bound.

    The search is around the radius that balances the bias and noise of the given slope.
    """
    centre = math.log(bias.best_radius(slope))
    place, _ = lowest_between(lambda x: value(math.exp(x)), centre - 2, centre + 14, tolerance=1e-8)
    return math.exp(place)


_NAMES = ("sampling", "clipping bias", "privacy noise")


def _paper_terms(setting: Setting) -> Terms:
    """Return the terms, by name, of Theorem 5's bound with the paper's constants."""
    return dict(zip(("sampling and privacy noise", "clipping bias"), printed(setting), strict=True))


def _quantile_terms(setting: Setting) -> Terms:
    """Return the terms, by name, of the sharper Theorem 5 that holds with probability 0.95."""
    radius, bias, _ = general_quantile(setting, BETA)
    return {"sampling and privacy noise": radius, "clipping bias": bias}


def _condition_not_vacuous(evaluate: Callable[[Setting], Terms]) -> Hypothesis:
    """Return the condition that the bound is not vacuous: 4 r_0 < M, M the moment's root."""

    def check(setting: Setting) -> str:
        """Return the reason why the answer 0 meets the bound; empty if it does not."""
        moment = setting.constants.directional_moment
        distance = 4 / 6 * evaluate(setting)["sampling and privacy noise"]
        if math.isinf(distance) or distance < moment:
            return ""
        return (
            f"The bound is vacuous: 4 r_0 = {distance:.3g} is at least M={moment:.3g}, "
            "so that outputting 0 meets it."
        )

    return Hypothesis(text="4 r_0 < M", check=check)


def _check_solution(setting: Setting) -> str:
    """Return the reason why the inner program is not solved exactly; empty if it is."""
    if setting.d <= EXACT_DIMENSIONS:
        return ""
    return (
        "The proof needs the direction of every step to solve the program (27) exactly. The method "
        f"does so for d <= {EXACT_DIMENSIONS}; at d={setting.d} its search is a heuristic."
    )


SOLVED_EXACTLY = Hypothesis(
    text=f"directions that solve (27) exactly: d <= {EXACT_DIMENSIONS}", check=_check_solution
)


def _check_amplification(setting: Setting) -> str:
    """Return the reason why amplification does not apply; empty if it does."""
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return f"Amplification by shuffling needs an (epsilon, delta) budget, not {budget}."
    groups = theory_groups()
    log_delta = math.log(4 / budget.delta)
    largest = 8 * math.exp(2) * math.sqrt(log_delta / groups)
    if budget.epsilon > largest:
        return (
            f"Theorem 6 needs epsilon <= 8e^2 sqrt(ln(4/delta)/k) = {largest:.3g} at k={groups}, "
            f"and epsilon={budget.epsilon:g}."
        )
    fewest = 16 * math.e * log_delta
    if groups < fewest:
        return (
            f"Amplification by shuffling needs k >= 16 e ln(4/delta) = {fewest:.0f} groups, "
            f"and k={groups}."
        )
    return ""


_GROUPS = enough_records("k = 800 ln(1/0.05)", lambda setting: theory_groups())
_ITERATIVE_CARD = BoundCard(
    slug="upper.mean.iterative",
    name="Iterative updating, rate",
    paper=ZHAO_2024,
    statement="Theorem 5 in its form (31) at the balancing radius",
    printing="reworked",
    summary="The rate of clipped group means combined by direction and distance; constants, the "
    "number of groups among them, are set to 1.",
    kind="upper",
    constant="rate",
    guarantee="probability 0.95",
    latex=r"M\Big[\sqrt{\frac{d+\ln\frac1\beta}n}+2\sqrt d\,c^{1-1/p}\Big],\ "
    r"c=\frac{\sqrt{d+\ln(1/\beta)}}{n\sqrt\rho}",
    privacy="zcdp",
    law_class=DIRECTIONAL,
    method="mean.iterative",
)
_ITERATIVE_BOUNDS: tuple[Bound, ...] = (
    Bound(
        card=_ITERATIVE_CARD,
        evaluate=rate_terms(
            _NAMES, directional_unit, lambda s: iterative_rate(s, s.gaussian_rho, BETA)
        ),
        hypotheses=(*DIRECTIONAL_CONDITIONS, _GROUPS, SOLVED_EXACTLY),
    ),
    bound_like(
        _ITERATIVE_CARD,
        slug="upper.mean.iterative-amplified",
        name="Iterative updating, rate with amplification",
        statement="Theorem 5, (21), at the balancing radius",
        summary="The theorem's rate under (epsilon, delta)-DP, where the random split hides "
        "which group a record is in; constants set to 1.",
        latex=r"M\Big[\sqrt{\frac{d+\ln\frac1\beta}n}+2\sqrt d\,c^{1-1/p}\Big],\ "
        r"c=\frac{\sqrt{d+\ln(1/\beta)}}{n\varepsilon}\Big(\ln\tfrac1\delta+"
        r"\sqrt{\ln\tfrac1\delta\ln\ln\tfrac1\beta}\Big)",
        privacy="approx",
        evaluate=rate_terms(_NAMES, directional_unit, lambda s: iterative_amplified_rate(s, BETA)),
        hypotheses=(
            DIRECTIONAL_MOMENT,
            _GROUPS,
            SOLVED_EXACTLY,
            Hypothesis(
                text="epsilon <= 8e^2 sqrt(ln(4/delta)/k), k >= 16 e ln(4/delta)",
                check=_check_amplification,
            ),
        ),
    ),
    bound_like(
        _ITERATIVE_CARD,
        slug="upper.mean.iterative-paper",
        name="Iterative updating, printed constants",
        statement="Theorem 5 with Lemmas 6 and 8, (91) and (55), parallel composition",
        printing="printed",
        summary="What the paper's constants add up to, for an exactly solved inner program "
        "and k = 2397 groups.",
        constant="explicit",
        latex=r"\min_R6r_0+\frac{d^{p/2}M^p}{p-1}R^{1-p},\ r_0=\max\Big\{160M\sqrt{\tfrac dn},"
        r"\tfrac{160\sqrt2R}n\sqrt{\tfrac{kd}\rho},"
        r"40\sqrt{\tfrac{2R^2k^2}{\rho n^2}+\tfrac{M^2k}n}\Big\}",
        evaluate=_paper_terms,
        hypotheses=(
            *DIRECTIONAL_CONDITIONS,
            _GROUPS,
            SOLVED_EXACTLY,
            _condition_not_vacuous(_paper_terms),
        ),
    ),
    bound_like(
        _ITERATIVE_CARD,
        slug="upper.mean.iterative-probability",
        name="Iterative updating, proven at 95 %",
        statement="Theorem 5 at quantile one half, without the split of the failure budget",
        summary="The same proof with its slack removed, for an exactly solved inner program "
        "and the best number of groups from 8 to 120.",
        constant="explicit",
        latex=r"\min_{R,k}6\,\frac{(4\sqrt d+\sqrt k)\sqrt{\frac{M^2}n+\frac{2R^2k}"
        r"{\rho n^2}}}{\frac12-\sqrt{\ln(1/\beta)/(2k)}}+\kappa_pd^{(p-1)/2}M^pR^{1-p},\ " + KAPPA,
        evaluate=_quantile_terms,
        hypotheses=(
            *DIRECTIONAL_CONDITIONS,
            enough_records("k = 8", lambda setting: 8),
            SOLVED_EXACTLY,
            _condition_not_vacuous(_quantile_terms),
        ),
    ),
)
ITERATIVE_BOUNDS = set_letters(LETTERS, _ITERATIVE_BOUNDS)
