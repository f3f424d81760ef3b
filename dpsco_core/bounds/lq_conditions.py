"""Conditions of the bounds in l_q: the exponent, the set, and what the schedules need."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpsco_core.bounds.base import Hypothesis
from dpsco_core.geometry.base import Symmetric
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting
from dpsco_core.problems.dual import DualConstants
from dpsco_core.problems.lq_descent import theorem_10
from dpsco_core.problems.lq_plans import own_constants, space_of
from dpsco_core.problems.lq_regularized import published_steps

SMALL_RANGE = "1 < q < 2"


def _exponent(text: str, holds: Callable[[float], bool]) -> Hypothesis:
    def check(setting: Setting) -> str:
        if holds(setting.exponent):
            return ""
        return f"The statement needs {text}, and q={setting.exponent:g}."

    return Hypothesis(text=text, check=check)


BELOW_2 = _exponent(SMALL_RANGE, lambda q: 1 < q < 2)
AT_MOST_2 = _exponent("q <= 2", lambda q: q <= 2)
AT_LEAST_2 = _exponent("q >= 2", lambda q: q >= 2)


def finite_set(setting: Setting) -> bool:
    """Whether there is a constraint set at all: without a finite diameter there is none."""
    return math.isfinite(setting.constants.diameter)


def _holds_origin(setting: Setting) -> str:
    if not finite_set(setting) or setting.body.contains(np.zeros(setting.d)):
        return ""
    name = type(setting.body).__name__
    return f"The statement starts at 0, and here the set is a {name}, which does not contain it."


CONTAINS_ZERO = Hypothesis(text="the set contains 0", check=_holds_origin)


def _heavy_variance(setting: Setting) -> str:
    if not finite_set(setting) or math.isfinite(own_constants(setting).variance):
        return ""
    return "The problem certifies no finite variance of the gradient in the dual norm."


VARIANCE = Hypothesis(
    text="finite variance of the gradient in the dual norm", check=_heavy_variance
)


def _everywhere(setting: Setting) -> str:
    c = setting.constants
    model = c.linear_model
    unbounded = c.structure == "mean" or (model is not None and math.isinf(model.slope))
    if not unbounded:
        return ""
    return "The method may leave the constraint set, and this loss is Lipschitz on the set only."


EVERYWHERE = Hypothesis(text="a loss that is Lipschitz on the whole space", check=_everywhere)


def _amplified(setting: Setting) -> str:
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return ""
    largest = math.sqrt(math.log(setting.n / budget.delta) / setting.n)
    if budget.epsilon <= largest:
        return ""
    return (
        f"Theorem 9 needs epsilon <= sqrt(ln(n/delta)/n) = {largest:.3g} up to a constant, "
        f"and epsilon={budget.epsilon:g}."
    )


AMPLIFIED = Hypothesis(text="epsilon <= sqrt(ln(n/delta)/n)", check=_amplified)


def _schedule(setting: Setting) -> float:
    """The T of Theorem 7, at least 1; NaN where it has none."""
    budget = setting.budget
    if not isinstance(budget, ApproxDP) or setting.exponent > 2:
        return math.nan
    found = published_steps(setting.n, space_of(setting), budget.epsilon, budget.delta)
    return max(1.0, found)


def _more_records(setting: Setting) -> str:
    steps = _schedule(setting)
    if math.isnan(steps) or setting.n > steps:
        return ""
    return f"The regulariser of Theorem 7 needs n > T = {steps:.4g}, and n={setting.n}."


def _long_enough(setting: Setting) -> str:
    steps = _schedule(setting)
    if math.isnan(steps) or setting.n <= steps:
        return ""
    least = 2 * math.log2(setting.n / steps)
    if steps >= least:
        return ""
    return (
        f"Theorem 7 needs T >= 2 log2(n/T) = {least:.4g}, so that alpha <= 2 beta, "
        f"and T={steps:.4g} at n={setting.n}."
    )


MORE_RECORDS = Hypothesis(text="n > T", check=_more_records)
LONG_ENOUGH = Hypothesis(text="T >= 2 log2(n/T)", check=_long_enough)


def truncation(setting: Setting, found: DualConstants) -> float:
    r"""Return the :math:`\lambda` of Theorem 10, with :math:`\sigma`; NaN where it has none."""
    budget = setting.budget
    known = 0 < found.variance < math.inf and found.diameter > 0
    if not isinstance(budget, ApproxDP) or not known:
        return math.nan
    root = math.sqrt(found.variance)
    space = space_of(setting)
    return theorem_10(
        setting.n, space, found.diameter, budget.epsilon, budget.delta, root
    ).truncation


def _large_truncation(setting: Setting) -> str:
    if not finite_set(setting):
        return ""
    found = own_constants(setting)
    level, needed = truncation(setting, found), found.smoothness * found.diameter
    if math.isnan(level) or not math.isfinite(needed) or level >= needed:
        return ""
    return (
        f"Theorem 10 needs lambda = {level:.4g} of at least beta M = {needed:.4g}, "
        f"which takes more records than n={setting.n}."
    )


LARGE_TRUNCATION = Hypothesis(text="lambda >= beta M", check=_large_truncation)


def _is_ball(setting: Setting) -> str:
    if not finite_set(setting) or setting.constraint is None:
        return ""
    name = type(setting.constraint).__name__
    if name == "Ball":
        return ""
    return f"The bound is proven on the l2 ball, and here the set is {article(name)} {name}."


def article(name: str) -> str:
    """Return the article of a set's name: an L1Ball, a Box."""
    return "an" if name[0] in "AEIOL" else "a"


L2_BALL = Hypothesis(text="the constraint set is the l2 ball", check=_is_ball)


def _symmetric(setting: Setting) -> str:
    if not finite_set(setting) or is_symmetric(setting):
        return ""
    name = type(setting.body).__name__
    return (
        f"The statement needs a set that is symmetric about 0, and here it is {article(name)} "
        f"{name}."
    )


def is_symmetric(setting: Setting) -> bool:
    """Whether the set, which must exist, is symmetric about 0."""
    return isinstance(setting.body, Symmetric)


SYMMETRIC = Hypothesis(text="a set that is symmetric about 0", check=_symmetric)
