"""A bound on a run is at most the diameter of the ball that contains its answer and the mean."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from dpsco_core.bounds import Bound
from dpsco_core.bounds.base import TermsOfRun
from dpsco_core.catalogue import BOUNDS
from dpsco_core.methods.base import Plan
from dpsco_core.privacy.budget import ZCDP, PureDP
from dpsco_core.problems.base import Setting
from tests.bounds import test_mean_bounds
from tests.folded import one_in
from tests.trust.test_theory import RISES, larger

RUNS = [
    bound
    for bound in BOUNDS
    if isinstance(bound.evaluate, TermsOfRun)
    and "mean" in bound.card.problems
    and bound.card.privacy != "none"
]


def plan_of(bound: Bound, setting: Setting, **fields: str) -> Plan:
    """Return the plan of the method that a bound is evaluated at."""
    assert isinstance(bound.evaluate, TermsOfRun)
    return replace(bound.evaluate.method, **fields).plan(bound.setting_of_statement(setting))  # type: ignore[type-var]


def setting_dominated_by_noise(bound: Bound) -> Setting:
    """Return a setting in which the noise is far larger than the ball of means, which has radius
    0.25.
    """
    (setting,) = test_mean_bounds.random_settings(1, 5, ("zcdp",))
    constants = replace(
        setting.constants, mean_gradient_bound=0.25, directional_moment=1.25, coordinate_moment=1.0
    )
    order = 1.5 if bound.has_scope else 3.0
    setting = replace(setting, n=400, d=3, moment_order=order, constants=constants)
    if bound.card.level == "user":
        setting = replace(setting, m=3)
    if bound.card.privacy == "pure":
        return replace(setting, budget=PureDP(epsilon=0.01))
    smallest = replace(setting, budget=ZCDP(rho=1e-4))
    # A method that first looks at its records does so only where the budget suffices for such a
    # release.
    return replace(setting, budget=ZCDP(rho=0.05)) if bound.failures(smallest) else smallest


def is_proven(bound: Bound, setting: Setting) -> bool:
    """Return whether a bound holds at a setting and has a finite value."""
    return not bound.failures(setting) and math.isfinite(bound.value(setting))


@pytest.mark.parametrize("bound", RUNS, ids=lambda b: b.card.slug)
def test_where_noise_dominates_a_bound_is_the_diameter_of_the_ball(bound: Bound) -> None:
    setting = setting_dominated_by_noise(bound)
    assert not bound.failures(setting)
    assert bound.value(setting) == pytest.approx(0.5, rel=1e-12)
    assert bound.value(replace(setting, n=10**7)) < 0.3, "the smaller one of the two"


@pytest.mark.parametrize(
    "bound",
    [b for b in RUNS if hasattr(plan_of(b, setting_dominated_by_noise(b)), "answer_radius")],
    ids=lambda b: b.card.slug,
)
def test_the_diameter_bounds_only_answers_that_are_projected(bound: Bound) -> None:
    """Adaptive clipping projects in either tuning; the other methods project only if tuned."""
    setting = setting_dominated_by_noise(bound)
    printed = plan_of(bound, setting, tuning="theory")
    assert bound.value(setting, printed) > 0.5
    capped = plan_of(bound, setting)
    free = replace(capped, answer_radius=math.inf)  # type: ignore[call-arg]
    shares = [
        [term / bound.value(setting, plan) for term in bound.terms(setting, plan).values()]
        for plan in (capped, free)
    ]
    assert shares[0] == pytest.approx(shares[1], rel=1e-9)
    assert bound.value(setting, free) > 1.5 * bound.value(setting, capped)


def small_settings(count: int, seed: int) -> Iterator[Setting]:
    """Yield settings with few records and small balls, where a plan changes its radius."""
    source = random.Random(seed)
    for setting in test_mean_bounds.random_settings(count, seed, ("zcdp", "approx")):
        constants, radius = setting.constants, 10 ** source.uniform(-2, 0)
        scale = constants.coordinate_moment ** (1 / setting.moment_order)
        central = scale * 10 ** source.uniform(-0.2, 0.5 * math.log10(setting.d) + 0.2)
        constants = replace(
            constants, mean_gradient_bound=radius, directional_moment=central + radius
        )
        yield replace(setting, n=int(10 ** source.uniform(0.3, 4)), constants=constants)


# Where the radius changes, the predicted errors are equal, but the proven errors also depend on the
# directional moment. The largest rise measured is 1.155, and 1.30 where the ball is 100 records
# wide.
AT_A_CHANGE = {"upper.mean.clipped-run": 1.2}


@pytest.mark.parametrize("part", one_in(4, range(4)))
def test_bounds_on_runs_fall_at_small_sizes_and_budgets_too(part: int) -> None:
    """Without the ball a bound rises 3.5 times where a plan changes its radius."""
    checked = 0
    for setting in list(small_settings(600, 21))[part::4]:
        for bound in RUNS:
            if bound.card.level == "user" or not is_proven(bound, setting):
                continue
            largest = max(
                RISES.get(bound.card.slug, 1 + 1e-9), AT_A_CHANGE.get(bound.card.slug, 0.0)
            )
            larger_settings = [
                replace(setting, n=math.ceil(1.4 * setting.n)),
                replace(setting, n=2 * setting.n),
            ]
            for changed in (*larger_settings, replace(setting, budget=larger(setting.budget))):
                if is_proven(bound, changed):
                    assert bound.value(changed) <= largest * bound.value(setting), (
                        bound.card.slug,
                        setting,
                    )
                    checked += 1
    assert checked > 500
