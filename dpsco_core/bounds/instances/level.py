"""How strict privacy is, as lower bounds count it: rho, or epsilon and delta.

Which of the two a bound takes follows from the algorithms that it binds.
"""

from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.instances.prior import approximate_level
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.problems.base import Setting

# A privacy level is (epsilon, delta), where delta = 0 means pure DP, or the rho of zCDP.
Level = tuple[float, float] | float


def binding_level(budget: Budget) -> Level:
    """Return the level at which a bound binds all algorithms that a budget allows."""
    match budget:
        case ZCDP(rho=rho):
            return rho
        case PureDP(epsilon=epsilon):
            return epsilon, 0.0
        case ApproxDP(epsilon=epsilon, delta=delta):
            return epsilon, delta


def level_at(setting: Setting, privacy: Privacy) -> Level | None:
    """Return the level of a bound on algorithms of a notion; None where the budget has none."""
    return setting.rho if privacy == "zcdp" else approximate_level(setting)


def rho_of(level: Level) -> float:
    """Return the rho of a level of zCDP, which must be positive.

    Examples
    --------
    >>> rho_of(0.5)
    0.5
    """
    if isinstance(level, tuple) or not level > 0:
        raise InvalidInput(f"level must be a positive rho, got level={level}.")
    return level


def epsilon_delta(level: Level) -> tuple[float, float]:
    """Return epsilon > 0 and delta in [0, 1) of a level that is no rho.

    Examples
    --------
    >>> epsilon_delta((1.0, 1e-6))
    (1.0, 1e-06)
    """
    if not isinstance(level, tuple) or not (level[0] > 0 and 0 <= level[1] < 1):
        raise InvalidInput(
            f"level must be a positive epsilon and a delta from 0 to below 1, got level={level}."
        )
    return level
