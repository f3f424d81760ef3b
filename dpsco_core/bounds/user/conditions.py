r"""Conditions of the bounds at user level, and the conversion of a `Setting` to a `UserLevel`.

The constants of a setting are those of an item, and R is the diameter of the set. A check passes if
a number that it needs does not exist, because another condition then fails.
"""

import math
from collections.abc import Callable

from dpsco_core.bounds.base import Hypothesis
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.privacy.budget import ZCDP, ApproxDP, gaussian_epsilon
from dpsco_core.problems.base import Constants, Setting

Check = Callable[[UserLevel], str]


def _user_level(setting: Setting, epsilon: float, delta: float) -> UserLevel | None:
    """Return the sizes and constants that formulas at user level read off a setting.

    None says that the losses are not Lipschitz or that the set is unbounded.
    """
    c = setting.constants
    if not (0 < c.lipschitz < math.inf and 0 < c.diameter < math.inf):
        return None
    return UserLevel(
        n=setting.n,
        m=setting.m,
        d=setting.d,
        epsilon=epsilon,
        delta=delta,
        lipschitz=c.lipschitz,
        diameter=c.diameter,
        smoothness=c.sample_smoothness,
        strong_convexity=c.sample_strong_convexity,
    )


def user_level(setting: Setting) -> UserLevel | None:
    """Return the sizes and constants that formulas at user level read off a setting.

    None says that the budget is no (epsilon, delta), the losses not Lipschitz or the set unbounded.
    """
    budget = setting.budget
    return (
        _user_level(setting, budget.epsilon, budget.delta) if isinstance(budget, ApproxDP) else None
    )


def setting_of(level: UserLevel) -> Setting:
    """Return a setting of Lipschitz losses whose sizes and constants at user level are `level`."""
    constants = Constants(
        coordinate_moment=math.inf,
        directional_moment=level.lipschitz,
        variance_trace=level.lipschitz**2,
        mean_gradient_bound=level.lipschitz,
        diameter=level.diameter,
        sample_smoothness=level.smoothness,
        sample_strong_convexity=level.strong_convexity,
        lipschitz=level.lipschitz,
    )
    budget = ApproxDP(epsilon=level.epsilon, delta=level.delta)
    return Setting(
        n=level.n, m=level.m, d=level.d, moment_order=2.0, budget=budget, constants=constants
    )


def gaussian_user_level(setting: Setting) -> UserLevel | None:
    r"""Return `user_level` for a method that adds only Gaussian noise, also under a zCDP budget.

    Under zCDP epsilon and delta are a pair at which Gaussian noise of that budget is
    :math:`\rho`-zCDP, rounded down. All such pairs give the same noise.
    """
    budget = setting.budget
    if not isinstance(budget, ZCDP):
        return user_level(setting)
    rho = budget.rho * (1 - 1e-9)
    delta = 1e-3 * min(1e-3, math.sqrt(rho))
    return _user_level(setting, gaussian_epsilon(rho, delta), delta)


def condition(text: str, check: Check) -> Hypothesis:
    """Return the condition whose check is made at the user level of a setting.

    `check` returns an empty sentence if the condition holds. At a setting without a user level the
    condition passes.
    """

    def of_setting(setting: Setting) -> str:
        """Return the sentence of the check at a setting; empty if the condition holds."""
        case = user_level(setting)
        return "" if case is None else check(case)

    return Hypothesis(text=text, check=of_setting)


def best_share(n: int) -> float:
    r"""Return the largest :math:`n^{1-q}(1-2^{-q})` over q > 0.

    It is :math:`\frac n{l+1}\big(\frac l{l+1}\big)^l` at :math:`l=\log_2n`.

    Examples
    --------
    >>> best_share(2), round(best_share(1_000_000))
    (0.5, 18007)
    """
    digits = math.log2(n)
    return n * math.pow(digits / (digits + 1), digits) / (digits + 1)


def _check_of_users(theorem: str, formula: str, logarithm: Callable[[UserLevel], float]) -> Check:
    """Return the check of a theorem that there are enough users n.

    It asks for n^(1-q) (1 - 2^-q) of at least 100 times the logarithm over epsilon, for some q > 0.
    `formula` names the least number in the sentence.
    """

    def check(case: UserLevel) -> str:
        """Return the reason why there are too few users; empty if there are enough."""
        required, largest = 100 * logarithm(case) / case.epsilon, best_share(case.n)
        if largest >= required:
            return ""
        return (
            f"Theorem {theorem} needs n^(1-q) (1 - 2^-q) >= {formula} = {required:.4g} for some "
            f"q > 0, and at n={case.n} it is at most {largest:.4g}."
        )

    return check


USERS_SGD = condition(
    "n^(1-q) (1 - 2^-q) >= 100 ln(n/delta)/epsilon for some q > 0",
    _check_of_users(
        "B.1", "100 ln(n/delta)/epsilon", lambda case: math.log(case.n) + case.log_delta
    ),
)
USERS_ERM = condition(
    "n^(1-q) (1 - 2^-q) > 100 ln(20nmd e^epsilon/delta)/epsilon for some q > 0",
    _check_of_users(
        "C.1",
        "100 ln(20nmd e^epsilon/delta)/epsilon",
        lambda case: math.log(20) + case.log_size + case.epsilon + case.log_delta,
    ),
)


SMALL_DELTA = condition(
    "delta < 1/(mn)",
    lambda case: (
        ""
        if case.delta * case.total < 1
        else f"The statement needs delta < 1/(mn) = {1 / case.total:.4g}, and delta={case.delta:g}."
    ),
)


def _check_step_size(case: UserLevel) -> str:
    """Return the reason why the loss is not smooth enough for the step size; empty if it is."""
    largest = case.lipschitz / case.diameter * math.sqrt(case.d * case.total * case.epsilon)
    if case.smoothness <= largest or not math.isfinite(case.smoothness):
        return ""
    return (
        "The statement needs a smoothness of at most (L/R) sqrt(dmn epsilon) = "
        f"{largest:.4g}, and beta={case.smoothness:.4g}."
    )


STEP_FITS = condition("beta <= (L/R) sqrt(dmn epsilon)", _check_step_size)
AS_QUOTED = condition(
    "n = d and epsilon = 1",
    lambda case: (
        ""
        if case.n == case.d and case.epsilon == 1
        else "The count is quoted for n = d and epsilon = 1 only, "
        f"and n={case.n}, d={case.d}, epsilon={case.epsilon:g}."
    ),
)


def _check_steps_covered(case: UserLevel) -> str:
    """Return why the printed count is too small to cover a term that it drops; empty if not."""
    largest = math.pow(case.n, 2.5) * case.epsilon**3
    if case.m <= largest:
        return ""
    return (
        "The printed count drops m T/epsilon, which it covers only for m <= n^(5/2) epsilon^3 = "
        f"{largest:.4g} up to a constant, and m={case.m}."
    )


STEPS_COVERED = condition("m <= n^(5/2) epsilon^3", _check_steps_covered)
