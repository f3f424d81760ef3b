"""The privacy level of a lower bound: rho for zCDP algorithms, else epsilon and delta."""

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
    """Return the privacy level, at a setting, of bounds on algorithms of one notion of privacy.

    None says that the budget of the setting has no such level.
    """
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
    """Return epsilon > 0 and delta in [0, 1) of a level, which must not be a rho.

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
