"""Means of coordinates with unequal scales: `mean.plan` against the best other private mean."""

from __future__ import annotations

from dpsco_core.base.cards import MethodCard
from dpsco_core.catalogue import method_card, methods_for
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

PLAN = "mean.plan"
TARGETS = {"n=10,000, d=500, a=1": 0.65, "n=10,000, d=500, a=0": 1.1}
CASES = ((10_000, 500, 1.0), (10_000, 500, 0.0), (3000, 100, 1.0), (3000, 100, 0.0))


def ratio_to_others() -> dict[str, float]:
    """Return the mean error of `mean.plan` over the least one of its rivals, for each case.

    Data are Student t with p = 2.5 and mean 0; epsilon is 1, and there are 20 trials.
    """
    return {f"n={n:,}, d={d}, a={a:g}": _ratio(n, d, a) for n, d, a in CASES}


def _ratio(n: int, d: int, decay: float) -> float:
    """Return the mean error of `mean.plan` over the least one of its rivals, in one case.

    `decay` says how fast the scales of the coordinates fall; 0 makes them equal.
    """
    methods = tuple(m for m in methods_for("mean", "item") if _is_rival(method_card(m)))
    scenario = Scenario(n=n, d=d, decay=decay, p=2.5, offset=0.0, methods=methods)
    table = summary(frame(study(scenario.validate())))
    errors = dict(zip(table["method"], table["mean_error"], strict=True))
    plan_errors = errors.pop(PLAN)
    return float(plan_errors / min(error for error in errors.values() if error == error))


def _is_rival(card: MethodCard) -> bool:
    """Return whether a method's error is compared: whether the method is private under zCDP."""
    return card.privacy == "zcdp"
