"""The window: how far the best proven upper bound is from the best proven lower one.

Both are about one class of laws and of algorithms. The class is that of the lower bounds, laws with
bounded moments of the coordinates: upper bounds are evaluated at what it certifies, and not at what
is known of the law at hand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from dpsco_core.base.cards import BoundCard, Privacy
from dpsco_core.base.errors import require
from dpsco_core.bounds import Bound
from dpsco_core.bounds.conditions import moment_scale
from dpsco_core.catalogue import bounds_for, problem_card
from dpsco_core.problems import Setting
from dpsco_core.scenario import Scenario

Notion = Literal["pure", "zcdp", "approx"]
# Whose upper bounds hold for a notion, and whose lower bounds bind it.
_ATTAINED: Mapping[Notion, tuple[Privacy, ...]] = {
    "pure": ("pure",),
    "zcdp": ("zcdp", "pure"),
    "approx": ("zcdp", "pure", "approx"),
}
_BINDING: Mapping[Notion, tuple[Privacy, ...]] = {
    "pure": ("none", "approx", "zcdp", "pure"),
    "zcdp": ("none", "zcdp"),
    "approx": ("none", "approx"),
}


@dataclass(frozen=True, kw_only=True)
class Window:
    """Between which two proven values the least worst-case error is.

    Parameters
    ----------
    notion : {"pure", "zcdp", "approx"}
    upper, lower : Bound or None
        The best of either kind; None where none is proven.
    ratio : float
        Upper over lower; infinite where one of them is missing.
    uppers, lowers : mapping of str to float
        Every bound that holds, best first: its value over the best lower one, and over the best
        upper one.
    shares : mapping of str to float
        By what share the best upper bound would fall without each of its terms.
    widest : str
        The term with the largest share; empty without an upper bound.
    """

    notion: Notion
    upper: Bound | None
    lower: Bound | None
    ratio: float
    uppers: Mapping[str, float]
    lowers: Mapping[str, float]
    shares: Mapping[str, float]
    widest: str


def window(point: Scenario, notion: Notion = "approx") -> Window:
    """Return the window at a single point.

    Under an (epsilon, delta) budget the notion ``"zcdp"`` is that of the Gaussian releases which
    meet it.

    Raises
    ------
    InvalidInput
        If the budget says nothing of the notion: only a pure budget has the pure one, and a zCDP
        budget has zCDP alone.

    Examples
    --------
    >>> found = window(Scenario(p=2.0), "zcdp")
    >>> found.upper.card.slug, found.lower.card.slug, round(found.ratio, 2), found.widest
    ('upper.mean.cwme-cdp-expected', 'lower.mean.rate-distortion-cdp', 2.12, 'privacy noise')
    """
    own: Notion = "zcdp" if point.rho is not None else "approx" if point.delta else "pure"
    allowed = {"pure": ("pure",), "zcdp": ("zcdp",), "approx": ("approx", "zcdp")}[own]
    require(notion in allowed, "notion", " or ".join(allowed) + f" at {point.budget}", notion)
    if notion == "zcdp":
        point = replace(point, epsilon=None, delta=None, rho=point.setting.rho)
    where = of_class(point.setting)
    loss = problem_card(point.problem).loss_class
    fitting = [
        b
        for b in bounds_for(point.problem, point.level)
        if _comparable(b.card, point.problem) and b.card.applies_to(loss)
    ]
    wanted = {"upper": _ATTAINED[notion], "lower": _BINDING[notion]}
    values = {
        kind: {
            b: value
            for b in fitting
            if b.card.kind == kind and b.card.privacy in privacies and not b.failures(where)
            if 0 < (value := b.value(where)) < math.inf
        }
        for kind, privacies in wanted.items()
    }
    uppers = sorted(values["upper"].items(), key=lambda item: item[1])
    lowers = sorted(values["lower"].items(), key=lambda item: -item[1])
    least = uppers[0][1] if uppers else math.inf
    most = lowers[0][1] if lowers else 0.0
    shares = _shares(uppers[0][0], where) if uppers else {}
    return Window(
        notion=notion,
        upper=uppers[0][0] if uppers else None,
        lower=lowers[0][0] if lowers else None,
        ratio=least / most if most > 0 else math.inf,
        uppers={b.card.slug: v / most if most > 0 else math.inf for b, v in uppers},
        lowers={b.card.slug: v / least for b, v in lowers},
        shares=shares,
        widest=max(shares, key=lambda name: shares[name], default=""),
    )


def of_class(setting: Setting) -> Setting:
    """Return the setting at which no more is certified than moments of coordinates and R."""
    known = setting.constants
    spread = math.sqrt(setting.d) * moment_scale(setting)
    widest = replace(
        known,
        variance_trace=spread**2,
        directional_moment=max(known.directional_moment, spread + known.mean_gradient_bound),
        lipschitz=math.inf,
    )
    return replace(setting, constants=widest, spike_probability=None)


def _comparable(card: BoundCard, problem: str) -> bool:
    quantity = "l2 error" if problem == "mean" else "excess risk"
    known = card.constant == "explicit" and card.guarantee == "expectation"
    return known and card.quantity == quantity


def _shares(which: Bound, where: Setting) -> dict[str, float]:
    terms = which.terms(where)
    value = which.combined(terms)
    return {name: 1 - which.combined(terms | {name: 0.0}) / value for name in terms}
