r"""The floors for the law of the records at a setting: their terms and their conditions.

A floor is a worst case over all shifts of that law with a mean in a ball of radius R. R is the norm
of the mean of the data at hand or, if that is 0, the public bound: theory/instance-floors.md, 13.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from dpsco_core.bounds.base import Hypothesis, Letter, Terms
from dpsco_core.bounds.floors.assouad import assouad
from dpsco_core.bounds.floors.leakage import leakage
from dpsco_core.bounds.floors.near import Tilt, best_tilt, tilts
from dpsco_core.bounds.floors.van_trees import Costs, costs, mean_constant, prior_information
from dpsco_core.bounds.floors.weights import Weights, weightings
from dpsco_core.bounds.instances.prior import APPROXIMATE_BUDGET, approximate_level
from dpsco_core.data.base import Distribution, ScaledLaw
from dpsco_core.data.shifts import Shifts
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.problems.base import Setting

# A floor binds the algorithms that are private in one of these notions.
Notion = Literal["zcdp", "approx", "pure"]
NOTIONS: tuple[Notion, ...] = ("zcdp", "approx", "pure")


@lru_cache(maxsize=512)
def shifts_of(law: Distribution) -> Shifts | None:
    """Return what floors need of the shifts of a law, from a cache; None if the law lacks it."""
    return law.shifts


def shape(setting: Setting) -> tuple[Distribution, Shifts] | None:
    """Return the centred law of the records and its shifts.

    None is for a law without known shifts, and for one with unequal scales of the coordinates.
    """
    if setting.law is None or setting.law.lead > 1:
        return None
    # A centred law has the same shifts, and equal laws share a cache entry.
    law = setting.law.centred
    shifts = shifts_of(law)
    return None if shifts is None else (law, shifts)


def shape_at_equal_scales(setting: Setting) -> tuple[Distribution, Shifts] | None:
    """Return the centred law of the records, and the shifts of that law at equal scales.

    A record is the scales times a record of the law with equal scales. None is for a law without
    known shifts.
    """
    law = setting.law
    if law is None or law.lead == 1:
        return shape(setting)
    if not isinstance(law, ScaledLaw):
        return None
    law = law.centred
    shifts = shifts_of(replace(law, decay=0.0))
    return None if shifts is None else (law, shifts)


def budget_in(setting: Setting, notion: Notion) -> Budget | None:
    """Return the budget at which a lower bound on algorithms of a notion is evaluated.

    It is None for the notion (epsilon, delta) under a zCDP budget, where bounds for zCDP apply.
    """
    if notion == "zcdp":
        return ZCDP(rho=setting.rho)
    if notion == "pure":
        return PureDP(epsilon=setting.pure_epsilon)
    level = approximate_level(setting)
    if level is None:
        return None
    epsilon, delta = level
    return ApproxDP(epsilon=epsilon, delta=delta) if delta > 0 else PureDP(epsilon=epsilon)


def public_radius(setting: Setting) -> float:
    """Return the public bound on the mean's l2 norm: half the diameter of the set, if finite."""
    constants = setting.constants
    return (
        constants.mean_gradient_bound if math.isinf(constants.diameter) else constants.diameter / 2
    )


def mean_norm(setting: Setting) -> float:
    """Return the l2 norm of the mean of the records' law; 0 if the law or shifts are unknown."""
    if setting.law is None or shape_at_equal_scales(setting) is None:
        return 0.0
    return float(np.linalg.norm(setting.law.mean))


def mean_radius(setting: Setting) -> float:
    """Return R, the radius of the ball of means over which a floor is a worst case.

    It is the norm of the mean, or the public bound if that is smaller or the mean is 0.
    """
    norm = mean_norm(setting)
    public = public_radius(setting)
    return min(norm, public) if norm > 0 else public


def shifts_of_block(law: Shifts, m: int) -> Shifts:
    """Return the shifts of a record that consists of m values, all shifted together."""
    if m == 1:
        return law
    wider = tuple(replace(cut, size=cut.size * math.sqrt(m)) for cut in law.cuts)
    return replace(law, information=m * law.information, cuts=wider)


def kappa_at(setting: Setting, notion: Notion) -> float:
    """Return the leakage kappa at a setting; NaN without known shifts or a fitting budget."""
    stretched_shape, budget = shape_at_equal_scales(setting), budget_in(setting, notion)
    if stretched_shape is None or budget is None:
        return math.nan
    return leakage(budget, shifts_of_block(stretched_shape[1], setting.m))


def costs_at(setting: Setting, notion: Notion, radius: float) -> Costs | None:
    """Return the costs of Theorem 1 for means in a ball of this radius.

    None says that the shifts of the law are unknown, or that the budget does not fit the notion.
    """
    law_shape, budget = shape(setting), budget_in(setting, notion)
    if law_shape is None or budget is None:
        return None
    n, d, m, law = setting.n, setting.d, setting.m, law_shape[1]
    kappa = leakage(budget, shifts_of_block(law, m))
    return costs(n, d, law.information, kappa, prior_information(d, radius), m)


def best_weighted_floor(
    setting: Setting, notion: Notion, constant: Callable[[Weights], float]
) -> tuple[float, Costs] | None:
    """Return the constant and the costs of Theorem 4 at the weights with the largest floor.

    The floor is the constant over the root of the costs' information; `constant` chooses that of
    the mean or of the squared error. None is returned as by `costs_at`.
    """
    stretched_shape, budget = shape_at_equal_scales(setting), budget_in(setting, notion)
    if stretched_shape is None or budget is None:
        return None
    law, shifts = stretched_shape
    kappa = leakage(budget, shifts_of_block(shifts, setting.m))
    prior = prior_information(setting.d, mean_radius(setting))
    candidates = [
        (
            constant(w),
            costs(setting.n, w.rank, shifts.information, kappa, w.spread * prior, setting.m),
        )
        for w in weightings(law)
    ]
    return max(candidates, key=lambda pair: pair[0] / math.sqrt(pair[1].information))


@lru_cache(maxsize=4096)
def _two_shifts_bound(n: int, m: int, law: Distribution, budget: Budget, radius: float) -> float:
    """Return the floor of Theorem 2, from a cache; 0 if the shifts of the law are unknown."""
    shifts = shifts_of(law)
    return 0.0 if shifts is None else assouad(n, law.d, shifts, budget, radius, m)


def two_shifts(setting: Setting, notion: Notion) -> float:
    """Return the floor of Theorem 2 on the mean l2 error; 0 if it does not apply to the setting."""
    law_shape, budget = shape(setting), budget_in(setting, notion)
    if law_shape is None or budget is None:
        return 0.0
    return _two_shifts_bound(setting.n, setting.m, law_shape[0], budget, mean_radius(setting))


VOID_TERMS = {"sampling": 0.0, "privacy": 0.0, "prior": 0.0, "two shifts": 0.0}


def mean_terms(setting: Setting, notion: Notion) -> Terms:
    """Return the terms of floor A on the mean l2 error, which `combine_mean_terms` combines."""
    best = best_weighted_floor(setting, notion, lambda weights: weights.mean)
    if best is None:
        return VOID_TERMS
    unit, parts = best
    return {
        "sampling": unit * math.sqrt(parts.sampling),
        "privacy": unit * math.sqrt(parts.privacy),
        "prior": unit * math.sqrt(parts.prior),
        "two shifts": two_shifts(setting, notion),
    }


def squared_terms(setting: Setting, notion: Notion, unit: float = 1.0) -> Terms:
    """Return the terms of floor A on the mean squared error, times `unit`.

    `combine_squared_terms` combines them.
    """
    best = best_weighted_floor(setting, notion, lambda weights: weights.root)
    if best is None:
        return VOID_TERMS
    constant, parts = best
    size = unit * constant**2
    return {
        "sampling": size * parts.sampling,
        "privacy": size * parts.privacy,
        "prior": size * parts.prior,
        "two shifts": unit * two_shifts(setting, notion) ** 2,
    }


def combine_squared_terms(terms: tuple[float, ...]) -> float:
    """Return the floor on a squared error from its terms, in the order of `VOID_TERMS`.

    The floor by information is the harmonic sum of sampling plus privacy with the prior's term; a
    fourth term is a floor of its own, and the larger one counts.
    """
    sampling, privacy, prior, *rest = terms
    learnt = sampling + privacy
    # Without Fisher information, or if the output reveals nothing, only the prior counts.
    if learnt == 0 or prior == 0:
        return max([0.0, *rest])
    return max([1 / (1 / learnt + 1 / prior), *rest])


def combine_mean_terms(terms: tuple[float, ...]) -> float:
    """Return the floor on the mean error from its terms: see `combine_squared_terms`."""
    return math.sqrt(combine_squared_terms(tuple(term**2 for term in terms)))


@lru_cache(maxsize=128)
def tilts_of(law: Distribution) -> tuple[Tilt, ...]:
    """Return the families of tilted laws near one law, from a cache; none if it lacks shifts."""
    shifts = shifts_of(law)
    return () if shifts is None else tilts(law.d, shifts)


def near_floor(setting: Setting, notion: Notion) -> tuple[float, Tilt, Costs] | None:
    """Return the floor for laws near that of the records, its family of laws and its costs.

    It is floor B on the mean l2 error, Theorem 3 of theory/instance-floors.md, 7.

    None says that the law has no known shifts, that the budget does not fit the notion, or that
    users have several items.
    """
    law_shape, budget = shape(setting), budget_in(setting, notion)
    # The families of floor B describe single values, so the bound needs users with one value.
    if law_shape is None or budget is None or setting.m > 1:
        return None
    return _near_floor(setting.n, law_shape[0], budget)


@lru_cache(maxsize=4096)
def _near_floor(n: int, law: Distribution, budget: Budget) -> tuple[float, Tilt, Costs] | None:
    """Return floor B for n records of a law and a budget, from a cache; None without shifts."""
    shifts = shifts_of(law)
    return None if shifts is None else best_tilt(n, law.d, shifts, tilts_of(law), budget)


def near_terms(setting: Setting, notion: Notion) -> Terms:
    """Return the terms of floor B on the mean l2 error, which `combine_mean_terms` combines."""
    best = near_floor(setting, notion)
    if best is None:
        return {"sampling": 0.0, "privacy": 0.0, "prior": 0.0}
    unit, (_, _, parts) = mean_constant(setting.d), best
    return {
        "sampling": unit * math.sqrt(parts.sampling),
        "privacy": unit * math.sqrt(parts.privacy),
        "prior": unit * math.sqrt(parts.prior),
    }


UNEQUAL = "This floor is proven for coordinates of one scale, and the scales of these data differ."


def _check_shape(setting: Setting) -> str:
    """Return the reason why the law or its shifts are unknown; empty if they are known."""
    if setting.law is None:
        return (
            "A floor is about the law of the data in an l2 ball, and here only a class of laws is "
            "known."
        )
    if shape_at_equal_scales(setting) is not None:
        return ""
    name = setting.law.card.name
    return f"{name} does not say what a shift of it tells, so it has no floor."


def _check_equal_scales(setting: Setting) -> str:
    """Return the reason why the coordinates' scales differ; empty if they are equal."""
    return UNEQUAL if setting.law is not None and setting.law.lead > 1 else ""


KNOWN_SHAPE = Hypothesis(text="the shape of the law is known, and its shifts", check=_check_shape)
EQUAL_SCALES = Hypothesis(text="coordinates of one scale", check=_check_equal_scales)
# A bound on the algorithms of a notion has these conditions on the budget.
BUDGETS: dict[Notion, tuple[Hypothesis, ...]] = {
    "zcdp": (),
    "approx": (APPROXIMATE_BUDGET,),
    "pure": (),
}


def floor_letters(notion: Notion) -> tuple[Letter, ...]:
    """Return the meanings and values of the letters in a floor's formula.

    The formula is for coordinates of one scale. At unequal scales weighted sums replace its
    constants (theory/instance-floors.md, 16), so that C_d and J have no value.
    """

    def constant(setting: Setting) -> float:
        """Return C_d, the constant of the mean error; NaN if the coordinates' scales differ."""
        unequal = setting.law is not None and setting.law.lead > 1
        return math.nan if unequal else mean_constant(setting.d)

    def information(setting: Setting) -> float:
        """Return lambda, the Fisher information of a shift; NaN if it is unknown."""
        stretched_shape = shape_at_equal_scales(setting)
        return math.nan if stretched_shape is None else stretched_shape[1].information

    def prior(setting: Setting) -> float:
        """Return J, the prior's information; NaN at unequal scales or if shifts are unknown."""
        has_shape = shape(setting) is not None
        return prior_information(setting.d, mean_radius(setting)) if has_shape else math.nan

    return (
        Letter("C_d", "constant of the mean error, at equal scales", constant),
        Letter(r"\lambda", "Fisher information of a shift of a coordinate", information),
        Letter(r"\kappa", "what a record may reveal", partial(kappa_at, notion=notion)),
        Letter("R", "norm of the mean, or the public bound on it", mean_radius),
        Letter("j", "first zero of the Bessel function of order d/2 - 1"),
        Letter("G", "what the output tells of the mean, at most"),
        Letter("J", "what the prior tells, at equal scales", prior),
        Letter(r"\theta", "a shift of every coordinate, the best one"),
        Letter("B", "number of records that differ, at random"),
        Letter("a", "what the outputs have in common, at least"),
    )
