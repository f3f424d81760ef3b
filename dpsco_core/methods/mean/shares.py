"""The shares of the budget of adaptive clipping; they are fixed before a record is looked at."""

from typing import Literal

from dpsco_core.methods.base import Calibration
from dpsco_core.privacy.budget import ApproxDP, PureDP, zcdp_rho
from dpsco_core.privacy.selection import Shares, selection_rho
from dpsco_core.problems.base import Setting

Mode = Literal["single", "guarded", "blind"]

GUARDED_FROM = 16  # the number of dimensions from which the guarded mode is used
# the share of rho for each of the two choices, and the least share for the test
GUARDED_SHARE = 0.02
INNER_SHARE = 0.01  # the share of rho for the choice of a smaller radius
INNER_TEST_SHARE = 0.05  # the share of rho for the test of the smaller radius


def look_share(mode: Mode, d: int) -> float:
    """Return the share of rho of one choice of a radius."""
    return GUARDED_SHARE if mode == "guarded" else min(0.1, max(0.03, 0.6 / d))


def look_shares(mode: Mode, d: int, inner: bool) -> Shares:
    """Return a pair for each choice of a radius: its share of rho, and the number 1 of choices.

    `inner` says whether there is a choice of a smaller radius.
    """
    usual = ((look_share(mode, d), 1),) * {"guarded": 2, "single": 1, "blind": 0}[mode]
    return (*usual, (INNER_SHARE, 1)) if inner else usual


def usual_mode(setting: Setting) -> Mode:
    """Return the default mode of the method if there are enough records."""
    return "single" if setting.d < GUARDED_FROM else "guarded"


def total_rho(setting: Setting, shares: Shares, centred: bool, calibration: Calibration) -> float:
    """Return the rho that a run may spend in total, if its choices of a radius have these shares.

    `centred` says whether rounds for a centre come before the choices.
    """
    budget = setting.budget
    assert not isinstance(budget, PureDP)
    if calibration == "paper" and isinstance(budget, ApproxDP):
        return zcdp_rho(budget.epsilon, budget.delta, "paper")
    return selection_rho(budget, shares, choices_first=not centred)
