"""Conditions of the bounds in l_q, on the exponent, on the set, and on the printed schedules."""

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from dpsco_core.bounds.base import Hypothesis
from dpsco_core.bounds.instances.sets import is_round, touches_at_signs
from dpsco_core.bounds.instances.words import WordPrior
from dpsco_core.geometry.base import ConstraintSet, Symmetric, Width
from dpsco_core.methods.lq.inputs import own_constants, space_of
from dpsco_core.methods.lq.mirror_schedule import batched_parameters, theorem_10_parameters
from dpsco_core.methods.lq.regularized import published_steps
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting

W = TypeVar("W", bound=WordPrior)


def _condition_on_exponent(text: str, holds: Callable[[float], bool]) -> Hypothesis:
    """Return the condition that the exponent q of the norm satisfies `holds`; `text` says it."""

    def check(setting: Setting) -> str:
        """Return the reason why the exponent does not fit; empty if it does."""
        q = setting.exponent
        return "" if holds(q) else f"The statement needs {text}, and q={q:g}."

    return Hypothesis(text=text, check=check)


ABOVE_1 = _condition_on_exponent("q > 1", lambda q: q > 1)
BELOW_2 = _condition_on_exponent("1 < q < 2", lambda q: 1 < q < 2)
AT_MOST_2 = _condition_on_exponent("q <= 2", lambda q: q <= 2)
AT_LEAST_2 = _condition_on_exponent("q >= 2", lambda q: q >= 2)


def finite_set(setting: Setting) -> bool:
    """Whether the constraint set has a finite diameter; otherwise it is the whole space."""
    return math.isfinite(setting.constants.diameter)


def width_bounds(setting: Setting) -> Width:
    """Return bounds on the Gaussian width of the set, equal if it is known exactly.

    The width of the whole space is infinite.
    """
    return setting.body.gaussian_width() if finite_set(setting) else Width.from_value(math.inf)


def _check_contains_origin(setting: Setting) -> str:
    """Return the reason why the set does not contain 0; empty if it does."""
    if not finite_set(setting) or setting.body.contains(np.zeros(setting.d)):
        return ""
    return (
        f"The statement starts at 0, and here the set is {setting.body.name}, which does not "
        "contain it."
    )


CONTAINS_ZERO = Hypothesis(text="the set contains 0", check=_check_contains_origin)


VARIANCE = Hypothesis(
    text="finite variance of the gradient in the dual norm",
    check=lambda s: (
        "The problem certifies no finite variance of the gradient in the dual norm."
        if finite_set(s) and not math.isfinite(own_constants(s).variance)
        else ""
    ),
)


def _check_small_gradient(setting: Setting) -> str:
    """Return why R, the bound on the population gradient, exceeds 10 sigma; empty if it does not.

    Sigma is the deviation of the gradients in the dual norm.
    """
    if not finite_set(setting):
        return ""
    constants = own_constants(setting)
    largest = 10 * math.sqrt(constants.variance)
    if constants.mean_gradient_bound <= largest or math.isinf(constants.mean_gradient_bound):
        return ""
    return (
        "The rate that it reduces to needs a population gradient of norm at most 10 sigma = "
        f"{largest:.4g}, and R={constants.mean_gradient_bound:.4g}."
    )


# The rates in l_q reduce to Theorems 5.2 and 5.5 of Kamath et al. (2022), which need R to be at
# most 10 moment units; in l_q the unit is sigma.
SMALL_SIGMA_GRADIENT = Hypothesis(text="R <= 10 sigma", check=_check_small_gradient)


def _check_lipschitz_everywhere(setting: Setting) -> str:
    """Return the reason why the loss is not Lipschitz on the whole space; empty if it is."""
    c = setting.constants
    model = c.linear_model
    if c.structure != "mean" and (model is None or math.isfinite(model.slope)):
        return ""
    return "The method may leave the constraint set, and this loss is Lipschitz on the set only."


LIPSCHITZ_EVERYWHERE = Hypothesis(
    text="a loss that is Lipschitz on the whole space", check=_check_lipschitz_everywhere
)


def _check_amplification(setting: Setting) -> str:
    """Return the reason why amplification by shuffling does not apply; empty if it does."""
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


AMPLIFIED = Hypothesis(text="epsilon <= sqrt(ln(n/delta)/n)", check=_check_amplification)


def _theorem_7_steps(setting: Setting) -> float:
    """Return the number T of steps in Theorem 7 of Su et al. (2023); NaN if it is undefined."""
    budget = setting.budget
    if not isinstance(budget, ApproxDP) or setting.exponent > 2:
        return math.nan
    return published_steps(setting.n, space_of(setting), budget.epsilon, budget.delta)


def _check_records_per_step(setting: Setting) -> str:
    """Return the reason why n does not exceed the number of steps; empty if it does."""
    # The maximum of a NaN and 1.0, in this order, is NaN.
    steps = max(_theorem_7_steps(setting), 1.0)
    if math.isnan(steps) or setting.n > steps:
        return ""
    return f"The regulariser of Theorem 7 needs n > T = {steps:.4g}, and n={setting.n}."


def _check_enough_steps(setting: Setting) -> str:
    """Return why Theorem 7 has too few steps T for its choice of alpha; empty if it has enough."""
    # The maximum of a NaN and 1.0, in this order, is NaN.
    steps = max(_theorem_7_steps(setting), 1.0)
    if math.isnan(steps) or setting.n <= steps:
        return ""
    fewest = 2 * math.log2(setting.n / steps)
    if steps >= fewest:
        return ""
    return (
        f"Theorem 7 needs T >= 2 log2(n/T) = {fewest:.4g}, so that alpha <= 2 beta, "
        f"and T={steps:.4g} at n={setting.n}."
    )


def _check_large_sample(setting: Setting) -> str:
    """Return why n is too small for Theorem 7, as its number T of steps shows; empty if not."""
    steps, budget = _theorem_7_steps(setting), setting.budget
    if math.isnan(steps) or not isinstance(budget, ApproxDP):
        return ""
    fewest = budget.epsilon**2 / (-setting.d * math.log(budget.delta))
    if steps >= fewest:
        return ""
    return (
        f"Theorem 7 needs T >= epsilon^2/(d ln(1/delta)) = {fewest:.4g} up to a constant, which is "
        f"its condition on n, and T={steps:.4g} at n={setting.n}."
    )


MORE_RECORDS = Hypothesis(text="n > T", check=_check_records_per_step)
LONG_ENOUGH = Hypothesis(text="T >= 2 log2(n/T)", check=_check_enough_steps)
LARGE_SAMPLE = Hypothesis(
    text="n >= epsilon^4/((d ln(1/delta))^2 sqrt(kappa))", check=_check_large_sample
)


def _condition_on_truncation(statement: str, *, shuffled: bool) -> Hypothesis:
    """Return the condition that the truncation level lambda of a statement is large enough.

    `shuffled` is for Theorem 10; otherwise lambda is that of its variant with public batches.
    """

    def check(setting: Setting) -> str:
        """Return the reason why lambda is too small; empty if it is not."""
        budget = setting.budget
        if not (finite_set(setting) and isinstance(budget, ApproxDP)):
            return ""
        constants, parameters = (
            own_constants(setting),
            theorem_10_parameters if shuffled else batched_parameters,
        )
        smooth, spread = constants.smoothness * constants.diameter, math.sqrt(constants.variance)
        if not (
            0 < constants.variance < math.inf and constants.diameter > 0 and math.isfinite(smooth)
        ):
            return ""
        unit = parameters(setting.n, space_of(setting), budget.epsilon, budget.delta)[0]
        # `unit` is in units of sigma; the level is in those of the gradient.
        level = spread * unit
        if level >= max(smooth, spread):
            return ""
        name, threshold = ("beta M", smooth) if smooth >= spread else ("sigma", spread)
        return (
            f"{statement} needs lambda = {level:.4g} of at least {name} = {threshold:.4g}, "
            f"which takes more records than n={setting.n}."
        )

    return Hypothesis(text="lambda >= max(beta M, sigma)", check=check)


# Theorem 10's condition on n is equivalent to this one on lambda, which it has in units of sigma/M.
LARGE_TRUNCATION = _condition_on_truncation("Theorem 10", shuffled=True)
# The derivation of the rate in theory/su-zhao-wang.md, 2.6 and 3.6, uses this condition; the paper
# states its own condition in the appendix.
LARGE_BATCHED_TRUNCATION = _condition_on_truncation("The rate", shuffled=False)


def _check_is_ball(setting: Setting) -> str:
    """Return the reason why the set is not an l2 ball; empty if it is one, or if there is none."""
    body = setting.constraint
    if not finite_set(setting) or body is None or is_round(body):
        return ""
    return f"The bound is proven on the l2 ball, and here the set is {body.name}."


L2_BALL = Hypothesis(
    text="the constraint set is the l2 ball", check=_check_is_ball, is_about_set=True
)


def is_symmetric(setting: Setting) -> bool:
    """Whether the constraint set, which must be bounded, is symmetric about 0."""
    return isinstance(setting.body, Symmetric)


def _check_symmetric(setting: Setting) -> str:
    """Return the reason why the set is not symmetric; empty if it is."""
    if not finite_set(setting) or is_symmetric(setting):
        return ""
    return (
        f"The statement needs a set that is symmetric about 0, and here it is {setting.body.name}."
    )


SYMMETRIC = Hypothesis(
    text="a set that is symmetric about 0", check=_check_symmetric, is_about_set=True
)


def words_in(setting: Setting, words_of: Callable[[ConstraintSet], W | None]) -> W | None:
    """Return the hidden words of the setting's set, which `words_of` finds.

    None says that the set has no such words or is the whole space.
    """
    return words_of(setting.body) if finite_set(setting) else None


def _check_touched(setting: Setting) -> str:
    """Return why some sign vector does not point to a farthest point of the set; else empty."""
    if not finite_set(setting) or touches_at_signs(setting.body):
        return ""
    return (
        "The bound is proven where sign vectors point to the farthest points of the set, and here "
        f"it is {setting.body.name}."
    )


TOUCHED = Hypothesis(
    text="the set touches the ball around it at all sign vectors",
    check=_check_touched,
    is_about_set=True,
)


def on_words(words_of: Callable[[ConstraintSet], WordPrior | None], sets: str) -> Hypothesis:
    """Return the condition that a set has words of one kind; `sets` names the sets that do."""

    def check(setting: Setting) -> str:
        """Return the reason why the set lacks the hidden words; empty if it has them."""
        if not finite_set(setting) or words_in(setting, words_of) is not None:
            return ""
        return f"The bound is proven on {sets}, and here the set is {setting.body.name}."

    return Hypothesis(text=f"the constraint set is one of {sets}", check=check, is_about_set=True)
