"""What the rates in l_q share: their units, their cards, and the exponents that they are for."""

import math
from collections.abc import Callable

from dpsco_core.base.cards import SCO_PROBLEMS, SU_2023, BoundCard, Paper
from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import LossClass
from dpsco_core.bounds.base import Bound, Hypothesis
from dpsco_core.bounds.euclidean.conditions import approximate, named
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting

Rate = Callable[[Setting, ApproxDP], tuple[float, float]]
Unit = Callable[[Setting], float]
Pair = tuple[float, float]


def _terms(
    rate: Rate, unit: Unit, holds: Callable[[float], bool]
) -> Callable[[Setting], tuple[float, ...]]:
    """Return the terms of `rate` times a unit; infinite where the exponent has no such formula."""

    def terms(setting: Setting) -> tuple[float, ...]:
        budget = setting.budget
        if not isinstance(budget, ApproxDP) or not holds(setting.exponent):
            return math.inf, math.inf
        size = unit(setting)
        return tuple(size * term for term in rate(setting, budget))

    return terms


def printed_kappa(d: int, exponent: float) -> float:
    r"""Return :math:`\kappa=\min\{\frac1{q-1},2\ln d\}`, for 1 <= q <= 2."""
    return RegularSpace(d=d, exponent=exponent).printed_kappa


def size_of(d: int, budget: ApproxDP) -> float:
    r""":math:`\sqrt{d\ln(1/\delta)}`."""
    return math.sqrt(-d * math.log(budget.delta))


def share_of(exponent: float) -> float:
    """Return 1/q, for q of at least 2."""
    require(exponent >= 2, "exponent", "at least 2", exponent)
    return 1 / exponent


def any_exponent(exponent: float) -> bool:
    """Whether a rate for every exponent is for this one."""
    return True


def at_most_2(exponent: float) -> bool:
    """Whether q <= 2."""
    return exponent <= 2


def at_least_2(exponent: float) -> bool:
    """Whether q >= 2."""
    return exponent >= 2


def _dimension(setting: Setting) -> str:
    if setting.d >= 2 or setting.exponent >= 2:
        return ""
    return f"The logarithm of the dimension in kappa needs d >= 2, and d={setting.d}."


TWO_DIMENSIONS = Hypothesis(text="d >= 2, for q < 2", check=_dimension)
KAPPA = r"\kappa=\min\{\tfrac1{q-1},2\ln d\}"
_NAMES = ("sampling", "privacy")
ONE = "Constants and logarithms are set to 1."
BELOW_1 = approximate(below=True)


def rate_card(
    slug: str,
    name: str,
    statement: str,
    summary: str,
    latex: str,
    losses: LossClass,
    paper: Paper = SU_2023,
    method: str = "",
) -> BoundCard:
    """Return the card of a rate."""
    return BoundCard(
        slug=f"upper.lp.{slug}",
        name=name,
        paper=paper,
        statement=statement,
        summary=summary,
        kind="upper",
        quantity="excess risk",
        constant="rate",
        latex=latex,
        privacy="approx",
        method=method,
        loss_class=losses,
        problems=SCO_PROBLEMS,
        geometry="lq",
    )


def rate_row(
    card: BoundCard,
    rate: Rate,
    unit: Unit,
    holds: Callable[[float], bool],
    needs: tuple[str, ...],
    hypotheses: tuple[Hypothesis, ...],
) -> Bound:
    """Return a rate of two terms as a row."""
    return Bound(
        card=card, evaluate=named(_NAMES, needs, _terms(rate, unit, holds)), hypotheses=hypotheses
    )
