r"""Floors on the excess risk for one law of the records (theory/instance-floors.md, 8).

For the quadratic loss the floor is half of that on the squared error of the mean. For the linear
loss on a ball of diameter M the floor is

.. math:: \max_{r<\|\mu\|}\frac M4\,
    \frac{(\|\mu\|-r)(d-1)^2}{(\|\mu\|^2+r^2)(G+4j^2/r^2)},

It is a worst case over means within r of that of the data. No other loss has a floor here.
"""

import math
from functools import partial

import numpy as np

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.base.law_classes import SHIFTS
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms
from dpsco_core.bounds.conditions import certified
from dpsco_core.bounds.floors.terms import (
    BUDGETS,
    EQUAL_SCALES,
    KNOWN_SHAPE,
    NOTIONS,
    Notion,
    combine_squared_terms,
    costs_at,
    floor_letters,
    mean_norm,
    shape,
    squared_terms,
)
from dpsco_core.bounds.floors.van_trees import bessel_zero
from dpsco_core.bounds.lq.conditions import L2_BALL
from dpsco_core.bounds.mean.floors import BINDS, INFORMATION, NAMES, SCORED, WEIGHTED
from dpsco_core.problems.base import Setting

# These radii of the ball of means are tried, as shares of the mean's norm.
_SHARES = np.geomspace(1e-3, 0.999, 400)


def _linear_terms(setting: Setting, notion: Notion) -> Terms:
    """Return the terms of the floor on the linear loss's risk, for algorithms of a notion.

    They are 0 for a mean of 0, in one dimension, and without known shifts or a fitting budget.
    """
    void_terms = {"sampling": 0.0, "privacy": 0.0, "prior": 0.0}
    d, norm, diameter = setting.d, mean_norm(setting), setting.constants.diameter
    if norm == 0 or d < 2 or math.isinf(diameter):
        return void_terms
    costs = costs_at(setting, notion, norm)
    if costs is None:
        return void_terms
    r = _SHARES * norm
    unit = diameter / 4 * (norm - r) * (d - 1) ** 2 / (norm**2 + r**2)
    prior = (r / (2 * bessel_zero(d / 2 - 1))) ** 2
    learnt = costs.sampling + costs.privacy
    best = int(np.argmax(unit * prior * learnt / (prior + learnt))) if learnt < math.inf else 0
    size = float(unit[best])
    return {
        "sampling": size * costs.sampling,
        "privacy": size * costs.privacy,
        "prior": size * float(prior[best]),
    }


MEAN_NOT_ZERO = Hypothesis(
    text="a mean that is not 0, in two dimensions or more",
    check=lambda s: (
        ""
        if shape(s) is None or (mean_norm(s) > 0 and s.d > 1)
        else "The floor of the linear loss is over means near that of the data, which must not be "
        "0, and over directions, of which d=1 has none."
    ),
)
DIAMETER = certified(
    "finite diameter of the constraint set",
    "diameter",
    lambda setting: setting.constants.diameter,
)
_QUADRATIC = (
    "No private algorithm, even one that is told the exact shape of these data, has a smaller mean "
    "excess risk of the squared distance over all positions of the mean."
)
_LINEAR = (
    "No private algorithm, even one that is told the exact shape of these data, has a smaller mean "
    "excess risk of the linear loss over all positions of the mean near this one."
)


def _risk_floor_card(notion: Notion, *, linear: bool) -> BoundCard:
    """Return the card of the floor on the linear or quadratic loss's risk for a privacy notion."""
    short, algorithms = NAMES[notion]
    kind = "linear" if linear else "quadratic"
    latex = (
        r"\max_r\frac M4\frac{(R-r)(d-1)^2}{(R^2+r^2)(G+J)},\ " + INFORMATION.replace("R^2", "r^2")
        if linear
        else r"\max\Big(\frac{d^2}{2(G+J)},\ \frac{\theta^2d}2\big(E\,a(B)\big)^2\Big),\ "
        + INFORMATION
    )
    return BoundCard(
        slug=f"lower.{'sco' if linear else 'sco-strong'}.floor-{short}",
        name=f"Floor on these data, {algorithms}, {kind} loss",
        paper=OWN,
        statement=f"instance-floors, section 8, {kind} loss",
        summary=f"{_LINEAR if linear else _QUADRATIC} {BINDS[notion]}"
        + ("" if linear else f" {WEIGHTED}"),
        kind="lower",
        quantity="excess risk",
        constant="explicit",
        latex=latex,
        privacy=notion,
        law_class=SHIFTS,
        proof="shifts",
        infinite_variance=SCORED,
        loss_class=classes.SMOOTH if linear else classes.SMOOTH_STRONG,
        instance_class=classes.LINEAR if linear else classes.SQUARED_DISTANCE,
        instance_problem=kind,
        problems=(kind,),
    )


def _risk_floors(notion: Notion) -> tuple[Bound, ...]:
    """Return the floors on the risks of the quadratic and of the linear loss under a notion."""
    conditions = (KNOWN_SHAPE, L2_BALL, DIAMETER, *BUDGETS[notion])
    letters = floor_letters(notion)
    return (
        Bound(
            card=_risk_floor_card(notion, linear=False),
            evaluate=partial(squared_terms, notion=notion, unit=0.5),
            combine=combine_squared_terms,
            hypotheses=conditions,
            letters=letters,
        ),
        Bound(
            card=_risk_floor_card(notion, linear=True),
            evaluate=partial(_linear_terms, notion=notion),
            combine=combine_squared_terms,
            hypotheses=(*conditions, EQUAL_SCALES, MEAN_NOT_ZERO),
            letters=(
                *letters,
                Letter("r", "distance to which means are searched, the best one"),
                Letter("M", "diameter of the ball", lambda s: s.constants.diameter),
            ),
        ),
    )


FLOOR_RISKS: tuple[Bound, ...] = tuple(
    bound for notion in NOTIONS for bound in _risk_floors(notion)
)
