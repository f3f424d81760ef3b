"""Conditions that bounds on excess risk share, and helpers that evaluate their terms by name."""

import math
from collections.abc import Callable

from dpsco_core.bounds.base import Hypothesis, Terms
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    certified,
    in_moment_units,
    moment_scale,
)
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting

DIAMETER = certified(
    "a constraint set of finite diameter",
    "finite diameter of its constraint set",
    lambda setting: setting.constants.diameter,
)
SMOOTH = certified(
    "a smooth population risk",
    "smoothness of its population risk",
    lambda setting: setting.constants.smoothness,
)
SAMPLE_SMOOTH = certified(
    "every record's loss is smooth",
    "smoothness of the loss of every record",
    lambda setting: setting.constants.sample_smoothness,
)
LIPSCHITZ = certified(
    "every record's loss is Lipschitz",
    "Lipschitz constant of the loss of every record",
    lambda setting: setting.constants.lipschitz,
)
GRADIENT_BOUND = certified(
    "a finite bound R on the population gradient",
    "bound R on the norm of its population gradient",
    lambda setting: setting.constants.mean_gradient_bound,
)


def _condition_on_property(
    text: str, sentence: str, property_of: Callable[[Setting], bool]
) -> Hypothesis:
    """Return the condition that a setting has a property; `sentence` says that it has not."""
    return Hypothesis(text=text, check=lambda setting: "" if property_of(setting) else sentence)


STRONGLY_CONVEX = _condition_on_property(
    "a strongly convex population risk",
    "The population risk has strong convexity 0, and the statement needs more.",
    lambda setting: setting.constants.strong_convexity > 0,
)
SAMPLE_STRONGLY_CONVEX = _condition_on_property(
    "every record's loss is strongly convex",
    "The loss of a record has strong convexity 0, and the statement needs more.",
    lambda setting: setting.constants.sample_strong_convexity > 0,
)
MINIMUM_INTERIOR = _condition_on_property(
    "the population gradient is 0 at the minimiser",
    "The statement needs a population gradient of 0 at the minimiser, which this problem does not "
    "certify.",
    lambda setting: setting.constants.minimum_interior,
)
NONNEGATIVE = _condition_on_property(
    "a loss of at least 0",
    "The statement needs a loss of at least 0, and this problem's can be negative.",
    lambda setting: setting.constants.nonnegative,
)
TWICE_DIFFERENTIABLE = _condition_on_property(
    "a twice differentiable loss",
    "The statement needs a loss that is twice differentiable in the parameter.",
    lambda setting: setting.constants.twice_differentiable,
)
LINEAR_MODEL = _condition_on_property(
    "a generalised linear loss",
    "The statement is for generalised linear losses, and this problem's is another.",
    lambda setting: setting.constants.structure == "linear-model",
)
DISTANCES = _condition_on_property(
    "half the squared distance to the record",
    "The statement is for squared distances, and this problem's loss is another.",
    lambda setting: setting.constants.structure == "mean",
)
LINEAR_LOSS = _condition_on_property(
    "a linear loss",
    "The statement is for linear losses, and this problem's loss is another.",
    lambda setting: setting.constants.structure == "linear",
)
KNOWN_HESSIANS = _condition_on_property(
    "a generalised linear, linear or mean-type loss",
    "The proof of privacy is for generalised linear, linear and mean-type losses, and this "
    "problem's is another.",
    lambda setting: setting.constants.structure != "other",
)


def failing_everywhere(text: str, sentence: str) -> Hypothesis:
    """Return a condition that always fails, for claims that are not proven; `sentence` says why."""
    return Hypothesis(text=text, check=lambda setting: sentence)


POPULATION_RISK = failing_everywhere(
    "a bound on the population risk",
    "The statement bounds the empirical risk of the data set, not the excess population risk.",
)


def at_most(limit: float, symbol: str, name: str, number: Callable[[Setting], float]) -> Hypothesis:
    """Return the condition that a number of a setting is at most `limit` moment scales.

    `symbol` and `name` stand for the number in sentences. The condition passes if the moment scale
    is 0 or unknown, because another condition then fails.
    """

    def check(setting: Setting) -> str:
        """Return the reason why the number is too large; empty if it is not."""
        scale = moment_scale(setting)
        if not 0 < scale < math.inf:
            return ""
        value = number(setting) / scale
        if value <= limit:
            return ""
        return (
            f"The statement needs {name} of at most {limit:g} moment units, "
            f"and {symbol}={value:.4g}."
        )

    return Hypothesis(text=f"{symbol} <= {limit:g}", check=check)


SMALL_GRADIENT = at_most(
    10.0, "R", "a population gradient", lambda setting: setting.constants.mean_gradient_bound
)
SMALL_SMOOTHNESS = at_most(
    10.0, "L", "a smoothness", lambda setting: setting.constants.sample_smoothness
)


def at_least(
    text: str, symbol: str, minimum: float, number: Callable[[Setting], float]
) -> Hypothesis:
    """Return the condition that a number of a setting is at least `minimum`, or NaN.

    `symbol` stands for the number in sentences, and `text` is the condition in words.
    """

    def check(setting: Setting) -> str:
        """Return the reason why the number is too small; empty if it is not."""
        value = number(setting)
        if math.isnan(value) or value >= minimum:
            return ""
        return (
            f"The statement needs {symbol} >= {minimum:g}, that is {text}, "
            f"and {symbol}={value:.3g} at n={setting.n}."
        )

    return Hypothesis(text=text, check=check)


def approximate(largest_epsilon: float = 1.0, *, is_strict: bool = False) -> Hypothesis:
    """Return the condition of an (epsilon, delta) budget with epsilon at most `largest_epsilon`.

    A strict condition asks for less than that; an infinite `largest_epsilon` asks for nothing.
    """
    condition = f"epsilon {'<' if is_strict else '<='} {largest_epsilon:g}"

    def check(setting: Setting) -> str:
        """Return the reason why the budget does not fit; empty if it does."""
        budget = setting.budget
        if not isinstance(budget, ApproxDP):
            return f"The statement is for an (epsilon, delta) budget, and the budget is {budget}."
        if budget.epsilon < largest_epsilon or (
            budget.epsilon == largest_epsilon and not is_strict
        ):
            return ""
        return f"The statement needs {condition}, and epsilon={budget.epsilon:g}."

    if math.isinf(largest_epsilon):
        return Hypothesis(text="an (epsilon, delta) budget", check=check)
    return Hypothesis(text=f"(epsilon, delta) with {condition}", check=check)


# This condition is for rates without a sampling term. At rho = 1 their private term is still larger
# than the sampling term would be, for all n and d.
SMALL_BUDGET = Hypothesis(
    text="rho <= 1",
    check=lambda s: (
        ""
        if s.gaussian_rho <= 1
        else "The rate has no term for sampling, and cannot hold once privacy costs nothing: it "
        f"needs rho <= 1, and rho={s.gaussian_rho:.4g}."
    ),
)


def below_trivial(
    terms: Callable[[Setting], Terms],
    trivial: Callable[[Setting], float],
    *,
    combine: Callable[[tuple[float, ...]], float] = math.fsum,
    missing: str = "bound on the gradient",
) -> Hypothesis:
    """Return the condition that a lower rate does not exceed a risk that is always attained.

    `trivial` returns that risk, such as that of the set's centre, and `combine` makes the rate from
    its terms. `missing` names the quantity that the statement fails to bound when it claims more.
    """

    def check(setting: Setting) -> str:
        """Return the reason why the rate exceeds the centre's risk; empty if it does not."""
        rate = combine(tuple(terms(setting).values()))
        limit = trivial(setting)
        if rate <= limit:
            return ""
        return (
            f"The rate {rate:.3g} exceeds {limit:.4g}, and outputting the centre of the set has at "
            f"most that excess risk: the statement has no {missing}."
        )

    return Hypothesis(text="the rate is below the risk of the centre", check=check)


def centre_risk(setting: Setting) -> float:
    r"""Return a bound on the excess risk of the set's centre: :math:`RM/2`, or :math:`\beta M^2/8`.

    R bounds the population gradient, and M is the diameter. The second bound is for a smooth risk
    whose gradient vanishes at the minimiser. The result is infinite if nothing is certified.
    """
    c = setting.constants
    if math.isinf(c.diameter):
        return math.inf
    by_gradient = c.mean_gradient_bound * c.diameter / 2
    return min(by_gradient, c.smoothness * c.diameter**2 / 8) if c.minimum_interior else by_gradient


Formula = Callable[[Setting], tuple[float, ...]]
_POSITIVE = ("coordinate_moment", "strong_convexity", "sample_strong_convexity", "gaussian_rho")


def name_terms(
    # The terms have these names, in the order in which `formula` returns their values.
    terms: tuple[str, ...],
    # These fields of `Constants` must be finite (a strong convexity also positive);
    # ``"gaussian_rho"`` means that the budget must allow Gaussian noise.
    needs: tuple[str, ...],
    formula: Formula,  # the terms at a setting where all of these exist
) -> Callable[[Setting], Terms]:
    """Return the function that evaluates `formula` at a setting and names its terms.

    All terms are infinite if a number that the formula needs does not exist.
    """

    def exists(setting: Setting, name: str) -> bool:
        """Whether a constant is certified, and positive where it has to be."""
        source = setting if name == "gaussian_rho" else setting.constants
        value = float(getattr(source, name))
        return math.isfinite(value) and (value > 0 or name not in _POSITIVE)

    def evaluate(setting: Setting) -> Terms:
        """Return the terms by name, all infinite if a constant is missing."""
        if not all(exists(setting, name) for name in needs):
            return dict.fromkeys(terms, math.inf)
        return dict(zip(terms, formula(setting), strict=True))

    return evaluate


ASSUMPTION_2_12 = (
    GAUSSIAN_BUDGET,
    COORDINATE_MOMENT,
    DIAMETER,
    SAMPLE_SMOOTH,
    NONNEGATIVE,
    MINIMUM_INTERIOR,
    SMALL_GRADIENT,
)
EXPLICIT_CONDITIONS = (*ASSUMPTION_2_12[:4], GRADIENT_BOUND)
RATE_TERMS = ("sampling", "privacy")
RATE_NEEDS = ("gaussian_rho", "coordinate_moment", "diameter")
RISK_TERMS = ("optimisation and privacy noise", "sampling", "clipping bias", "covering")
RISK_NEEDS = (*RATE_NEEDS, "mean_gradient_bound", "sample_smoothness")
OTHER_PARAMETERS = "The method's own tunings take other parameters, and may have a larger error."


def in_scale(
    formula: Formula,
) -> Formula:
    """Return `formula`, which computes terms in moment units, with terms in the setting's units."""

    def scaled(setting: Setting) -> tuple[float, ...]:
        """Return the terms at a setting, multiplied by the moment scale."""
        scale = moment_scale(setting)
        return tuple(scale * term for term in formula(in_moment_units(setting)))

    return scaled


def signal(setting: Setting, power: float, diameter: float) -> float:
    r"""Return :math:`\sqrt\rho n/(Md^q)`, whose p-th root is a threshold of Kamath et al. (2022).

    `power` is q, and `diameter` M.
    """
    return math.sqrt(setting.gaussian_rho) * setting.n / diameter / math.pow(setting.d, power)
